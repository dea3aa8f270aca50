//! One branch of critical points over beta, as a chain of boxes: in each there is exactly one
//! critical point for every beta of an interval, and neighbouring boxes share one.

use super::super::cell::{Arrangement, MAX_TOKENS, Row};
use super::birth::Birth;
use super::blow_up::Units;
use super::fold::Fold;
use super::point::{Event, Piece, Point, ascents, clusters_of, intervals, point_of, signs};
use super::solve::{self, Root};
use super::system::Over;
use crate::num::interval::Interval;

/// Why a chain ends.
#[derive(Clone, Debug)]
pub(super) enum Stop {
    /// At the wanted beta.
    Target,
    /// At the births with these numbers.
    Births(Vec<usize>),
    /// At a fold.
    Fold(Box<Fold>),
    /// No box was found beyond this beta.
    Lost(f64),
}

/// A chain of boxes in the direction in which it was followed.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    pub(super) points: Vec<Point>,
    pub(super) pieces: Vec<Piece>,
    pub(super) events: Vec<Event>,
    pub(super) stop: Stop,
}

/// The largest step of beta, relative, and the smallest.
const STEPS: (f64, f64) = (0.08, 1e-8);

/// A box over the interval between two beta, and the point at the second.
struct Link {
    next: Point,
    place: Row<(f64, f64)>,
    /// Number of narrower radii that were not tried.
    narrower: usize,
}

/// The link with one of the given radii.
fn link(arrangement: &Arrangement, from: &Point, beta: f64, pads: &[f64]) -> Option<Link> {
    let (k, masses, law) = (arrangement.k, arrangement.masses(), &arrangement.law);
    let middle: Vec<f64> = from.place[..k].iter().map(|g| 0.5 * (g.0 + g.1)).collect();
    let triple = Units::near_opposite_triple(&masses, &middle, law);
    let mut all = triple.into_iter().chain(Units::near(&masses, &middle, law));
    all.find_map(|units| link_in(&units, from, beta, pads, k))
}

/// The link in given coordinates.
fn link_in(units: &Units, from: &Point, beta: f64, pads: &[f64], k: usize) -> Option<Link> {
    let first = units.unknowns(&intervals(&from.place[..k]));
    let start: Vec<f64> = first.iter().map(|v| v.mid()).collect();
    let next = point_of(units, &start, beta)?;
    let last = units.unknowns(&intervals(&next.place[..k]));
    let span = Interval::new(from.beta.min(beta), from.beta.max(beta));
    let over = Over::new(&units.system.law, span);
    let evaluate = |z: &[Interval]| Some(units.system.evaluate_over(z, &over));
    let centre: Vec<f64> =
        first.iter().zip(&last).map(|(a, b)| 0.5 * (a.mid() + b.mid())).collect();
    pads.iter().enumerate().find_map(|(x, pad)| {
        let alone: Vec<Interval> = first
            .iter()
            .zip(&last)
            .zip(&centre)
            .map(|((a, b), c)| {
                let radius = 0.8 * (a.mid() - b.mid()).abs() + pad;
                Interval::new(c - radius, c + radius)
            })
            .collect();
        let found = solve::krawczyk(&evaluate, &alone, &centre)?;
        let both = first.iter().chain(&last).zip(alone.iter().chain(&alone));
        if !both.clone().all(|(end, all)| end.inside(*all)) {
            return None;
        }
        let found = solve::contract(&evaluate, found);
        // A zero of the continuation to negative distances is none of the forces.
        let gaps = units.gaps(&found);
        if !found[units.system.first_inside()..].iter().chain(&gaps).all(|v| v.is_positive()) {
            return None;
        }
        let mut place = from.place;
        for (p, f) in place.iter_mut().zip(gaps) {
            *p = (f.lo(), f.hi());
        }
        let whole: Vec<Interval> = (0..k)
            .map(|x| {
                let ends = [from.place[x], next.place[x], place[x]];
                let low = ends.iter().fold(1.0, |low, g| g.0.min(low));
                Interval::new(low, ends.iter().fold(0.0, |high, g| g.1.max(high)))
            })
            .collect();
        if !units.are_all(&whole, over.parameter()) {
            return None;
        }
        Some(Link { next, place, narrower: pads.len() - x - 1 })
    })
}

/// Radii, in turns, that are tried for the boxes of a piece.
const PADS: [f64; 8] = [0.03, 0.01, 3e-3, 1e-3, 2e-4, 3e-5, 3e-6, 3e-7];

/// What is known of the clusters whose second derivative for splitting may be 0 on a piece.
enum Splitting {
    /// All are split at one beta inside, or nothing happens.
    Known(Option<Event>),
    /// A shorter piece may tell.
    Unknown,
}

/// The zeros of the second derivatives on a piece.
fn splitting(arrangement: &Arrangement, place: &[(f64, f64)], beta: (f64, f64)) -> Splitting {
    let k = arrangement.k;
    let open: Vec<usize> = signs(arrangement, place, beta)
        .splits
        .into_iter()
        .filter(|(_, second)| second.contains(0.0))
        .map(|(cluster, _)| cluster)
        .collect();
    let mut event: Option<Event> = None;
    for cluster in open {
        let system = clusters_of(arrangement, &[cluster]);
        let evaluate = |z: &[Interval]| system.evaluate_with_parameter(z);
        let mut start: Vec<f64> = place[..k - 1].iter().map(|g| 0.5 * (g.0 + g.1)).collect();
        start.push(0.5 * (beta.0 + beta.1));
        let Some(Root { alone, place: root }) =
            solve::isolate(&evaluate, &start, &[0.03, 0.01, 3e-3, 1e-3, 2e-4, 2e-5, 1e-6])
        else {
            return Splitting::Unknown;
        };
        let bounds = place[..k - 1].iter().chain([&beta]);
        if !bounds.zip(&alone).all(|(p, a)| a.lo() <= p.0 && p.1 <= a.hi()) {
            return Splitting::Unknown;
        }
        let at = root[k - 1];
        if at.hi() < beta.0 || beta.1 < at.lo() {
            continue;
        }
        // A zero at an end of the piece belongs to both pieces: other pieces are tried.
        if at.lo() <= beta.0 || at.hi() >= beta.1 {
            return Splitting::Unknown;
        }
        match &mut event {
            None => {
                let mut gaps = root[..k - 1].to_vec();
                let last = gaps.iter().fold(Interval::exact(1.0), |s, g| s - *g);
                gaps.push(last);
                event = Some(Event { beta: at, gaps, clusters: vec![cluster] });
            }
            Some(known) if is_image(arrangement, known, cluster, &alone) => {
                known.clusters.push(cluster);
            }
            // Two events on one piece, or two whose order the enclosures of beta do not tell.
            Some(_) => return Splitting::Unknown,
        }
    }
    Splitting::Known(event)
}

/// Whether a rotation or reflection that keeps the masses of clusters maps the event of a cluster
/// to that of another one, which is the only one in a box of gaps and beta: then both happen at
/// the same point of the branch. That enclosures of beta overlap is not enough: the masses of the
/// clusters may differ by a little.
fn is_image(arrangement: &Arrangement, event: &Event, other: usize, alone: &[Interval]) -> bool {
    let (k, masses) = (arrangement.k, arrangement.masses());
    [false, true].into_iter().flat_map(|back| (0..k).map(move |r| (back, r))).any(|(back, r)| {
        // Cluster x of the image is cluster r + x or r - x, and gap x lies between x and x + 1.
        let cluster = |x: usize| if back { (r + k - x) % k } else { (r + x) % k };
        let gap = |x: usize| if back { (r + 2 * k - x - 1) % k } else { (r + x) % k };
        let moved = (0..k - 1).map(|x| event.gaps[gap(x)]).chain([event.beta]);
        event.clusters[0] == cluster(other)
            && (0..k).all(|x| masses[cluster(x)] == masses[x])
            && moved.zip(alone).all(|(m, a)| m.inside(*a))
    })
}

/// A link with what happens on it; narrower boxes are tried if that is not decided.
fn piece(arrangement: &Arrangement, from: &Point, beta: f64) -> Option<(Link, Option<Event>)> {
    let interval = (from.beta.min(beta), from.beta.max(beta));
    let mut pads = &PADS[..];
    while !pads.is_empty() {
        let link = link(arrangement, from, beta, pads)?;
        match splitting(arrangement, &link.place[..arrangement.k], interval) {
            Splitting::Known(event) => return Some((link, event)),
            Splitting::Unknown => pads = &pads[pads.len() - link.narrower..],
        }
    }
    None
}

/// Follows a branch from a point to a beta, or until it ends at a birth.
///
/// **Cost** some 0.1 ms a piece for n = 5.
pub(super) fn follow(
    arrangement: &Arrangement,
    start: Point,
    target: f64,
    births: &[Birth],
    stops: &dyn Fn() -> bool,
) -> Chain {
    let k = arrangement.k;
    let mut chain =
        Chain { points: vec![start], pieces: Vec::new(), events: Vec::new(), stop: Stop::Target };
    let direction = if target > start.beta { 1.0 } else { -1.0 };
    let (mut now, mut step) = (start, 0.25 * STEPS.0);
    // A step that is no simple fraction: a bifurcation at the end of a piece is met otherwise.
    let shrink = 0.437;
    let mut tried = 1e-3;
    while (target - now.beta) * direction > 0.0 {
        let scale = now.beta.abs().max(0.1);
        if step < STEPS.1 || stops() {
            chain.stop = Stop::Lost(now.beta);
            return chain;
        }
        let mut beta = now.beta + direction * step * scale;
        if (beta - target) * direction > -1e-9 * scale {
            beta = target;
        }
        let interval = (now.beta.min(beta), now.beta.max(beta));
        let Some((link, event)) = piece(arrangement, &now, beta) else {
            step *= shrink;
            if step < tried {
                tried = 0.2 * step;
                if let Some(fold) = Fold::beyond(arrangement, &now, direction) {
                    let (a, b) = (fold.beta.mid(), now.beta);
                    let gaps = fold
                        .gaps
                        .iter()
                        .zip(&now.place)
                        .map(|(f, n)| (f.lo().min(n.0), f.hi().max(n.1)));
                    chain.pieces.push(Piece {
                        beta: (a.min(b), a.max(b)),
                        gaps: gaps.collect(),
                        ascents: fold.ascents.0,
                    });
                    chain.stop = Stop::Fold(Box::new(fold));
                    return chain;
                }
            }
            continue;
        };
        let before = ascents(arrangement, &now.place[..k], (now.beta, now.beta));
        let after = ascents(arrangement, &link.next.place[..k], (beta, beta));
        let (Some(before), Some(after)) = (before, after) else {
            step *= shrink;
            continue;
        };
        if event.is_none() && before != after {
            // Impossible if all bounds are right; no piece is claimed.
            chain.stop = Stop::Lost(now.beta);
            return chain;
        }
        let piece = |beta, ascents| Piece { beta, gaps: link.place[..k].to_vec(), ascents };
        match event {
            None => chain.pieces.push(piece(interval, before)),
            Some(event) => {
                let middle = event.beta.mid();
                let (near, far) = if direction > 0.0 {
                    ((interval.0, middle), (middle, interval.1))
                } else {
                    ((middle, interval.1), (interval.0, middle))
                };
                chain.pieces.push(piece(near, before));
                chain.pieces.push(piece(far, after));
                chain.events.push(event);
            }
        }
        now = link.next;
        chain.points.push(now);
        let met: Vec<usize> =
            (0..births.len()).filter(|b| births[*b].contains(&now, direction)).collect();
        if !met.is_empty() {
            chain.stop = Stop::Births(met);
            return chain;
        }
        step = (step * 1.4).min(STEPS.0);
    }
    chain
}

/// The chain of consensus, or of two opposite clusters, whose gaps are 1/2 for all beta.
pub(super) fn fixed(arrangement: &Arrangement, low: f64, high: f64) -> Chain {
    let k = arrangement.k;
    let mut place = [(0.0, 0.0); MAX_TOKENS];
    place[..k].fill(if k == 1 { (1.0, 1.0) } else { (0.5, 0.5) });
    let start = Point { beta: high, place };
    let mut chain =
        Chain { points: vec![start], pieces: Vec::new(), events: Vec::new(), stop: Stop::Target };
    let (mut beta, mut step) = (high, STEPS.0);
    while beta > low {
        let scale = beta.max(0.1);
        if step < STEPS.1 {
            chain.stop = Stop::Lost(beta);
            return chain;
        }
        let next = if beta - step * scale < low + 1e-9 { low } else { beta - step * scale };
        let of = |b: f64| if k == 1 { Some(0) } else { ascents(arrangement, &place[..k], (b, b)) };
        let known = if k == 1 {
            Splitting::Known(None)
        } else {
            splitting(arrangement, &place[..k], (next, beta))
        };
        let (Splitting::Known(event), Some(above), Some(below)) = (known, of(beta), of(next))
        else {
            step *= 0.437;
            continue;
        };
        let piece = |beta, ascents| Piece { beta, gaps: place[..k].to_vec(), ascents };
        match event {
            None => chain.pieces.push(piece((next, beta), above)),
            Some(event) => {
                let middle = event.beta.mid();
                chain.pieces.push(piece((middle, beta), above));
                chain.pieces.push(piece((next, middle), below));
                chain.events.push(event);
            }
        }
        chain.points.push(Point { beta: next, place });
        (beta, step) = (next, (1.4 * step).min(STEPS.0));
    }
    chain
}
