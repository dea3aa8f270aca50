//! Critical points at one beta, and the signs of second derivatives there.

use super::super::cell::{Arrangement, Cell, MAX_TOKENS, Row, grid_down, grid_up};
use super::blow_up::Units;
use super::solve;
use super::system::{Chart, Kind, Over, System, Unit};
use crate::dense_intervals::negative_eigenvalues;
use crate::num::interval::Interval;

/// Part of a branch: enclosures of the gaps in turns for all beta of an interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// The interval of beta.
    pub beta: (f64, f64),
    /// Bounds of the gaps in turns.
    pub gaps: Vec<(f64, f64)>,
    /// Directions of ascent of the energy, modulo rotations.
    pub ascents: usize,
}

/// A critical point at one beta.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) beta: f64,
    pub(super) place: Row<(f64, f64)>,
}

/// Clusters that begin to split at a point of a branch.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) beta: Interval,
    /// Enclosures of the gaps in turns.
    pub(super) gaps: Vec<Interval>,
    /// The clusters whose second derivative for splitting is 0.
    pub(super) clusters: Vec<usize>,
}

/// Signs at a critical point, or at all of a piece.
pub(super) struct Signs {
    /// Directions of ascent that move whole clusters.
    pub(super) whole: Option<usize>,
    /// Clusters of several tokens, each with the second derivative for splitting it.
    pub(super) splits: Vec<(usize, Interval)>,
}

/// Bounds as intervals.
pub(super) fn intervals(bounds: &[(f64, f64)]) -> Vec<Interval> {
    bounds.iter().map(|g| Interval::new(g.0, g.1)).collect()
}

/// Single clusters, of which some are watched.
pub(super) fn clusters_of(arrangement: &Arrangement, watched: &[usize]) -> System {
    let kind = |x: usize| if watched.contains(&x) { Kind::Watched } else { Kind::Single };
    let units = (0..arrangement.k).map(|x| Unit { mass: arrangement.mass_of(x), kind: kind(x) });
    System { units: units.collect(), chart: Chart::Distances, law: arrangement.law.clone() }
}

pub(super) fn signs(arrangement: &Arrangement, gaps: &[(f64, f64)], beta: (f64, f64)) -> Signs {
    let k = arrangement.k;
    let several: Vec<usize> = (0..k).filter(|x| arrangement.size[*x] > 1).collect();
    let system = clusters_of(arrangement, &several);
    let shapes = system.shapes(Interval::new(beta.0, beta.1));
    let mut value = system.evaluate(&intervals(&gaps[..k - 1]), &shapes);
    let whole = negative_eigenvalues(&mut value.by[..k - 1]);
    Signs { whole, splits: several.into_iter().zip(value.f[k - 1..].iter().copied()).collect() }
}

/// Directions of ascent at a critical point, or `None` if a sign is not decided.
pub(super) fn ascents(
    arrangement: &Arrangement,
    gaps: &[(f64, f64)],
    beta: (f64, f64),
) -> Option<usize> {
    let signs = signs(arrangement, gaps, beta);
    let mut count = signs.whole?;
    for (cluster, second) in signs.splits {
        match () {
            () if second.is_negative() => count += arrangement.size[cluster] - 1,
            () if second.is_positive() => {}
            () => return None,
        }
    }
    Some(count)
}

/// Whether the second derivatives for splitting clusters have signs; the last gap is not needed.
pub(super) fn splits_have_signs(
    arrangement: &Arrangement,
    gaps: &[(f64, f64)],
    beta: (f64, f64),
) -> bool {
    signs(arrangement, gaps, beta).splits.iter().all(|(_, second)| !second.contains(0.0))
}

/// A critical point near gaps in turns, with its uniqueness box.
pub(super) fn point(
    arrangement: &Arrangement,
    gaps: &[f64],
    beta: f64,
) -> Option<(Point, Row<(f64, f64)>)> {
    let k = arrangement.k;
    let mut cell = Cell { gaps: [(0.0, 0.0); MAX_TOKENS], beta: (beta, beta) };
    for (c, g) in cell.gaps[..k].iter_mut().zip(gaps) {
        *c = (grid_down(*g), grid_up(*g));
    }
    let zero = arrangement.at(cell.beta).isolate(&cell, &arrangement.law.kernel(cell.beta))?;
    Some((Point { beta, place: zero.place }, zero.alone))
}

/// A critical point near gaps in turns, in the coordinates of pairs.
pub(super) fn point_of(units: &Units, start: &[f64], beta: f64) -> Option<Point> {
    let over = Over::new(&units.system.law, Interval::exact(beta));
    let evaluate = |z: &[Interval]| Some(units.system.evaluate_over(z, &over));
    let root = solve::isolate(&evaluate, start, &[1e-4, 1e-6, 1e-8, 1e-10, 1e-11])?;
    let doubles = &root.place[units.system.first_inside()..];
    if doubles.iter().any(|t| t.lo() <= 0.0) {
        return None;
    }
    let mut place = [(0.0, 0.0); MAX_TOKENS];
    for (p, g) in place.iter_mut().zip(units.gaps(&root.place)) {
        if g.lo() <= 0.0 {
            return None;
        }
        *p = (g.lo(), g.hi());
    }
    Some(Point { beta, place })
}
