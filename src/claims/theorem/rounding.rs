//! Bounds on how much rounding may change a result, built from the sizes of its terms before they
//! cancel.

use crate::num::deviation::largest;

/// Smallest size that a difference may be divided by; below it the quotient would overflow.
pub const TINY: f64 = 1e-290;

/// Absolute values.
pub fn absolute(numbers: &[f64]) -> Vec<f64> {
    numbers.iter().map(|v| v.abs()).collect()
}

/// Bound on the relative change of a softmax weight of n scores if each score has an absolute error
/// of at most `error`. Numerator and sum change by factors in `[e^{-error}, e^{error}]`, which
/// gives `e^{2 error} - 1`; rounding of the n exponentials and of their sum adds `n + 4` eps to
/// `error`. The bound is cut off at 1e100, so that its product with 0 is 0.
pub fn weight_change(error: f64, n: usize) -> f64 {
    (2.0 * error + 2.0 * (n as f64 + 4.0) * f64::EPSILON).exp_m1().min(1e100)
}

/// The largest `|a_k - b_k| / allowed_k`; infinity if one is NaN.
pub fn max_relative_deviation(a: &[f64], b: &[f64], allowed: &[f64]) -> f64 {
    largest(a.iter().zip(b).zip(allowed).map(|((a, b), most)| (a - b).abs() / most))
}
