//! Newton's method for the equilibria of clusters, for any energy; merging of clusters, and what
//! does not depend on the energy.

use super::spectrum::{bordered, to_ambient};
use crate::error::{Error, Result};
use crate::num::vector::norm;
use crate::num::{dense, pairs, sum::dot};
use crate::sphere::{
    Tokens,
    geometry::{chord2, dist, exp, tangent_basis},
};

/// Angle below which two clusters of a critical point merge.
const MERGE_ANGLE: f64 = 1e-6;

/// Largest number of Newton steps.
const STEPS: usize = 60;

/// Largest length of a Newton step, in radians.
const LONGEST_STEP: f64 = 0.2;

/// Number of steps without progress after which the iteration ends.
const PATIENCE: usize = 8;

/// The clusters at which Newton's method ends.
pub(super) struct Equilibrium {
    pub(super) x: Tokens,
    /// Tokens per cluster.
    pub(super) sizes: Vec<usize>,
    /// Cluster of each row of the start.
    pub(super) labels: Vec<usize>,
}

impl Equilibrium {
    /// Newton's method from clusters of `sizes` tokens; clusters that meet are merged if `merges`,
    /// and the iteration begins again. `residual` gives a relative gradient norm and what `step`
    /// needs besides the tokens.
    ///
    /// **Errors** sizes that are not in proportion to the masses; those of the functions.
    pub(super) fn near<F>(
        start: &Tokens,
        sizes: &[usize],
        merges: bool,
        residual: impl Fn(&Tokens) -> Result<(f64, F)>,
        step: impl Fn(&Tokens, F) -> Result<Vec<f64>>,
    ) -> Result<Self> {
        check_sizes(start, sizes)?;
        let (mut x, mut sizes) = (start.clone(), sizes.to_vec());
        let mut labels: Vec<usize> = (0..x.n()).collect();
        loop {
            x = newton(&x, &residual, &step)?;
            let before = x.n();
            if merges {
                let merged;
                (x, sizes, merged) = merge_coincident(&x, &sizes);
                labels.iter_mut().for_each(|l| *l = merged[*l]);
            }
            if x.n() == before {
                return Ok(Self { x, sizes, labels });
            }
        }
    }
}

/// Newton's method for `grad E = 0` modulo rotations, with steps of at most 0.2. Ends when the
/// residual stops falling and returns the best point.
fn newton<F>(
    start: &Tokens,
    residual: &impl Fn(&Tokens) -> Result<(f64, F)>,
    step: &impl Fn(&Tokens, F) -> Result<Vec<f64>>,
) -> Result<Tokens> {
    let mut x = start.clone();
    let (first, mut force) = residual(&x)?;
    let mut best = (first, x.clone());
    let mut without_progress = 0;
    for _ in 0..STEPS {
        let step = step(&x, force)?;
        let largest = step.chunks_exact(x.d()).map(norm).fold(0.0f64, f64::max);
        if !largest.is_finite() || largest == 0.0 {
            break;
        }
        x = move_along(&x, &step, (LONGEST_STEP / largest).min(1.0));
        let size;
        (size, force) = residual(&x)?;
        without_progress = if size < 0.5 * best.0 { 0 } else { without_progress + 1 };
        if size < best.0 {
            best = (size, x.clone());
        }
        if without_progress >= PATIENCE {
            break;
        }
    }
    Ok(best.1)
}

/// The step p from `[[S H S, R^T], [R, 0]] (p / S) = -S grad` as ambient rows, with the Hessian
/// `S H S` in tangent bases and the mass metric, the diagonal S and the symmetries R.
pub(super) fn tangent_step(
    x: &Tokens,
    (h, s): (&[f64], &[f64]),
    symmetries: &[Vec<f64>],
    gradient: &[f64],
) -> Vec<f64> {
    let (d, t) = (x.d(), x.d() - 1);
    let bases: Vec<Vec<f64>> = x.rows().map(tangent_basis).collect();
    let mut rhs = vec![0.0; s.len() + symmetries.len()];
    for i in 0..x.n() {
        let root = x.masses()[i].sqrt();
        for (k, e) in bases[i].chunks_exact(d).enumerate() {
            rhs[i * t + k] = -s[i * t + k] * dot(e, &gradient[i * d..(i + 1) * d]) / root;
        }
    }
    let p = dense::solve(&bordered(h, symmetries), &rhs);
    let scaled: Vec<f64> = s.iter().zip(&p).map(|(s, p)| s * p).collect();
    to_ambient(x, &bases, &scaled)
}

/// Geodesic distances of all pairs, ascending.
pub(super) fn angles(x: &Tokens) -> Vec<f64> {
    let mut angles: Vec<f64> = pairs(x.n()).map(|(i, j)| dist(x.row(i), x.row(j))).collect();
    angles.sort_by(f64::total_cmp);
    angles
}

/// The largest distance between a row of the start and its cluster.
pub(super) fn distance_from_start(start: &Tokens, labels: &[usize], clusters: &Tokens) -> f64 {
    start.rows().zip(labels).map(|(r, l)| dist(r, clusters.row(*l))).fold(0.0, f64::max)
}

/// True if two lists of sizes agree in some order.
pub(super) fn same_sizes(a: &[usize], b: &[usize]) -> bool {
    let sorted = |sizes: &[usize]| {
        let mut s = sizes.to_vec();
        s.sort_unstable();
        s
    };
    sorted(a) == sorted(b)
}

/// **Errors** sizes of clusters that are not in proportion to the masses of the tokens.
fn check_sizes(start: &Tokens, sizes: &[usize]) -> Result<()> {
    let n = sizes.iter().sum::<usize>() as f64;
    let differs = |(s, m): (&usize, &f64)| (*s as f64 / n - m).abs() > 1e-12;
    if sizes.len() != start.n() || sizes.iter().zip(start.masses()).any(differs) {
        return Err(Error::parameter(
            "sizes",
            format!("{sizes:?}"),
            "tokens per cluster, in proportion to the masses",
        ));
    }
    Ok(())
}

/// Moves every row along a geodesic by `scale` times its tangent vector.
pub(super) fn move_along(x: &Tokens, step: &[f64], scale: f64) -> Tokens {
    let rows = x.rows().zip(step.chunks_exact(x.d()));
    let y =
        rows.flat_map(|(r, u)| exp(r, &u.iter().map(|v| scale * v).collect::<Vec<_>>())).collect();
    Tokens::from_parts(x.d(), y, x.masses().to_vec())
}

/// Merges clusters that coincide. Returns the clusters, their sizes, and the new index of each old
/// cluster.
pub(super) fn merge_coincident(x: &Tokens, sizes: &[usize]) -> (Tokens, Vec<usize>, Vec<usize>) {
    let (mut keep, mut labels): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let (mut masses, mut counts): (Vec<f64>, Vec<usize>) = (Vec::new(), Vec::new());
    for (i, size) in sizes.iter().enumerate() {
        match keep.iter().position(|&k| chord2(x.row(k), x.row(i)) < MERGE_ANGLE * MERGE_ANGLE) {
            Some(k) => {
                masses[k] += x.masses()[i];
                counts[k] += size;
                labels.push(k);
            }
            None => {
                labels.push(keep.len());
                keep.push(i);
                masses.push(x.masses()[i]);
                counts.push(*size);
            }
        }
    }
    let y = keep.iter().flat_map(|&i| x.row(i).iter().copied()).collect();
    (Tokens::from_parts(x.d(), y, masses), counts, labels)
}

/// Number of permutations of clusters that preserve sizes and inner products, counted by extending
/// partial permutations; `usize::MAX` above a million.
pub(super) fn count_automorphisms(x: &Tokens, sizes: &[usize]) -> usize {
    const LIMIT: usize = 1_000_000;
    fn extend(x: &Tokens, sizes: &[usize], image: &mut Vec<usize>, count: &mut usize) {
        let i = image.len();
        if i == x.n() {
            *count += 1;
            return;
        }
        for candidate in 0..x.n() {
            let fits = sizes[candidate] == sizes[i]
                && !image.contains(&candidate)
                && (0..i).all(|k| {
                    (dist(x.row(i), x.row(k)) - dist(x.row(candidate), x.row(image[k]))).abs()
                        < 10.0 * MERGE_ANGLE
                });
            if fits && *count < LIMIT {
                image.push(candidate);
                extend(x, sizes, image, count);
                image.pop();
            }
        }
    }
    let mut count = 0;
    extend(x, sizes, &mut Vec::new(), &mut count);
    if count >= LIMIT { usize::MAX } else { count }
}
