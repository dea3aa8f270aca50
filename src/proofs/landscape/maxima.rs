//! Search for local maxima other than one cluster, and their proof.

use super::cell::{Arrangement, Cell, MAX_TOKENS, Row, grid_down};
use super::kernel::Kernel;
use super::newton::Zero;
use super::orbits::{Orbit, orbits};
use super::strata::{Members, arrange};

/// Starts of Newton's method in each stratum.
const STARTS: u32 = 60;

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

fn starts(k: usize) -> impl Iterator<Item = Row<f64>> {
    (0..STARTS).map(move |s| {
        let mut gaps = [0.0; MAX_TOKENS];
        for (x, g) in gaps[..k].iter_mut().enumerate() {
            *g = if s == 0 { 1.0 } else { -(0.05 + 0.9 * fraction(s, x)).ln() };
        }
        let sum: f64 = gaps[..k].iter().sum();
        gaps[..k].iter_mut().for_each(|g| *g /= sum);
        gaps
    })
}

/// A proved local maximum at one beta with at least three clusters, or `None` if the search finds
/// none.
///
/// **Cost** 60 starts of Newton's method in every stratum.
pub(super) fn spurious_maximum(
    strata: &[Vec<Members>],
    beta: f64,
) -> Option<(Orbit, Zero, Arrangement)> {
    let kernel = Kernel::new((beta, beta));
    for clusters in strata.iter().filter(|c| c.len() >= 3) {
        let arrangement = arrange(clusters);
        let k = arrangement.k;
        for start in starts(k) {
            let Some(gaps) = arrangement.approximate(&start, &kernel) else { continue };
            if gaps[..k].iter().any(|g| *g < 1e-6 || *g > 0.5) {
                continue;
            }
            let point = gaps.map(|g| (grid_down(g), grid_down(g)));
            let mut cell = Cell { gaps: point, beta: (beta, beta) };
            // The last gap closes the circle exactly.
            let others: f64 = cell.gaps[..k - 1].iter().map(|g| g.0).sum();
            cell.gaps[k - 1] = (1.0 - others, 1.0 - others);
            if arrangement.ascents(&cell, &kernel) != Some(0) {
                continue;
            }
            if let Some(zero) = arrangement.isolate(&cell, &kernel) {
                let (found, _) = orbits(clusters, &arrangement, &[zero], beta);
                if let Some((orbit, zero)) = found.into_iter().next()
                    && orbit.ascents == Some(0)
                {
                    return Some((orbit, zero, arrangement));
                }
            }
        }
    }
    None
}
