//! Wendel's probability (arXiv:2312.10794, Theorem 6.7).

use crate::num::sum::Compensated;

/// The probability that n independent uniform points of `S^{d-1}` lie in an open hemisphere:
/// `2^{-(n-1)} sum_{k<d} C(n-1, k)`, 1 for n <= d.
///
/// **Accuracy** `n u`. **Cost** `min(n, d)`.
///
/// ```
/// use metastable::theory::wendel::probability;
/// assert_eq!(probability(8, 2), 8.0 / 128.0);
/// ```
pub fn probability(n: usize, d: usize) -> f64 {
    if n <= d {
        return 1.0;
    }
    if 2 * d > n {
        // The other terms are smaller.
        return 1.0 - probability(n, n - d);
    }
    let m = n as f64 - 1.0;
    // Use logarithms of the binomial terms if 2^{-m} would underflow.
    let mut log_term = Compensated::default();
    log_term.add(-m * std::f64::consts::LN_2);
    let mut sum = 0.0;
    if m < 1000.0 {
        let mut term = (-m).exp2();
        for k in 0..d {
            sum += term;
            term *= (m - k as f64) / (k as f64 + 1.0);
        }
        return sum.min(1.0);
    }
    for k in 0..d {
        sum += log_term.value().exp();
        log_term.add(((m - k as f64) / (k as f64 + 1.0)).ln());
    }
    sum.min(1.0)
}

/// The logarithm of [`probability`], also where the probability underflows.
///
/// **Accuracy** `n u`. **Cost** `min(n, d)`.
///
/// ```
/// use metastable::theory::wendel::{log_probability, probability};
/// assert!((log_probability(8, 2) - probability(8, 2).ln()).abs() < 1e-14);
/// // 2^{-9999} 10000 for points on the circle.
/// let expected = 10_000f64.ln() - 9999.0 * std::f64::consts::LN_2;
/// assert!((log_probability(10_000, 2) / expected - 1.0).abs() < 1e-14);
/// ```
pub fn log_probability(n: usize, d: usize) -> f64 {
    if n <= d {
        return 0.0;
    }
    if 2 * d > n {
        return (-probability(n, n - d)).ln_1p();
    }
    let m = n as f64 - 1.0;
    let mut log_sum = Compensated::default();
    log_sum.add(-m * std::f64::consts::LN_2);
    let mut log_term = log_sum.value();
    // The sum, divided by its largest term so far.
    let (mut largest, mut sum) = (log_term, 0.0);
    for k in 0..d {
        if log_term > largest {
            sum *= (largest - log_term).exp();
            largest = log_term;
        }
        sum += (log_term - largest).exp();
        log_sum.add(((m - k as f64) / (k as f64 + 1.0)).ln());
        log_term = log_sum.value();
    }
    (largest + f64::ln(sum)).min(0.0)
}
