//! Critical points by Newton's method modulo rotations, with error estimates and invariants.

use super::spectrum::{
    Spectrum, bordered, equilibrated, mass_hessian, rotations, row_scales, to_ambient,
};
use crate::attention::{Energy, EnergyScale, kernel::Workspace, kernel::log_kernel};
use crate::error::{Error, Result};
use crate::num::{dense, pairs, sum::dot, vector::norm};
use crate::sphere::{
    Tokens,
    geometry::{chord2, dist, exp, tangent_basis, tangent_towards},
};

/// A critical point of `E_beta` on clusters of tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct CriticalPoint {
    /// Inverse temperature.
    pub beta: f64,
    /// One row per cluster.
    pub clusters: Tokens,
    /// Tokens per cluster.
    pub sizes: Vec<usize>,
    /// `log sum_ij m_i m_j e^{beta (G_ij - 1)}`, at most 0 for positive beta.
    pub log_energy: f64,
    /// Error estimates of the numbers.
    pub errors: ErrorEstimates,
    /// The [`relative_gradient_norm`].
    pub residual: f64,
    /// Spectrum of the Hessian for all tokens.
    pub spectrum: Spectrum,
    /// Geodesic distances of all pairs of clusters, ascending.
    pub angles: Vec<f64>,
    /// Number of permutations of clusters that preserve masses and angles.
    pub symmetry: usize,
    /// Cluster of each row of the start. If there are more rows than clusters, some rows merged.
    pub labels: Vec<usize>,
    /// Largest geodesic distance in radians between a row of the start and its cluster, without
    /// aligning them by a rotation. Newton's steps have no component along rotations; the distance
    /// modulo rotations is at most this.
    pub distance_from_start: f64,
}

/// Error estimates of the numbers of a critical point. To first order they are bounds, up to the
/// constants of the rounding errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorEstimates {
    /// Geodesic error of every cluster, modulo rotations: the remaining Newton step, plus the
    /// rounding error of the gradient over the smallest eigenvalue.
    pub position: f64,
    /// Error of an angle between two clusters.
    pub angle: f64,
    /// Error of `log_energy`: its rounding error, plus the gradient times the error of the
    /// position.
    pub log_energy: f64,
    /// Error of every eigenvalue: the rounding errors of the Hessian and of the eigenvalue
    /// iteration, plus the change of the Hessian over the error of the position.
    pub eigenvalue: f64,
}

/// Angle below which two clusters of a critical point merge.
const MERGE_ANGLE: f64 = 1e-6;
/// Tolerance for equality of angles and energies of two critical points.
const EQUALITY_TOLERANCE: f64 = 1e-7;

/// **Errors** sizes of clusters that are not in proportion to the masses of the tokens.
pub(super) fn check_sizes(start: &Tokens, sizes: &[usize]) -> Result<()> {
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

impl CriticalPoint {
    /// The critical point that Newton's method finds from clusters of `sizes` tokens.
    ///
    /// **Errors** masses that are not proportional to the sizes; no convergence to a residual of
    /// 1e-12 (the message gives the residual).
    ///
    /// ```
    /// use metastable::{landscape::CriticalPoint, sphere::Tokens};
    /// // Near the regular triangle: unstable in the two pairing directions, for every beta > 0.
    /// let near = Tokens::from_angles(&[0.01, 2.1, 4.2]).unwrap();
    /// let saddle = CriticalPoint::near(8.0, &near, &[1, 1, 1]).unwrap();
    /// assert!(saddle.residual < 1e-12 && saddle.spectrum.unstable == 2 && saddle.symmetry == 6);
    /// ```
    pub fn near(beta: f64, start: &Tokens, sizes: &[usize]) -> Result<Self> {
        check_sizes(start, sizes)?;
        let (mut x, mut sizes) = (start.clone(), sizes.to_vec());
        let mut labels: Vec<usize> = (0..x.n()).collect();
        loop {
            x = newton(beta, &x)?;
            let before = x.n();
            let merged;
            (x, sizes, merged) = merge_coincident(&x, &sizes);
            labels.iter_mut().for_each(|l| *l = merged[*l]);
            if x.n() == before {
                break;
            }
        }
        let residual = relative_gradient_norm(beta, &x);
        if residual > 1e-12 {
            return Err(Error::Numerical {
                what: format!(
                    "Newton's method stopped at a relative residual of {residual:.1e}, above 1e-12"
                ),
            });
        }
        let spectrum = Spectrum::of_clusters(beta, &x, &sizes)?;
        let log_energy = Energy::new(beta, EnergyScale::Unit).log_value(&x)?;
        let mut angles: Vec<f64> = pairs(x.n()).map(|(i, j)| dist(x.row(i), x.row(j))).collect();
        angles.sort_by(f64::total_cmp);
        let symmetry = count_automorphisms(&x, &sizes);
        let errors = estimate_errors(beta, &x, &spectrum);
        let distance_from_start =
            start.rows().zip(&labels).map(|(r, l)| dist(r, x.row(*l))).fold(0.0, f64::max);
        Ok(Self {
            beta,
            clusters: x,
            sizes,
            log_energy,
            errors,
            residual,
            spectrum,
            angles,
            symmetry,
            labels,
            distance_from_start,
        })
    }

    /// Number of tokens.
    pub fn n(&self) -> usize {
        self.sizes.iter().sum()
    }

    /// True if both points agree up to rotation, reflection and permutation, judged by sizes,
    /// index, energy and angles.
    pub fn is_same(&self, other: &Self) -> bool {
        let sorted = |sizes: &[usize]| {
            let mut s = sizes.to_vec();
            s.sort_unstable();
            s
        };
        sorted(&self.sizes) == sorted(&other.sizes)
            && self.spectrum.unstable == other.spectrum.unstable
            && (self.log_energy - other.log_energy).abs()
                < EQUALITY_TOLERANCE * (1.0 + self.log_energy.abs())
            && self
                .angles
                .iter()
                .zip(&other.angles)
                .all(|(a, b)| (a - b).abs() < 100.0 * EQUALITY_TOLERANCE)
    }
}

/// See [`ErrorEstimates`].
fn estimate_errors(beta: f64, x: &Tokens, spectrum: &Spectrum) -> ErrorEstimates {
    let (n, m, u) = (x.n(), x.masses(), 0.5 * f64::EPSILON);
    // Per cluster: the sum of the absolute terms of its force, and of the bounds
    // `w (beta^2 s^3 + 3 |beta| s + 1)` of the third derivatives of every pair.
    let (mut forces, mut third_derivatives) = (vec![0.0; n], vec![0.0; n]);
    for (i, j) in (0..n).flat_map(|i| (0..n).filter(move |j| *j != i).map(move |j| (i, j))) {
        let (g, w) = (x.inner(i, j), m[j] * log_kernel(beta, x.row(i), x.row(j)).exp());
        let s = (1.0 - g * g).max(0.0).sqrt();
        forces[i] += w * s;
        third_derivatives[i] += 2.0 * w * (beta * beta * s.powi(3) + 3.0 * beta.abs() * s + 1.0);
    }
    // The error of a weight is 4u times its exponent, which is at most 2 |beta|; errors of a sum
    // add like a random walk.
    let rounding = u * (16.0 + 2.0 * (n as f64).sqrt() + 8.0 * beta.abs().min(5.0));
    let step = newton_step(beta, x);
    let remaining_step = step.chunks_exact(x.d()).map(norm).fold(0.0, f64::max);
    let scales = row_scales(beta, x);
    let gradient_rounding =
        (0..n).map(|i| (rounding * scales[i] * forces[i]).powi(2) * m[i]).sum::<f64>().sqrt();
    let largest_scale = (0..n).map(|i| scales[i] / m[i].sqrt()).fold(0.0, f64::max);
    let position =
        remaining_step + largest_scale * gradient_rounding / spectrum.smallest_modulus + 4.0 * u;
    let mut gradient = vec![0.0; x.coordinates().len()];
    let energy = Energy::new(beta, EnergyScale::Unit);
    energy.scaled_grad(x, &mut Workspace::default(), &mut gradient);
    let gradient_norm: f64 = gradient.chunks_exact(x.d()).map(norm).sum();
    let energy_change = 2.0 * beta.abs() * gradient_norm * position
        / energy.log_scaled(x).exp().max(f64::MIN_POSITIVE);
    let third_derivative = third_derivatives.iter().copied().fold(0.0, f64::max);
    ErrorEstimates {
        position,
        angle: 2.0 * position + 4.0 * u,
        log_energy: 4.0 * u * (4.0 + beta.abs()) + energy_change,
        eigenvalue: spectrum.rounding + third_derivative * position,
    }
}

/// The relative gradient norm: the largest over clusters i of
/// `|sum_j m_j w_ij P_i x_j| / sum_{j != i} m_j w_ij`. It vanishes exactly at critical points and
/// is accurate for forces of any magnitude.
pub fn relative_gradient_norm(beta: f64, x: &Tokens) -> f64 {
    let mut worst = 0.0f64;
    for i in 0..x.n() {
        let logs: Vec<f64> = (0..x.n())
            .map(|j| if j == i { f64::NEG_INFINITY } else { log_kernel(beta, x.row(i), x.row(j)) })
            .collect();
        let top = logs.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
        let (mut sum, mut weight) = (vec![0.0; x.d()], 0.0);
        for (j, log) in logs.iter().enumerate().filter(|(j, _)| *j != i) {
            let w = x.masses()[j] * (log - top).exp();
            sum.iter_mut().zip(tangent_towards(x.row(i), x.row(j))).for_each(|(s, f)| *s += w * f);
            weight += w;
        }
        if weight > 0.0 {
            worst = worst.max(norm(&sum) / weight);
        }
    }
    worst
}

/// Newton's method for `grad E = 0` modulo rotations, with steps of at most 0.2. Ends when the
/// residual stops falling and returns the best point.
fn newton(beta: f64, start: &Tokens) -> Result<Tokens> {
    Energy::check_hessian_size(start)?;
    let mut x = start.clone();
    let mut best = (relative_gradient_norm(beta, &x), x.clone());
    let mut steps_without_progress = 0;
    for _ in 0..60 {
        let step = newton_step(beta, &x);
        let largest = step.chunks_exact(x.d()).map(norm).fold(0.0f64, f64::max);
        if !largest.is_finite() || largest == 0.0 {
            break;
        }
        x = move_along(&x, &step, (0.2 / largest).min(1.0));
        let residual = relative_gradient_norm(beta, &x);
        steps_without_progress =
            if residual < 0.5 * best.0 { 0 } else { steps_without_progress + 1 };
        if residual < best.0 {
            best = (residual, x.clone());
        }
        if steps_without_progress >= 8 {
            break;
        }
    }
    Ok(best.1)
}

/// The Newton step p modulo rotations, from `[[H, R^T], [R, 0]] p = -grad`, as ambient rows.
fn newton_step(beta: f64, x: &Tokens) -> Vec<f64> {
    let (d, t) = (x.d(), x.d() - 1);
    let size = x.n() * t;
    let bases: Vec<Vec<f64>> = x.rows().map(tangent_basis).collect();
    let border = rotations(x);
    let all = size + border.len();
    let (h, s) = equilibrated(beta, x, &mass_hessian(beta, x));
    let a = bordered(&h, &border);
    let mut gradient = vec![0.0; x.coordinates().len()];
    Energy::new(beta, EnergyScale::Mean).scaled_grad(x, &mut Workspace::default(), &mut gradient);
    let mut rhs = vec![0.0; all];
    for i in 0..x.n() {
        let root = x.masses()[i].sqrt();
        for (k, e) in bases[i].chunks_exact(d).enumerate() {
            rhs[i * t + k] = -s[i * t + k] * dot(e, &gradient[i * d..(i + 1) * d]) / root;
        }
    }
    let p = dense::solve(&a, &rhs);
    let scaled: Vec<f64> = s.iter().zip(&p).map(|(s, p)| s * p).collect();
    to_ambient(x, &bases, &scaled)
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
