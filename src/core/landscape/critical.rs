//! Critical points by Newton's method modulo rotations, with error estimates and invariants.

use super::newton::{
    Equilibrium, angles, count_automorphisms, distance_from_start, same_sizes, tangent_step,
};
use super::spectrum::{Spectrum, equilibrated, mass_hessian, rotations, row_scales};
use crate::attention::{Energy, EnergyScale, kernel::Workspace, kernel::log_kernel};
use crate::error::{Error, Result};
use crate::num::vector::norm;
use crate::sphere::{Tokens, geometry::tangent_towards};

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

/// Tolerance for equality of angles and energies of two critical points.
const EQUALITY_TOLERANCE: f64 = 1e-7;

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
        Energy::check_hessian_size(start)?;
        let residual = |x: &Tokens| Ok((relative_gradient_norm(beta, x), ()));
        let step = |x: &Tokens, ()| Ok(newton_step(beta, x));
        let Equilibrium { x, sizes, labels } =
            Equilibrium::near(start, sizes, true, residual, step)?;
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
        let symmetry = count_automorphisms(&x, &sizes);
        let errors = estimate_errors(beta, &x, &spectrum);
        Ok(Self {
            beta,
            angles: angles(&x),
            distance_from_start: distance_from_start(start, &labels, &x),
            clusters: x,
            sizes,
            log_energy,
            errors,
            residual,
            spectrum,
            symmetry,
            labels,
        })
    }

    /// Number of tokens.
    pub fn n(&self) -> usize {
        self.sizes.iter().sum()
    }

    /// True if both points agree up to rotation, reflection and permutation, judged by sizes,
    /// index, energy and angles.
    pub fn is_same(&self, other: &Self) -> bool {
        same_sizes(&self.sizes, &other.sizes)
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

/// The Newton step p modulo rotations, from `[[H, R^T], [R, 0]] p = -grad`, as ambient rows.
fn newton_step(beta: f64, x: &Tokens) -> Vec<f64> {
    let (h, s) = equilibrated(beta, x, &mass_hessian(beta, x));
    let mut gradient = vec![0.0; x.coordinates().len()];
    Energy::new(beta, EnergyScale::Mean).scaled_grad(x, &mut Workspace::default(), &mut gradient);
    tangent_step(x, (&h, &s), &rotations(x), &gradient)
}
