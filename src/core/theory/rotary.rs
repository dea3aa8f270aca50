//! Rotary positions on a ring: consensus and twisted states of USA on the circle.

use std::f64::consts::TAU;

/// Growth rates (real, imaginary part) of the waves `e^{2 pi i m k / n}`, m = 0 to n - 1, about the
/// twisted state `theta_i = 2 pi q i / n` of USA in d = 2, n tokens of equal masses, scores
/// `beta cos(theta_i - theta_j + w (i - j))` with `w = 2 pi p / n`.
///
/// `Lambda_m = -(1/n) sum_k J_k (1 - e^{-2 pi i m k / n})`,
/// `J_k = e^{beta cos((q + p) a_k)} (cos(q a_k) - beta sin((q + p) a_k) sin(q a_k))`,
/// `a_k = 2 pi k / n`, because the linearised vector field is circulant. Consensus is q = 0: stable
/// for every p. **Accuracy** `n u e^{|beta|}`.
///
/// ```
/// use metastable::theory::rotary::{rates, largest_growth_rate};
/// assert!((largest_growth_rate(&rates(12, 1, 0, 2.0)) + 0.688948).abs() < 1e-6);
/// assert!((largest_growth_rate(&rates(12, 0, 1, 1.0)) - 0.565159).abs() < 1e-6);
/// ```
pub fn rates(n: usize, p: i64, q: i64, beta: f64) -> Vec<(f64, f64)> {
    let coupling = |k: usize| {
        let a = TAU * k as f64 / n as f64;
        let (sum, own) = ((q + p) as f64 * a, q as f64 * a);
        (beta * sum.cos()).exp() * (own.cos() - beta * sum.sin() * own.sin())
    };
    let of = |m: usize| {
        let waves = (0..n).map(|k| (coupling(k), (TAU * (m * k % n) as f64 / n as f64).sin_cos()));
        let (re, im) = waves
            .fold((0.0, 0.0), |(re, im), (j, (sin, cos))| (re - j * (1.0 - cos), im - j * sin));
        (re / n as f64, im / n as f64)
    };
    (0..n).map(of).collect()
}

/// The largest growth rate, without the common rotation (m = 0): negative for a stable state.
pub fn largest_growth_rate(rates: &[(f64, f64)]) -> f64 {
    rates.iter().skip(1).map(|z| z.0).fold(f64::NEG_INFINITY, f64::max)
}
