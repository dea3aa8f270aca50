//! Branches that begin where clusters of two equal tokens split.

use super::super::strata::Members;
use super::blow_up::Units;
use super::point::{Event, Point, point_of};
use super::solve;
use super::system::Over;
use crate::num::interval::Interval;

/// A branch that begins at a bifurcation, in the coordinates of the blow-up: for every beta of an
/// interval around the bifurcation the box has exactly one zero, and the squares of the distances
/// grow monotonically away from it.
#[derive(Clone, Debug)]
pub(super) struct Birth {
    /// Number of the bifurcation.
    pub(super) bifurcation: usize,
    /// Number of the stratum of the branch.
    pub(super) stratum: usize,
    /// Enclosure of beta at the bifurcation.
    at: Interval,
    /// The branch exists above (1) or below (-1) the bifurcation.
    pub(super) side: f64,
    /// The last beta of the box.
    pub(super) end: f64,
    units: Units,
    alone: Vec<Interval>,
    /// Approximate unknowns at the last beta.
    last: Vec<f64>,
    /// The gaps of the stratum in the order of the units' clusters, for every symmetry.
    maps: Vec<Vec<usize>>,
    /// Enclosure of the slopes of the unknowns by beta.
    pub(super) slopes: Vec<Interval>,
}

/// All ways to read clusters in the order of others: gap x of the first is gap `map[x]` of the
/// second.
fn maps(own: &[Members], other: &[Members]) -> Vec<Vec<usize>> {
    let k = own.len();
    if other.len() != k {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (back, r) in [false, true].into_iter().flat_map(|b| (0..k).map(move |r| (b, r))) {
        let cluster = |x: usize| if back { (r + k - x) % k } else { (x + r) % k };
        if (0..k).all(|x| other[cluster(x)] == own[x]) {
            let gap = |x: usize| if back { (r + 2 * k - x - 1) % k } else { (x + r) % k };
            found.push((0..k).map(gap).collect());
        }
    }
    found
}

/// Relative lengths of the interval of beta, the longest first.
const LENGTHS: [f64; 8] = [0.1, 0.04, 0.015, 5e-3, 1.5e-3, 4e-4, 1e-4, 2e-5];

impl Birth {
    /// The branch on which given clusters of an event are split in two, perhaps with the second
    /// token first, and its proof; `None` if there is no such branch, or no proof.
    pub(super) fn new(
        clusters: &[Members],
        event: &Event,
        split: &[(usize, bool)],
        bifurcation: usize,
        strata: &[Vec<Members>],
    ) -> Option<Self> {
        let (mut upper, mut gaps, mut pairs): (Vec<Members>, Vec<Interval>, Vec<usize>) =
            Default::default();
        for (x, members) in clusters.iter().enumerate() {
            if let Some((_, backwards)) = split.iter().find(|s| s.0 == x) {
                let [a, b] = members[..] else { return None };
                let (a, b) = if *backwards { (b, a) } else { (a, b) };
                pairs.push(upper.len());
                upper.extend([vec![a], vec![b]]);
                gaps.push(Interval::ZERO);
            } else {
                upper.push(members.clone());
            }
            gaps.push(event.gaps[x]);
        }
        let (stratum, maps) = strata
            .iter()
            .enumerate()
            .map(|(s, c)| (s, maps(&upper, c)))
            .find(|m| !m.1.is_empty())?;
        let masses: Vec<f64> =
            upper.iter().map(|c| c.iter().map(|m| f64::from(*m)).sum()).collect();
        let mut units = Units::new(&masses, &pairs)?;
        let mut origin = units.unknowns(&gaps);
        if let Some(opposite) = units.opposite() {
            (units, origin) = (opposite, vec![Interval::ZERO; 2]);
        }
        // The slopes at the bifurcation tell on which side the branch is.
        let value = units.system.evaluate(&origin, &Over::new(event.beta).all);
        let right: Vec<Interval> = value.by_beta.iter().map(|b| -*b).collect();
        let slopes = solve::linear(&value.by, &right)?;
        let squares = &slopes[units.system.distances()..];
        let side = match () {
            () if squares.iter().all(|s| s.is_positive()) => 1.0,
            () if squares.iter().all(|s| s.is_negative()) => -1.0,
            () => return None,
        };
        LENGTHS.iter().find_map(|length| {
            let reach = length * event.beta.mid().abs().max(0.1);
            let mut birth = Self {
                bifurcation,
                stratum,
                at: event.beta,
                side,
                end: event.beta.mid() + side * reach,
                units: units.clone(),
                alone: Vec::new(),
                last: Vec::new(),
                maps: maps.clone(),
                slopes: Vec::new(),
            };
            birth.prove(&origin, &slopes, reach).then_some(birth)
        })
    }

    /// Krawczyk's test in a box around the segment that the slopes predict, and monotone squares.
    fn prove(&mut self, origin: &[Interval], slopes: &[Interval], reach: f64) -> bool {
        let over = |beta: Interval| {
            let over = Over::new(beta);
            let units = self.units.clone();
            move |z: &[Interval]| Some(units.system.evaluate_over(z, &over))
        };
        let predicted = |s: f64| -> Vec<f64> {
            origin.iter().zip(slopes).map(|(o, v)| o.mid() + s * self.side * v.mid()).collect()
        };
        let middle = Interval::exact(self.at.mid() + 0.5 * self.side * reach);
        let Some(centre) = solve::approximate(&over(middle), &predicted(0.5 * reach)) else {
            return false;
        };
        let Some(last) = solve::approximate(&over(Interval::exact(self.end)), &predicted(reach))
        else {
            return false;
        };
        let squares = self.units.system.distances()..;
        if centre[squares.clone()].iter().chain(&last[squares.clone()]).any(|t| *t <= 0.0) {
            return false;
        }
        let margin = 0.01 * reach;
        let beta = if self.side > 0.0 {
            Interval::new(self.at.lo() - margin, self.end)
        } else {
            Interval::new(self.end, self.at.hi() + margin)
        };
        let alone: Vec<Interval> = centre
            .iter()
            .zip(origin)
            .zip(&last)
            .map(|((c, o), l)| {
                let radius = 1.5 * (c - o.mid()).abs().max((l - c).abs()) + 0.02 * reach;
                Interval::new(c - radius, c + radius)
            })
            .collect();
        let evaluate = over(beta);
        if solve::krawczyk(&evaluate, &alone, &centre).is_none()
            || !origin.iter().zip(&alone).all(|(o, a)| o.inside(*a))
        {
            return false;
        }
        let Some(value) = evaluate(&alone) else { return false };
        let right: Vec<Interval> = value.by_beta.iter().map(|b| -*b).collect();
        let Some(slopes) = solve::linear(&value.by, &right) else { return false };
        let monotone = |s: &Interval| {
            if self.side > 0.0 { s.is_positive() } else { s.is_negative() }
        };
        let proved = slopes[squares].iter().all(monotone);
        (self.alone, self.last, self.slopes) = (alone, last, slopes);
        proved
    }

    /// Whether a point, met in the given direction of beta, lies on the branch between its ends.
    pub(super) fn contains(&self, point: &Point, direction: f64) -> bool {
        direction * self.side < 0.0 && self.is_on(point)
    }

    /// Whether a point lies on the branch between its ends.
    pub(super) fn is_on(&self, point: &Point) -> bool {
        let inside = if self.side > 0.0 {
            self.at.hi() < point.beta && point.beta <= self.end
        } else {
            self.end <= point.beta && point.beta < self.at.lo()
        };
        inside
            && self.maps.iter().any(|map| {
                let gaps: Vec<Interval> = map
                    .iter()
                    .map(|x| Interval::new(point.place[*x].0, point.place[*x].1))
                    .collect();
                let unknowns = self.units.unknowns(&gaps);
                unknowns.iter().zip(&self.alone).all(|(u, a)| u.inside(*a))
            })
    }

    /// The point of the branch at the end of the box.
    pub(super) fn point(&self) -> Option<Point> {
        let own = point_of(&self.units, &self.last, self.end)?;
        let mut found = own;
        for (x, own) in self.maps.first()?.iter().zip(&own.place) {
            found.place[*x] = *own;
        }
        self.is_on(&found).then_some(found)
    }
}
