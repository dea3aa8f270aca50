//! Strata with some pairs of neighbours described by the squares of their distances: the
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
    /// `pairs` are gaps with clusters of the same mass on both sides; no two share a cluster, and
    /// there are fewer than `k / 2` of them, or another cluster. `None` if all clusters are in one
    /// pair.
    pub(super) fn new(masses: &[f64], pairs: &[usize]) -> Option<Self> {
        let k = masses.len();
        // Begin after a gap that is not inside a pair.
        let begin = (0..k).map(|x| (x + 1) % k).find(|x| !pairs.contains(&((x + k - 1) % k)))?;
        let (mut units, mut firsts, mut x) = (Vec::new(), Vec::new(), 0);
        while x < k {
            let first = (begin + x) % k;
            let pair = pairs.contains(&first);
            units.push(Unit {
                mass: masses[first],
                kind: if pair { Kind::Pair } else { Kind::Single },
            });
            firsts.push(first);
            x += if pair { 2 } else { 1 };
        }
        (units.len() >= 2).then_some(Self { system: System { units }, firsts, k })
    }

    /// The unknowns for gaps in turns: distances between middles, then squares in radians.
    pub(super) fn unknowns(&self, gaps: &[Interval]) -> Vec<Interval> {
        let (units, half) = (&self.system.units, Interval::exact(0.5));
        let own = |u: usize| {
            if units[u].kind == Kind::Pair { gaps[self.firsts[u]] } else { Interval::ZERO }
        };
        let between = |u: usize| {
            let last = self.firsts[u] + usize::from(units[u].kind == Kind::Pair);
            gaps[last % self.k] + half * (own(u) + own(u + 1))
        };
        let mut found: Vec<Interval> = (0..self.system.distances()).map(between).collect();
        let pairs = (0..units.len()).filter(|u| units[*u].kind == Kind::Pair);
        found.extend(pairs.map(|u| (own(u) * turn()).sqr()));
        found
    }

    /// The gaps for values of the unknowns, without error bounds.
    pub(super) fn gaps(&self, unknowns: &[f64]) -> Vec<f64> {
        let units = &self.system.units;
        let (n, distances) = (units.len(), self.system.distances());
        let mut apart = vec![0.0; n];
        let pairs = (0..n).filter(|u| units[*u].kind == Kind::Pair);
        for (u, t) in pairs.zip(&unknowns[distances..]) {
            apart[u] = t.max(0.0).sqrt() / std::f64::consts::TAU;
        }
        let mut between = unknowns[..distances].to_vec();
        between.push(1.0 - between.iter().sum::<f64>());
        let mut gaps = vec![0.0; self.k];
        for u in 0..n {
            let pair = units[u].kind == Kind::Pair;
            if pair {
                gaps[self.firsts[u]] = apart[u];
            }
            gaps[(self.firsts[u] + usize::from(pair)) % self.k] =
                between[u] - 0.5 * (apart[u] + apart[(u + 1) % n]);
        }
        gaps
    }
}

/// Whether the equations are regular on a box in the coordinates in which small gaps between equal
/// clusters are replaced by their squares; then the zeros with positive gaps are regular.
pub(super) fn is_regular_in_squares(arrangement: &Arrangement, cell: &Cell) -> bool {
    let k = arrangement.k;
    let masses = &arrangement.mass[..k];
    let equal = |p: &usize| masses[*p].to_bits() == masses[(*p + 1) % k].to_bits();
    let small: Vec<usize> = (0..k).filter(|p| cell.gaps[*p].1 <= SMALL).filter(equal).collect();
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
