//! Zonal harmonics on `S^{d-1}`: Gegenbauer polynomials normalised to `P_k(1) = 1`, and Funk-Hecke
//! coefficients of `e^{beta s}`.

use super::bessel::{bessel_ratios, scaled_sphere_mean};

/// `P_0(s), ..., P_kmax(s)` for ambient dimension d (d = 2: Chebyshev, d = 3: Legendre), each with
/// `P_k(1) = 1`.
///
/// ```
/// use metastable::num::gegenbauer::zonal_polynomials;
/// assert!((zonal_polynomials(3, 2, 0.5)[2] + 0.125).abs() < 1e-16);
/// ```
pub fn zonal_polynomials(d: usize, kmax: usize, s: f64) -> Vec<f64> {
    let mut p = vec![1.0];
    if kmax >= 1 {
        p.push(s);
    }
    for k in 1..kmax {
        let (kf, df) = (k as f64, d as f64);
        // For d = 2 the leading coefficient is k + d - 2 = k, so no special case is needed.
        p.push(((2.0 * kf + df - 2.0) * s * p[k] - kf * p[k - 1]) / (kf + df - 2.0));
    }
    p
}

/// Funk-Hecke coefficients of `e^{beta (s - 1)}`: `e^{-beta} lambda_k`, `k = 0..=kmax`, with
/// `lambda_k = Gamma(d/2) (2/beta)^{d/2-1} I_{k+d/2-1}(beta)`.
///
/// **Accuracy** `(10 + d/2 + k) u` relative.
/// **Domain** `0 <= beta <= 1e6`, `d >= 2`.
///
/// ```
/// use metastable::num::gegenbauer::scaled_funk_hecke;
/// // d = 3: lambda_0 = sinh(beta)/beta
/// let l = scaled_funk_hecke(3, 0, 2.0);
/// assert!((l[0] - (2f64.sinh() / 2.0) * (-2f64).exp()).abs() < 1e-15);
/// ```
pub fn scaled_funk_hecke(d: usize, kmax: usize, beta: f64) -> Vec<f64> {
    let mut value = scaled_sphere_mean(d, beta);
    let mut values = vec![value];
    for r in bessel_ratios(d as f64 / 2.0 - 1.0, beta, kmax) {
        value *= r;
        values.push(value);
    }
    values
}
