//! Strata with some pairs of neighbours described by their centre of mass and distance: the
//! coordinates, and the test of regularity of a box.

use super::super::cell::{Arrangement, Cell};
use super::shape::Shapes;
use super::solve;
use super::system::{Kind, System, Unit, turn};
use crate::num::interval::Interval;

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
    pub(super) fn new(masses: &[f64], pairs: &[usize]) -> Option<Self> {
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
                () if second.to_bits() == masses[first].to_bits() => Kind::Pair,
                () => Kind::Uneven(second),
            };
            units.push(Unit { mass: masses[first], kind });
            firsts.push(first);
            x += if pair { 2 } else { 1 };
        }
        (units.len() >= 2).then_some(Self { system: System { units }, firsts, k })
    }

    /// The unknowns for gaps in turns.
    pub(super) fn unknowns(&self, gaps: &[Interval]) -> Vec<Interval> {
        let units = &self.system.units;
        let own = |u: usize| {
            if units[u].is_double() { gaps[self.firsts[u]] } else { Interval::ZERO }
        };
        let between = |u: usize| {
            let last = self.firsts[u] + usize::from(units[u].is_double());
            gaps[last % self.k] + units[u].ends().1 * own(u) - units[u + 1].ends().0 * own(u + 1)
        };
        let mut found: Vec<Interval> = (0..self.system.distances()).map(between).collect();
        found.extend(self.system.doubles().into_iter().map(|u| {
            let g = own(u) * turn();
            if units[u].kind == Kind::Pair { g.sqr() } else { g }
        }));
        found
    }

    /// The gaps for values of the unknowns.
    pub(super) fn gaps(&self, unknowns: &[Interval]) -> Vec<Interval> {
        let units = &self.system.units;
        let (n, distances) = (units.len(), self.system.distances());
        let mut apart = vec![Interval::ZERO; n];
        for (u, t) in self.system.doubles().into_iter().zip(&unknowns[distances..]) {
            let t = Interval::new(t.lo().max(0.0), t.hi().max(0.0));
            let g = if units[u].kind == Kind::Pair { t.sqrt() } else { t };
            apart[u] = g / turn();
        }
        let mut between = unknowns[..distances].to_vec();
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

    /// The units in which neighbours with small gaps form pairs, the smallest gaps first.
    pub(super) fn near(masses: &[f64], gaps: &[f64]) -> Option<Self> {
        let k = masses.len();
        let mut small: Vec<usize> = (0..k).filter(|x| gaps[*x] < SMALL).collect();
        small.sort_by(|a, b| gaps[*a].total_cmp(&gaps[*b]));
        let mut pairs: Vec<usize> = Vec::new();
        for p in small {
            if pairs.iter().all(|q| *q != (p + 1) % k && p != (*q + 1) % k) {
                pairs.push(p);
            }
        }
        Self::new(masses, &pairs).or_else(|| Self::new(masses, &[]))
    }
}

/// Whether the equations are regular on a box in the coordinates of pairs with small gaps; then the
/// zeros with positive gaps are regular.
pub(super) fn is_regular_in_squares(arrangement: &Arrangement, cell: &Cell) -> bool {
    let k = arrangement.k;
    let masses = &arrangement.mass[..k];
    let small: Vec<usize> = (0..k).filter(|p| cell.gaps[*p].1 <= SMALL).collect();
    if small.is_empty() {
        return false;
    }
    let mut trials: Vec<Vec<usize>> = small.iter().map(|p| vec![*p]).collect();
    for (x, p) in small.iter().enumerate() {
        for q in &small[x + 1..] {
            if (p + 1) % k != *q && (q + 1) % k != *p {
                trials.push(vec![*p, *q]);
            }
        }
    }
    let gaps: Vec<Interval> = cell.gaps[..k].iter().map(|g| Interval::new(g.0, g.1)).collect();
    let shapes = Shapes::new(Interval::new(cell.beta.0, cell.beta.1));
    trials.iter().any(|pairs| {
        Units::new(masses, pairs).is_some_and(|units| {
            let boxed = units.unknowns(&gaps);
            let weights: Vec<f64> = boxed.iter().map(|v| v.radius().max(1e-9)).collect();
            let value = units.system.evaluate(&boxed, &shapes);
            solve::is_regular(&value.by, &weights)
        })
    })
}
