//! Strata with some pairs of neighbours described by their centre and distance: the
//! coordinates, and the test of regularity of a box.

use super::super::cell::{Arrangement, Cell, Mass};
use super::super::kernel::Law;
use super::solve;
use super::system::{Kind, Over, System, Unit};
use super::triple;
use crate::dense_intervals::is_regular;
use crate::num::interval::Interval;

/// Largest offset, in turns, of two clusters opposite to a third that have their own coordinates.
const NEAR: f64 = 0.05;

/// Largest gap, in turns, between three clusters of equal mass that have one unknown.
const THREE: f64 = 0.15;

/// Largest gap, in turns, that is described by its square.
const SMALL: f64 = 0.12;

/// The units of a stratum in which the clusters of some gaps form pairs.
#[derive(Clone, Debug)]
pub(super) struct Units {
    pub(super) system: System,
    /// The first cluster of every unit, in cyclic order.
    firsts: Vec<usize>,
    k: usize,
}

impl Units {
    /// `pairs` are gaps whose clusters form a unit; no two share a cluster. `None` if all clusters
    /// are in one pair.
    pub(super) fn new(masses: &[Mass], pairs: &[usize], law: &Law) -> Option<Self> {
        let k = masses.len();
        // Begin after a gap that is not inside a pair.
        let begin = (0..k).map(|x| (x + 1) % k).find(|x| !pairs.contains(&((x + k - 1) % k)))?;
        let (mut units, mut firsts, mut x) = (Vec::new(), Vec::new(), 0);
        while x < k {
            let first = (begin + x) % k;
            let pair = pairs.contains(&first);
            let second = masses[(first + 1) % k];
            let kind = match () {
                () if !pair => Kind::Single,
                () if second == masses[first] && !second.varies() => Kind::Pair,
                () => Kind::Uneven(second),
            };
            units.push(Unit { mass: masses[first], kind });
            firsts.push(first);
            x += if pair { 2 } else { 1 };
        }
        let system = System { units, opposite: false, law: law.clone() };
        (system.units.len() >= 2).then_some(Self { system, firsts, k })
    }

    /// The same units, if they are two different clusters opposite to a third one.
    pub(super) fn opposite(&self) -> Option<Self> {
        let kinds = [self.system.units.first()?.kind, self.system.units.get(1)?.kind];
        let opposite = self.k == 3
            && kinds.contains(&Kind::Single)
            && kinds.iter().any(|kind| matches!(kind, Kind::Uneven(_)));
        opposite.then(|| Self {
            system: System { opposite: true, ..self.system.clone() },
            ..self.clone()
        })
    }

    /// The same units, with the distance itself as the unknown of every pair.
    pub(super) fn linear(mut self) -> Self {
        for unit in &mut self.system.units {
            if unit.kind == Kind::Pair {
                unit.kind = Kind::Uneven(unit.mass);
            }
        }
        self
    }

    /// Three clusters of equal mass at equal distances, opposite to a fourth.
    pub(super) fn triple(masses: &[Mass], law: &Law) -> Option<Self> {
        let first = triple::first_of_three(masses)?;
        let unit = |mass, kind| Unit { mass, kind };
        let fourth = (first + 3) % 4;
        let units = vec![unit(masses[fourth], Kind::Single), unit(masses[first], Kind::Triple)];
        let system = System { units, opposite: true, law: law.clone() };
        Some(Self { system, firsts: vec![fourth, first], k: 4 })
    }

    /// The number of clusters.
    pub(super) fn count(&self) -> usize {
        self.k
    }

    /// The first cluster of a unit.
    pub(super) fn first(&self, unit: usize) -> usize {
        self.firsts[unit]
    }

    /// Whether there are three clusters opposite to a fourth.
    pub(super) fn is_triple(&self) -> bool {
        self.system.opposite && self.k == 4
    }

    /// Masses of the clusters of three opposite to a fourth, in the order of the gaps.
    fn masses_of_triple(&self) -> Vec<Mass> {
        let mut masses = vec![self.system.units[1].mass; 4];
        masses[self.firsts[0]] = self.system.units[0].mass;
        masses
    }

    /// Whether all critical points in a box of gaps have the symmetry that the unknowns assume.
    pub(super) fn are_all(&self, gaps: &[Interval], parameter: Interval) -> bool {
        let (masses, law) = (|| self.masses_of_triple(), &self.system.law);
        !self.is_triple() || triple::are_symmetric(&masses(), law, gaps, parameter)
    }

    /// The unknowns for gaps in turns.
    pub(super) fn unknowns(&self, gaps: &[Interval]) -> Vec<Interval> {
        let units = &self.system.units;
        if self.is_triple() {
            let both = gaps[self.firsts[1]] + gaps[(self.firsts[1] + 1) % 4];
            return vec![(both * Interval::TURN * Interval::exact(0.5)).sqr()];
        }
        let own = |u: usize| {
            if units[u].is_double() { gaps[self.firsts[u]] } else { Interval::ZERO }
        };
        let between = |u: usize| {
            let last = self.firsts[u] + usize::from(units[u].is_double());
            gaps[last % self.k] + units[u].ends().1 * own(u) - units[u + 1].ends().0 * own(u + 1)
        };
        let mut found: Vec<Interval> = (0..self.system.distances()).map(between).collect();
        if self.system.opposite {
            let g = own(0) + own(1);
            let offset = (found[0] - Interval::exact(0.5)) / g;
            return vec![offset, (g * Interval::TURN).sqr()];
        }
        found.extend(self.system.doubles().into_iter().map(|u| {
            let g = own(u) * Interval::TURN;
            if units[u].kind == Kind::Pair { g.sqr() } else { g }
        }));
        found
    }

    /// The gaps for values of the unknowns.
    pub(super) fn gaps(&self, unknowns: &[Interval]) -> Vec<Interval> {
        if self.is_triple() {
            let t = Interval::new(unknowns[0].lo().max(0.0), unknowns[0].hi().max(0.0));
            let g = t.sqrt() / Interval::TURN;
            let mut gaps = vec![g; 4];
            for far in [self.firsts[0], (self.firsts[0] + 3) % 4] {
                gaps[far] = Interval::exact(0.5) - g;
            }
            return gaps;
        }
        let units = &self.system.units;
        let (n, distances) = (units.len(), self.system.distances());
        let mut apart = vec![Interval::ZERO; n];
        for (u, t) in self.system.doubles().into_iter().zip(&unknowns[distances..]) {
            let t = Interval::new(t.lo().max(0.0), t.hi().max(0.0));
            let square = units[u].kind == Kind::Pair || self.system.opposite;
            apart[u] = if square { t.sqrt() } else { t } / Interval::TURN;
        }
        let mut between = unknowns[..distances].to_vec();
        if self.system.opposite {
            between[0] = Interval::exact(0.5) + unknowns[0] * (apart[0] + apart[1]);
        }
        between.push(between.iter().fold(Interval::exact(1.0), |s, d| s - *d));
        let mut gaps = vec![Interval::ZERO; self.k];
        for u in 0..n {
            if units[u].is_double() {
                gaps[self.firsts[u]] = apart[u];
            }
            let next = (u + 1) % n;
            gaps[(self.firsts[u] + usize::from(units[u].is_double())) % self.k] =
                between[u] - units[u].ends().1 * apart[u] + units[next].ends().0 * apart[next];
        }
        gaps
    }

    /// Three clusters at equal small distances opposite to a fourth, if the gaps are like this.
    pub(super) fn near_triple(masses: &[Mass], gaps: &[f64], law: &Law) -> Option<Self> {
        let triple = Self::triple(masses, law)?;
        let [one, two, far, near] = [0, 1, 2, 3].map(|x| gaps[(triple.firsts[1] + x) % 4]);
        let alike = (one - two).abs() < 1e-8 && (far - near).abs() < 1e-8;
        (one < THREE && alike).then_some(triple)
    }

    /// The units in which neighbours with small gaps form pairs, the smallest gaps first.
    pub(super) fn near(masses: &[Mass], gaps: &[f64], law: &Law) -> Option<Self> {
        let k = masses.len();
        let mut small: Vec<usize> = (0..k).filter(|x| gaps[*x] < SMALL).collect();
        small.sort_by(|a, b| gaps[*a].total_cmp(&gaps[*b]));
        let mut pairs: Vec<usize> = Vec::new();
        for p in small {
            if pairs.iter().all(|q| *q != (p + 1) % k && p != (*q + 1) % k) {
                pairs.push(p);
            }
        }
        Self::new(masses, &pairs, law).or_else(|| Self::new(masses, &[], law))
    }
}

/// What the coordinates of pairs with small gaps tell about a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Squares {
    /// The equations are regular, so the zeros with positive gaps are regular.
    Regular,
    /// A combination of the equations is not 0.
    Empty,
    Unknown,
}

/// Decides a box in the coordinates of pairs with small gaps, or also in those of the gaps.
pub(super) fn in_squares(arrangement: &Arrangement, cell: &Cell, also_gaps: bool) -> Squares {
    let k = arrangement.k;
    let (masses, law) = (&arrangement.masses()[..], &arrangement.law);
    let gaps: Vec<Interval> = cell.gaps[..k].iter().map(|g| Interval::new(g.0, g.1)).collect();
    let over = Over::new(law, Interval::new(cell.beta.0, cell.beta.1));
    let small: Vec<usize> = (0..k).filter(|p| cell.gaps[*p].1 <= SMALL).collect();
    let mut trials: Vec<Vec<usize>> = small.iter().map(|p| vec![*p]).collect();
    for (x, p) in small.iter().enumerate() {
        for q in &small[x + 1..] {
            if (p + 1) % k != *q && (q + 1) % k != *p {
                trials.push(vec![*p, *q]);
            }
        }
    }
    if triple::are_symmetric(masses, law, &gaps, over.parameter()) {
        let units = Units::triple(masses, law).map(|u| (u.unknowns(&gaps), u));
        let regular = units.is_some_and(|(boxed, u)| {
            let value = u.system.evaluate(&boxed, &over.all);
            !value.by[0][0].contains(0.0) || !value.f[0].contains(0.0)
        });
        if regular {
            return Squares::Regular;
        }
    }
    if also_gaps {
        trials.push(Vec::new());
    }
    let decide = |pairs: &Vec<usize>| {
        let mut units = Units::new(masses, pairs, law)?;
        let mut boxed = units.unknowns(&gaps);
        // Both distances to the cluster opposite are near 1/2.
        if let Some(opposite) = units.opposite().filter(|_| (boxed[0].mid() - 0.5).abs() < NEAR) {
            let g = gaps[*pairs.first()?];
            boxed = opposite.system.opposite_bounds(boxed[0], g, &over.all)?;
            units = opposite;
        }
        let weights: Vec<f64> = boxed.iter().map(|v| v.radius().max(1e-9)).collect();
        let value = units.system.evaluate(&boxed, &over.all);
        match () {
            () if is_regular(&value.by, &weights) => Some(Squares::Regular),
            () if solve::is_empty(&value, &boxed, |z| units.system.evaluate_over(z, &over)) => {
                Some(Squares::Empty)
            }
            () => None,
        }
    };
    trials.iter().find_map(decide).unwrap_or(Squares::Unknown)
}
