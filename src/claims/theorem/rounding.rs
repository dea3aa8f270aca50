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

#[cfg(test)]
mod tests {
    use super::{weight_change, worst_share};

    #[test]
    fn weights_change_by_at_most_what_their_scores_allow() {
        let weights = |scores: &[f64]| -> Vec<f64> {
            let total: f64 = scores.iter().map(|s| s.exp()).sum();
            scores.iter().map(|s| s.exp() / total).collect()
        };
        let scores = [0.3, -2.0, 1.1];
        // One score up and the others down: the worst that may happen, and the bound is near.
        for off in [1e-9, 1e-3, 0.7] {
            let moved: Vec<f64> = scores.iter().enumerate().map(|(j, s)| s + if j == 1 { off } else { -off }).collect();
            let change = weights(&moved)[1] / weights(&scores)[1] - 1.0;
            assert!(change < weight_change(off, 3) && change > 0.6 * weight_change(off, 3), "{off}: {change}");
        }
        assert!((weight_change(1e6, 3) * 0.0).abs() < 1e-300);
    }

    #[test]
    fn the_worst_place_decides() {
        assert!((worst_share(&[1.0, 2.0], &[1.5, 2.1], &[1.0, 0.1]) - 1.0).abs() < 1e-12);
        assert!(worst_share(&[f64::NAN, 0.0], &[0.0, 0.0], &[1.0, 1.0]).is_nan());
    }
}
