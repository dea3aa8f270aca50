//! Search for local maxima other than one cluster, and their proof.

use super::cell::{Arrangement, Cell, MAX_TOKENS, Row, grid_down};
use super::kernel::{Kernel, Law};
use super::newton::Zero;
use super::orbits::{Orbit, orbits};
use super::strata::{Members, arrange, canonical_with_gaps};

/// Largest and smallest number of starts of Newton's method in each stratum, and about their sum
/// over many strata.
const STARTS: (usize, usize, usize) = (60, 3, 20_000);

/// A small generator of reproducible starts: the fractional parts of multiples of irrational
/// numbers.
fn fraction(start: u32, place: usize) -> f64 {
    // Powers of the root of x^13 = x + 1, as in low-discrepancy sequences.
    let root: f64 = 1.055_004;
    let mut step = 1.0;
    for _ in 0..=place {
        step /= root;
    }
    (0.5 + f64::from(start) * step).fract()
}

fn starts(k: usize, count: usize) -> impl Iterator<Item = Row<f64>> {
    (0..count as u32).map(move |s| {
        let mut gaps = [0.0; MAX_TOKENS];
        for (x, g) in gaps[..k].iter_mut().enumerate() {
            *g = if s == 0 { 1.0 } else { -(0.05 + 0.9 * fraction(s, x)).ln() };
        }
        let sum: f64 = gaps[..k].iter().sum();
        gaps[..k].iter_mut().for_each(|g| *g /= sum);
        gaps
    })
}

/// The fewest clusters of a maximum: two opposite clusters attract if phi is positive.
fn fewest(law: &Law) -> usize {
    if law.longest_gap() > 0.5 { 2 } else { 3 }
}

/// A proved local maximum at one beta with several clusters, or `None` if the search finds none.
///
/// **Cost** at most 60 starts of Newton's method in every stratum.
pub(super) fn spurious_maximum(
    strata: &[Vec<Members>],
    beta: f64,
    law: &Law,
) -> Option<(Orbit, Zero, Arrangement)> {
    let kernel = law.kernel((beta, beta));
    let count = (STARTS.2 / strata.len().max(1)).clamp(STARTS.1, STARTS.0);
    strata.iter().filter(|c| c.len() >= fewest(law)).find_map(|clusters| {
        let arrangement = Arrangement { law: law.clone(), ..arrange(clusters) };
        starts(clusters.len(), count)
            .find_map(|start| maximum_from(&start, clusters, &arrangement, &kernel, beta))
            .map(|(orbit, zero)| (orbit, zero, arrangement))
    })
}

/// As [`spurious_maximum`], from one undecided box: neighbours at a small distance become one
/// cluster.
pub(super) fn maximum_near(
    clusters: &[Members],
    gaps: &[(f64, f64)],
    beta: f64,
    law: &Law,
) -> Option<(Orbit, Zero, Arrangement)> {
    const COINCIDENT: f64 = 2e-3;
    let k = clusters.len();
    let middle: Vec<f64> = gaps.iter().map(|g| 0.5 * (g.0 + g.1)).collect();
    let last = (0..k).find(|x| middle[*x] > COINCIDENT)?;
    let (mut merged, mut start): (Vec<Members>, Row<f64>) = (Vec::new(), [0.0; MAX_TOKENS]);
    let mut open = false;
    for x in (1..=k).map(|x| (last + x) % k) {
        match merged.last_mut() {
            Some(own) if open => own.extend(&clusters[x]),
            _ => merged.push(clusters[x].clone()),
        }
        start[merged.len() - 1] += middle[x];
        open = middle[x] <= COINCIDENT;
    }
    if merged.len() < fewest(law) {
        return None;
    }
    merged.iter_mut().for_each(|c| c.sort_by(|a, b| b.cmp(a)));
    let sum: f64 = start.iter().sum();
    start.iter_mut().for_each(|g| *g /= sum);
    let (merged, start) = canonical_with_gaps(&merged, &start);
    let kernel = law.kernel((beta, beta));
    let arrangement = Arrangement { law: law.clone(), ..arrange(&merged) };
    maximum_from(&start, &merged, &arrangement, &kernel, beta)
        .map(|(orbit, zero)| (orbit, zero, arrangement))
}

/// A proved local maximum to which Newton's method leads.
fn maximum_from(
    start: &Row<f64>,
    clusters: &[Members],
    arrangement: &Arrangement,
    kernel: &Kernel,
    beta: f64,
) -> Option<(Orbit, Zero)> {
    let k = arrangement.k;
    let gaps = arrangement.approximate(start, kernel)?;
    if gaps[..k].iter().any(|g| *g < 1e-6 || *g > arrangement.law.longest_gap()) {
        return None;
    }
    let mut cell = Cell { gaps: gaps.map(|g| (grid_down(g), grid_down(g))), beta: (beta, beta) };
    // The last gap closes the circle exactly.
    let others: f64 = cell.gaps[..k - 1].iter().map(|g| g.0).sum();
    cell.gaps[k - 1] = (1.0 - others, 1.0 - others);
    if arrangement.ascents(&cell, kernel) != Some(0) {
        return None;
    }
    let zero = arrangement.isolate(&cell, kernel)?;
    let (found, _) = orbits(clusters, arrangement, &[zero], beta);
    found.into_iter().next().filter(|(orbit, _)| orbit.ascents == Some(0))
}
