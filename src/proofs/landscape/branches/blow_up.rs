//! Charts of a stratum, in which some neighbours are described by their centre and their distance,
//! and the test of a box of gaps in these charts.
//!
//! The unknowns of [`Chart::Distances`] and of [`Chart::OppositePair`] are smooth functions of the
//! gaps, and the equations are the forces times a matrix; both are regular where all gaps are
//! positive. At a gap of 0 the equations of the chart stay regular, those of the gaps do not.
//! [`Chart::OppositeTriple`] has one unknown for configurations that are their own mirror images.
//!
//! **Lemma 1 (regular in one of the first two charts)** Let the derivative of the equations of the
//! chart be regular on the unknowns of a box of gaps. Then every critical point with positive gaps
//! in the box is regular. *Proof* The chain rule. QED
//!
//! **Lemma 2 (empty in one of them)** If a combination of the equations of the chart is not 0 on
//! the unknowns of a box of gaps, the box has no critical point with positive gaps.
//!
//! **Lemma 3 (three at equal distances)** Let the lemma of `triple.rs` hold on a box. Then its
//! critical points are mirror images of themselves, with a regular derivative across. They are
//! regular if the only equation of [`Chart::OppositeTriple`] has a derivative that is not 0, and
//! there are none if the equation is not 0.

use super::super::cell::{Arrangement, Cell, Mass};
use super::super::kernel::Law;
use super::super::strata::Members;
use super::solve;
use super::system::{Chart, Kind, Over, System, Unit};
use super::triple;
use crate::dense_intervals::is_regular;
use crate::num::interval::Interval;

/// Largest offset, in turns, from the opposite point at which [`Chart::OppositePair`] is taken.
const LARGEST_OFFSET: f64 = 0.05;

/// Largest gap, in turns, at which [`Chart::OppositeTriple`] is taken.
const LARGEST_GAP_OF_THREE: f64 = 0.15;

/// Largest gap, in turns, whose clusters form a pair.
const LARGEST_GAP_OF_PAIR: f64 = 0.12;

/// The units of a stratum in a chart.
#[derive(Clone, Debug)]
pub(super) struct Units {
    pub(super) system: System,
    /// The first cluster of every unit, in cyclic order.
    firsts: Vec<usize>,
    /// The number of clusters.
    k: usize,
}

/// The numbers of an interval that are not negative, or 0 if there are none.
fn not_negative(t: Interval) -> Interval {
    Interval::new(t.lo().max(0.0), t.hi().max(0.0))
}

impl Units {
    /// The units in [`Chart::Distances`]. `pairs` are gaps whose clusters form a unit; no two share
    /// a cluster. `None` if all clusters are in one pair.
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
        let system = System { units, chart: Chart::Distances, law: law.clone() };
        (system.units.len() >= 2).then_some(Self { system, firsts, k })
    }

    /// The same units in [`Chart::OppositePair`], if they are two different clusters opposite to a
    /// third one.
    pub(super) fn opposite_pair(&self) -> Option<Self> {
        let kinds = [self.system.units.first()?.kind, self.system.units.get(1)?.kind];
        let opposite = self.k == 3
            && kinds.contains(&Kind::Single)
            && kinds.iter().any(|kind| matches!(kind, Kind::Uneven(_)));
        opposite.then(|| Self {
            system: System { chart: Chart::OppositePair, ..self.system.clone() },
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

    /// The units in [`Chart::OppositeTriple`], if there are four clusters and three neighbours have
    /// one mass.
    pub(super) fn opposite_triple(masses: &[Mass], law: &Law) -> Option<Self> {
        let first = triple::first_of_three(masses)?;
        let unit = |mass, kind| Unit { mass, kind };
        let fourth = (first + 3) % 4;
        let units = vec![unit(masses[fourth], Kind::Single), unit(masses[first], Kind::Triple)];
        let system = System { units, chart: Chart::OppositeTriple, law: law.clone() };
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

    /// Whether all critical points in a box of gaps have unknowns in the chart: those of
    /// [`Chart::OppositeTriple`] are mirror images of themselves.
    pub(super) fn are_all(&self, gaps: &[Interval], parameter: Interval) -> bool {
        if self.system.chart != Chart::OppositeTriple {
            return true;
        }
        // In the order of the gaps.
        let mut masses = vec![self.system.units[1].mass; 4];
        masses[self.firsts[0]] = self.system.units[0].mass;
        triple::are_symmetric(&masses, &self.system.law, gaps, parameter)
    }

    /// Whether no cluster of the pair in [`Chart::OppositePair`] begins to split in a box of
    /// unknowns with a positive distance, for all values of the parameter.
    ///
    /// **Lemma 4** Let a cluster of two tokens and a single one be three equal tokens opposite to
    /// all others, and let R of `triple.rs` be not 0. Then the second derivative S for splitting
    /// the two is not 0. *Proof* With `x_1 = x_2`, the forces `F(x_1) = F(x_3) = 0` and the divided
    /// difference `e R = F[x_1, x_1, x_3] = -F'(x_1) / (x_3 - x_1)`, S is a multiple of `F'(x_1)`,
    /// and `e = x_1^2 x_3` is not 0. QED
    pub(super) fn pair_stays(
        &self,
        clusters: &[Members],
        unknowns: &[Interval],
        parameter: Interval,
    ) -> bool {
        if self.system.chart != Chart::OppositePair {
            return true;
        }
        let pair = usize::from(self.system.units[0].kind == Kind::Single);
        let (a, b) = (self.firsts[pair], (self.firsts[pair] + 1) % self.k);
        let other = (b + 1) % self.k;
        let own = self.system.units[pair].mass;
        let Kind::Uneven(next) = self.system.units[pair].kind else { return false };
        let gaps = self.gaps(unknowns);
        // The two tokens come first, the fourth cluster last.
        let (single, far, near) = match (&clusters[a][..], &clusters[b][..]) {
            ([_], [_]) => return true,
            ([x, y], [z]) if x == y && y == z => (next, gaps[b], gaps[other]),
            ([z], [x, y]) if x == y && y == z => (own, gaps[other], gaps[b]),
            _ => return false,
        };
        let masses = [single, single, single, self.system.units[1 - pair].mass];
        let gaps = [Interval::ZERO, not_negative(gaps[a]), far, near];
        triple::are_symmetric(&masses, &self.system.law, &gaps, parameter)
    }

    /// The distance of the clusters in a unit, in turns.
    fn inside(&self, unit: usize, gaps: &[Interval]) -> Interval {
        let double = self.system.units[unit].is_double();
        if double { gaps[self.firsts[unit]] } else { Interval::ZERO }
    }

    /// The gap after the last cluster of a unit.
    fn gap_after(&self, unit: usize) -> usize {
        (self.firsts[unit] + usize::from(self.system.units[unit].is_double())) % self.k
    }

    /// The distance between the centres of a unit and of the next one, in turns.
    fn between(&self, unit: usize, gaps: &[Interval]) -> Interval {
        let units = &self.system.units;
        gaps[self.gap_after(unit)] + units[unit].ends().1 * self.inside(unit, gaps)
            - units[unit + 1].ends().0 * self.inside(unit + 1, gaps)
    }

    /// The unknowns of the chart for gaps in turns.
    pub(super) fn unknowns(&self, gaps: &[Interval]) -> Vec<Interval> {
        match self.system.chart {
            Chart::Distances => {
                let between = (0..self.system.distances()).map(|u| self.between(u, gaps));
                let inside = self.system.doubles().into_iter().map(|u| {
                    let g = self.inside(u, gaps) * Interval::TURN;
                    if self.system.units[u].kind == Kind::Pair { g.sqr() } else { g }
                });
                between.chain(inside).collect()
            }
            Chart::OppositePair => {
                let g = self.inside(0, gaps) + self.inside(1, gaps);
                let offset = (self.between(0, gaps) - Interval::exact(0.5)) / g;
                vec![offset, (g * Interval::TURN).sqr()]
            }
            Chart::OppositeTriple => {
                let both = gaps[self.firsts[1]] + gaps[(self.firsts[1] + 1) % 4];
                vec![(both * Interval::TURN * Interval::exact(0.5)).sqr()]
            }
        }
    }

    /// The gaps for values of the unknowns.
    pub(super) fn gaps(&self, unknowns: &[Interval]) -> Vec<Interval> {
        let distances = self.system.distances();
        match self.system.chart {
            Chart::Distances => {
                let inside = self.insides(&unknowns[distances..]);
                self.gaps_of(unknowns[..distances].to_vec(), &inside)
            }
            Chart::OppositePair => {
                let inside = self.insides(&unknowns[distances..]);
                let offset = unknowns[0] * (inside[0] + inside[1]);
                self.gaps_of(vec![Interval::exact(0.5) + offset], &inside)
            }
            Chart::OppositeTriple => {
                let g = not_negative(unknowns[0]).sqrt() / Interval::TURN;
                let mut gaps = vec![g; 4];
                for far in [self.firsts[0], (self.firsts[0] + 3) % 4] {
                    gaps[far] = Interval::exact(0.5) - g;
                }
                gaps
            }
        }
    }

    /// The distances of the clusters in all units, in turns, from the unknowns of pairs.
    fn insides(&self, unknowns: &[Interval]) -> Vec<Interval> {
        let mut inside = vec![Interval::ZERO; self.system.units.len()];
        for (u, t) in self.system.doubles().into_iter().zip(unknowns) {
            let is_square =
                self.system.units[u].kind == Kind::Pair || self.system.chart == Chart::OppositePair;
            let t = not_negative(*t);
            let radians = if is_square { t.sqrt() } else { t };
            inside[u] = radians / Interval::TURN;
        }
        inside
    }

    /// The gaps for the distances between the centres of units, without the last one, and inside
    /// them.
    fn gaps_of(&self, mut between: Vec<Interval>, inside: &[Interval]) -> Vec<Interval> {
        let (units, n) = (&self.system.units, inside.len());
        between.push(between.iter().fold(Interval::exact(1.0), |s, d| s - *d));
        let mut gaps = vec![Interval::ZERO; self.k];
        for u in 0..n {
            if units[u].is_double() {
                gaps[self.firsts[u]] = inside[u];
            }
            let next = (u + 1) % n;
            gaps[self.gap_after(u)] =
                between[u] - units[u].ends().1 * inside[u] + units[next].ends().0 * inside[next];
        }
        gaps
    }

    /// The units in [`Chart::OppositeTriple`], if the gaps are those of three clusters at equal
    /// small distances.
    pub(super) fn near_opposite_triple(masses: &[Mass], gaps: &[f64], law: &Law) -> Option<Self> {
        let triple = Self::opposite_triple(masses, law)?;
        let [one, two, far, near] = [0, 1, 2, 3].map(|x| gaps[(triple.firsts[1] + x) % 4]);
        let alike = (one - two).abs() < 1e-8 && (far - near).abs() < 1e-8;
        (one < LARGEST_GAP_OF_THREE && alike).then_some(triple)
    }

    /// The units in which neighbours with small gaps form pairs, the smallest gaps first.
    pub(super) fn near(masses: &[Mass], gaps: &[f64], law: &Law) -> Option<Self> {
        let k = masses.len();
        let mut small: Vec<usize> = (0..k).filter(|x| gaps[*x] < LARGEST_GAP_OF_PAIR).collect();
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

/// The choices of one or two small gaps of a box whose clusters form pairs.
fn choices_of_pairs(cell: &Cell, k: usize) -> Vec<Vec<usize>> {
    let small: Vec<usize> = (0..k).filter(|p| cell.gaps[*p].1 <= LARGEST_GAP_OF_PAIR).collect();
    let mut choices: Vec<Vec<usize>> = small.iter().map(|p| vec![*p]).collect();
    for (x, p) in small.iter().enumerate() {
        for q in &small[x + 1..] {
            if (p + 1) % k != *q && (q + 1) % k != *p {
                choices.push(vec![*p, *q]);
            }
        }
    }
    choices
}

/// Whether all critical points with positive gaps in a box are regular, because of some chart in
/// which small gaps form pairs, or also because of the chart of the gaps themselves.
pub(super) fn is_regular_in_charts(
    arrangement: &Arrangement,
    cell: &Cell,
    also_gaps: bool,
) -> bool {
    let k = arrangement.k;
    let (masses, law) = (&arrangement.masses()[..], &arrangement.law);
    let gaps: Vec<Interval> = cell.gaps[..k].iter().map(|g| Interval::new(g.0, g.1)).collect();
    let over = Over::new(law, Interval::new(cell.beta.0, cell.beta.1));
    // Lemma 3.
    if triple::are_symmetric(masses, law, &gaps, over.parameter())
        && Units::opposite_triple(masses, law).is_some_and(|units| {
            let value = units.system.evaluate(&units.unknowns(&gaps), &over.all);
            !value.by[0][0].contains(0.0) || !value.f[0].contains(0.0)
        })
    {
        return true;
    }
    // Lemmas 1 and 2.
    let is_regular_with = |pairs: &Vec<usize>| -> Option<bool> {
        let mut units = Units::new(masses, pairs, law)?;
        let mut boxed = units.unknowns(&gaps);
        let is_opposite = (boxed[0].mid() - 0.5).abs() < LARGEST_OFFSET;
        if let Some(opposite) = units.opposite_pair().filter(|_| is_opposite) {
            let g = gaps[*pairs.first()?];
            boxed = opposite.system.opposite_bounds(boxed[0], g, &over.all)?;
            units = opposite;
        }
        let weights: Vec<f64> = boxed.iter().map(|v| v.radius().max(1e-9)).collect();
        let value = units.system.evaluate(&boxed, &over.all);
        let evaluate = |z: &[Interval]| units.system.evaluate_over(z, &over);
        Some(is_regular(&value.by, &weights) || solve::is_empty(&value, &boxed, evaluate))
    };
    let mut choices = choices_of_pairs(cell, k);
    if also_gaps {
        choices.push(Vec::new());
    }
    choices.iter().any(|pairs| is_regular_with(pairs) == Some(true))
}

#[cfg(test)]
mod tests {
    use super::super::super::cell::Mass;
    use super::super::super::kernel::Law;
    use super::Units;
    use crate::num::interval::Interval;

    #[test]
    fn only_two_different_clusters_are_opposite_to_a_single_one() {
        let opposite = |masses: &[f64], pairs: &[usize]| {
            let masses: Vec<Mass> = masses.iter().copied().map(Mass::fixed).collect();
            let units = Units::new(&masses, pairs, &Law::Exponential).expect("units");
            units.opposite_pair().is_some()
        };
        assert!(opposite(&[2.0, 3.0, 1.0], &[0]));
        assert!(!opposite(&[2.0, 2.0, 1.0], &[0]));
        // The other unit is a pair itself.
        assert!(!opposite(&[1.0, 1.0, 2.0, 3.0], &[0, 2]));
        assert!(!opposite(&[2.0, 3.0, 1.0, 4.0], &[0, 2]));
    }

    #[test]
    fn two_of_three_equal_tokens_stay_together_beside_the_third() {
        let law = Law::Exponential;
        let stays = |sizes: [&[u32]; 3], square: (f64, f64), beta: (f64, f64)| {
            let mass = |m: &&[u32]| Mass::fixed(m.iter().map(|m| f64::from(*m)).sum());
            let masses: Vec<Mass> = sizes.iter().map(mass).collect();
            let clusters: Vec<Vec<u32>> = sizes.iter().map(|m| m.to_vec()).collect();
            let units = Units::new(&masses, &[0], &law).expect("units");
            let units = units.opposite_pair().expect("two clusters opposite to a third");
            let unknowns = [Interval::new(-0.01, 0.01), Interval::new(square.0, square.1)];
            units.pair_stays(&clusters, &unknowns, Interval::new(beta.0, beta.1))
        };
        // The bifurcation of masses 4, 1, 1, 1, and a box around it.
        for order in [[&[1, 1][..], &[1], &[4]], [&[1], &[1, 1], &[4]]] {
            assert!(stays(order, (-1e-4, 1e-2), (0.14, 0.15)));
            // The lemma has no bounds for wide gaps.
            assert!(!stays(order, (-1e-4, 9.0), (0.14, 0.15)));
        }
        // At beta = 0 all configurations with mean 0 are critical, so R is 0.
        assert!(!stays([&[1, 1], &[1], &[3]], (-1e-4, 1e-2), (1e-9, 0.01)));
        assert!(stays([&[1], &[2], &[4]], (-1e-4, 9.0), (0.14, 0.15)));
        // Other tokens have no lemma.
        assert!(!stays([&[1, 2], &[1], &[4]], (-1e-4, 1e-2), (0.14, 0.15)));
        assert!(!stays([&[1, 1, 1], &[1], &[4]], (-1e-4, 1e-2), (0.14, 0.15)));
    }
}
