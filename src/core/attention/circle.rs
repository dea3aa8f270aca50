//! The interaction energy on the circle as a function of angles,
//! `x_i = (cos theta_i, sin theta_i)`: an independent check of the formulas on the sphere.

use super::kernel::exp_shifted;

/// `beta (cos t - 1) = -2 beta sin^2(t/2)`: the exponent relative to `e^beta`.
fn exponent(beta: f64, t: f64) -> f64 {
    -2.0 * beta * (0.5 * t).sin().powi(2)
}

/// `E_beta(theta) = (1/(2 beta)) sum_ij m_i m_j e^{beta cos(theta_i - theta_j)}`; infinite if it
/// exceeds `f64`.
pub fn value(beta: f64, theta: &[f64], masses: &[f64]) -> f64 {
    let mut sum = crate::num::sum::Compensated::default();
    for (t, m) in theta.iter().zip(masses) {
        for (s, k) in theta.iter().zip(masses) {
            sum.add(m * k * exp_shifted(exponent(beta, t - s), beta));
        }
    }
    sum.value() / (2.0 * beta)
}

/// `d_i E = -m_i sum_j m_j e^{beta cos} sin(theta_i - theta_j)`.
pub fn grad(beta: f64, theta: &[f64], masses: &[f64]) -> Vec<f64> {
    let force = |t: f64, s: f64| -exp_shifted(exponent(beta, t - s), beta) * (t - s).sin();
    let row =
        |(t, m): (&f64, &f64)| theta.iter().zip(masses).map(|(s, k)| m * k * force(*t, *s)).sum();
    theta.iter().zip(masses).map(row).collect()
}

/// `g(t) = (cos t - beta sin^2 t) e^{beta cos t}`, the second-derivative kernel:
/// `H_ij = m_i m_j g(theta_i - theta_j)`.
///
/// ```
/// use metastable::attention::circle::hessian_kernel;
/// assert!((hessian_kernel(2.0, 0.0) - 2f64.exp()).abs() < 1e-14);
/// ```
pub fn hessian_kernel(beta: f64, t: f64) -> f64 {
    (t.cos() - beta * t.sin().powi(2)) * exp_shifted(exponent(beta, t), beta)
}

/// The Hessian, n x n row-major: `H_ij = m_i m_j g`, `H_ii = -sum_{j != i} H_ij` (a signed graph
/// Laplacian, `H 1 = 0`).
pub fn hessian(beta: f64, theta: &[f64], masses: &[f64]) -> Vec<f64> {
    let n = theta.len();
    let mut h = vec![0.0; n * n];
    for i in 0..n {
        for j in (0..n).filter(|j| *j != i) {
            h[i * n + j] = masses[i] * masses[j] * hessian_kernel(beta, theta[i] - theta[j]);
            h[i * n + i] -= h[i * n + j];
        }
    }
    h
}
