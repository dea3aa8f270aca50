//! What rounding may change in a trial: shares of the sizes of terms before they cancel.

use crate::num::stats::nan_max;

/// Below this a size is no size: differences over it would overflow.
pub const TINY: f64 = 1e-290;

/// Absolute values.
pub fn sizes(numbers: &[f64]) -> Vec<f64> {
    numbers.iter().map(|v| v.abs()).collect()
}

/// The largest relative change of a weight of a softmax over n scores, each of which is known to
/// `off` (absolutely): `e^{2 off} - 1`, as numerator and sum change by factors within `e^{-off}`
/// and `e^{off}`; and as much more as n exponentials and their sum round, `n + 4` eps each way.
/// At most 1e100, so that a product with 0 is 0.
pub fn weight_change(off: f64, n: usize) -> f64 {
    (2.0 * off + 2.0 * (n as f64 + 4.0) * f64::EPSILON).exp_m1().min(1e100)
}

/// The largest deviation of two results, each over what is allowed at its place.
pub fn worst_share(a: &[f64], b: &[f64], allowed: &[f64]) -> f64 {
    a.iter().zip(b).zip(allowed).map(|((a, b), most)| (a - b).abs() / most).fold(0.0, nan_max)
}
