//! Branches that begin where clusters split.

use super::super::strata::Members;
use super::super::tokens::Tokens;
use super::blow_up::Units;
use super::point::{Event, Point, point_of};
use super::shape::Shapes;
use super::solve;
use super::system::Over;
use super::triple;
use crate::dense_intervals::linear;
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
    /// How far the box reaches beyond the enclosure of the bifurcation on the other side.
    margin: f64,
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
const LENGTHS: [f64; 11] = [0.1, 0.04, 0.015, 5e-3, 1.5e-3, 4e-4, 1e-4, 2e-5, 4e-6, 8e-7, 1e-7];

/// A way in which a cluster of an event splits: its number, and the new clusters in their order.
pub(super) type Split = (usize, Vec<Members>);

/// The ways in which one cluster can split, and whether these are all.
///
/// Two tokens split in two orders; equal ones, or two clusters opposite to each other, in one up
/// to symmetry. Three equal tokens split into one and two, and if they are opposite to all others,
/// where the terms of third order vanish, also into three at equal distances.
fn ways(clusters: &[Members], cluster: usize) -> (Vec<Split>, bool) {
    let (members, opposite) = (&clusters[cluster], clusters.len() == 2);
    let equal = members.windows(2).all(|m| m[0] == m[1]);
    let (all, known) = match members[..] {
        [a, b] if equal || opposite => (vec![vec![vec![a], vec![b]]], true),
        [a, b] => (vec![vec![vec![a], vec![b]], vec![vec![b], vec![a]]], true),
        [a, b, c] if equal && opposite => {
            (vec![vec![vec![a, b], vec![c]], vec![vec![a], vec![b], vec![c]]], true)
        }
        [a, b, c] if equal => (vec![vec![vec![a, b], vec![c]], vec![vec![a], vec![b, c]]], false),
        _ => (Vec::new(), false),
    };
    (all.into_iter().map(|groups| (cluster, groups)).collect(), known)
}

/// All choices of clusters of an event that split, and whether no other ways are possible.
pub(super) fn choices(clusters: &[Members], event: &Event) -> (Vec<Vec<Split>>, bool) {
    let (mut all, mut known): (Vec<Vec<Split>>, bool) = (vec![Vec::new()], true);
    for cluster in event.clusters.iter().take(MOST) {
        let (own, complete) = ways(clusters, *cluster);
        known &= complete;
        let longer: Vec<Vec<Split>> = all
            .iter()
            .flat_map(|c| own.iter().map(move |w| [&c[..], std::slice::from_ref(w)].concat()))
            .collect();
        all.extend(longer);
    }
    all.retain(|c| !c.is_empty());
    (all, known && event.clusters.len() <= MOST)
}

/// Number of clusters that may split at once.
const MOST: usize = 6;

/// What is known of a branch on which given clusters are split.
pub(super) enum Outcome {
    /// It begins at the bifurcation.
    Begins(Box<Birth>),
    /// There is no such branch: its distances would have different signs.
    Absent,
    Unknown,
}

impl Outcome {
    /// The branch on which given clusters of an event are split, and its proof.
    pub(super) fn of(
        clusters: &[Members],
        event: &Event,
        split: &[Split],
        bifurcation: usize,
        (strata, tokens): (&[Vec<Members>], &Tokens),
    ) -> Self {
        let (mut upper, mut gaps, mut pairs): (Vec<Members>, Vec<Interval>, Vec<usize>) =
            Default::default();
        // Whether the second derivative for splitting a cluster is 0 at the bifurcation.
        let mut begins: Vec<bool> = Vec::new();
        for (x, members) in clusters.iter().enumerate() {
            if let Some((_, groups)) = split.iter().find(|s| s.0 == x) {
                pairs.extend(upper.len()..upper.len() + groups.len() - 1);
                gaps.extend(vec![Interval::ZERO; groups.len() - 1]);
                upper.extend(groups.iter().cloned());
            } else {
                upper.push(members.clone());
            }
            gaps.push(event.gaps[x]);
            begins.resize(upper.len(), event.clusters.contains(&x));
        }
        let (masses, law) = (tokens.arrange(&upper).masses(), &tokens.law);
        let place =
            strata.iter().enumerate().map(|(s, c)| (s, maps(&upper, c))).find(|m| !m.1.is_empty());
        let three = split.iter().any(|s| s.1.len() == 3);
        let units = if three {
            Units::opposite_triple(&masses, law)
        } else {
            Units::new(&masses, &pairs, law)
        };
        let (Some((stratum, maps)), Some(mut units)) = (place, units) else {
            return Self::Unknown;
        };
        let mut origin = units.unknowns(&gaps);
        if let Some(opposite) = units.opposite_pair() {
            origin = opposite.system.opposite_origin(event.beta);
            units = opposite;
        }
        if three && !triple::are_symmetric_near(&masses, law, event.beta) {
            return Self::Unknown;
        }
        // The slopes at the bifurcation tell on which side the branch is.
        let value = units.system.evaluate(&origin, &units.system.shapes(event.beta));
        let right: Vec<Interval> = value.by_parameter.iter().map(|b| -*b).collect();
        let Some(slopes) = linear(&value.by, &right) else { return Self::Unknown };
        let squares = &slopes[units.system.first_inside()..];
        let side = match () {
            () if squares.iter().all(|s| s.is_positive()) => 1.0,
            () if squares.iter().all(|s| s.is_negative()) => -1.0,
            () if squares.iter().any(|s| s.is_positive())
                && squares.iter().any(|s| s.is_negative()) =>
            {
                return Self::Absent;
            }
            () => return Self::Unknown,
        };
        let found = LENGTHS.iter().find_map(|length| {
            let reach = length * event.beta.mid().abs().max(0.1);
            let mut birth = Birth {
                bifurcation,
                stratum,
                at: event.beta,
                side,
                end: event.beta.mid() + side * reach,
                margin: 0.01 * reach,
                units: units.clone(),
                alone: Vec::new(),
                last: Vec::new(),
                maps: maps.clone(),
                slopes: Vec::new(),
            };
            (birth.prove(&origin, &slopes, reach)
                && birth.has_no_event(&upper, &begins)
                && (!three || birth.point().is_some()))
            .then_some(birth)
        });
        found.map_or(Self::Unknown, |birth| Self::Begins(Box::new(birth)))
    }
}

impl Birth {
    /// Krawczyk's test in a box around the segment that the slopes predict, and monotone squares.
    fn prove(&mut self, origin: &[Interval], slopes: &[Interval], reach: f64) -> bool {
        let over = |beta: Interval| {
            let over = Over::new(&self.units.system.law, beta);
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
        let squares = self.units.system.first_inside()..;
        if centre[squares.clone()].iter().chain(&last[squares.clone()]).any(|t| *t <= 0.0) {
            return false;
        }
        let beta = self.beta();
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
        let Some(alone) = solve::widened(&evaluate, alone, &centre) else { return false };
        if !origin.iter().zip(&alone).all(|(o, a)| o.inside(*a)) {
            return false;
        }
        let Some(value) = evaluate(&alone) else { return false };
        let right: Vec<Interval> = value.by_parameter.iter().map(|b| -*b).collect();
        let Some(slopes) = linear(&value.by, &right) else { return false };
        let monotone = |s: &Interval| {
            if self.side > 0.0 { s.is_positive() } else { s.is_negative() }
        };
        let proved = slopes[squares].iter().all(monotone);
        (self.alone, self.last, self.slopes) = (alone, last, slopes);
        proved
    }

    /// Whether no cluster of the branch begins to split on it between the bifurcation and the end
    /// of the box. The second derivative for splitting a cluster has a sign on the box; or it is 0
    /// at the bifurcation, and its derivative along the branch has a sign on the box; or it is 0
    /// to second order there, and [`Units::pair_stays`] says that it is not 0 elsewhere.
    fn has_no_event(&self, clusters: &[Members], begins: &[bool]) -> bool {
        let shapes = Shapes::new(&self.units.system.law, self.beta());
        let found = self.units.splits(&self.alone, &self.slopes, &shapes);
        let mut several = found.into_iter().filter(|(cluster, _)| clusters[*cluster].len() > 1);
        self.units.pair_stays(clusters, &self.alone, self.beta())
            && several.all(|(cluster, sum)| {
                sum.is_some_and(|(value, slope)| {
                    !value.contains(0.0) || begins[cluster] && !slope.contains(0.0)
                })
            })
    }

    /// The parameter over which the box has one zero for each value.
    fn beta(&self) -> Interval {
        if self.side > 0.0 {
            Interval::new(self.at.lo() - self.margin, self.end)
        } else {
            Interval::new(self.end, self.at.hi() + self.margin)
        }
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
                // Other unknowns than one of three clusters are 0 only by symmetry.
                let known = self.units.are_all(&gaps, Interval::exact(point.beta));
                let unknowns = self.units.unknowns(&gaps);
                known && unknowns.iter().zip(&self.alone).all(|(u, a)| u.inside(*a))
            })
    }

    /// Whether two births are images of each other: the end of one lies on the other.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let ends_on = |a: &Self, b: &Self| a.point().is_some_and(|p| b.is_on(&p));
        let alike = self.stratum == other.stratum && self.bifurcation == other.bifurcation;
        alike && self.side * other.side > 0.0 && (ends_on(self, other) || ends_on(other, self))
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
