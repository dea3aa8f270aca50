//! Spectra of the linearised flow at consensus and at regular polygons (theory 6.5).

use crate::attention::circle::hessian_kernel;
use std::f64::consts::TAU;

/// Eigenvalues of the SA flow at consensus: -1 with multiplicity `(n-1)(d-1)` and 0 with multiplicity d - 1, ascending. USA (U1): the
/// same times `e^beta`.
pub fn consensus_sa(n: usize, d: usize) -> Vec<f64> {
    let mut values = vec![-1.0; (n - 1) * (d - 1)];
    values.extend(vec![0.0; d - 1]);
    values
}

/// Eigenvalues of causal SA at consensus: 0 and `-(1 - 1/k)`, k = 2..=n, each d - 1 times, ascending.
///
/// ```
/// assert_eq!(metastable::theory::spectra::consensus_causal(2, 2), vec![-0.5, 0.0]);
/// ```
pub fn consensus_causal(n: usize, d: usize) -> Vec<f64> {
    (1..=n).rev().flat_map(|k| vec![-(1.0 - 1.0 / k as f64) + 0.0; d - 1]).collect()
}

/// Growth rates of m equal clusters at the vertices of a regular m-gon on the circle:
/// USA (U1) `Lambda_p = (1/m) sum_q g(2 pi q/m) (cos(2 pi p q/m) - 1)`, p = 0..m-1.
///
/// ```
/// // m = 2: the antipodal pair escapes at rate e^{-beta}
/// let rates = metastable::theory::spectra::polygon_usa(2, 6.0);
/// assert!((rates[1] / (-6f64).exp() - 1.0).abs() < 1e-13);
/// ```
pub fn polygon_usa(m: usize, beta: f64) -> Vec<f64> {
    let mf = m as f64;
    let rate = |p: usize| -> f64 {
        (1..m)
            .map(|q| {
                // cos(2 pi p q / m) - 1 = -2 sin^2(pi p q / m), with p q reduced mod m so that symmetric modes agree to the last bit.
                let half = std::f64::consts::PI * ((p * q) % m) as f64 / mf;
                hessian_kernel(beta, TAU * q as f64 / mf) * -2.0 * half.sin().powi(2)
            })
            .sum::<f64>()
            / mf
    };
    (0..m).map(rate).collect()
}

/// The same for SA: USA divided by `Z = (1/m) sum_q e^{beta cos(2 pi q/m)}`; finite for every beta.
pub fn polygon_sa(m: usize, beta: f64) -> Vec<f64> {
    let mf = m as f64;
    let shifted: f64 = (0..m).map(|q| (-2.0 * beta * (0.5 * TAU * q as f64 / mf).sin().powi(2)).exp()).sum::<f64>() / mf;
    // Lambda / Z with e^{beta} cancelled: g is rescaled through its own shifted form.
    let g = |t: f64| (t.cos() - beta * t.sin().powi(2)) * (-2.0 * beta * (0.5 * t).sin().powi(2)).exp();
    let rate = |p: usize| -> f64 {
        let half = |q: usize| std::f64::consts::PI * ((p * q) % m) as f64 / mf;
        (1..m).map(|q| g(TAU * q as f64 / mf) * -2.0 * half(q).sin().powi(2)).sum::<f64>() / mf / shifted
    };
    (0..m).map(rate).collect()
}
