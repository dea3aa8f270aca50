//! Vectors as slices: BLAS level 1 operations and common reductions.

use super::stats::nan_max;
use super::sum::dot;

/// `y += a x`.
#[inline]
pub fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// `x *= a`.
#[inline]
pub fn scale(a: f64, x: &mut [f64]) {
    for x in x {
        *x *= a;
    }
}

/// `x /= a`: one rounding per entry, where [`scale`] by `1/a` has two.
#[inline]
pub fn divide(x: &mut [f64], a: f64) {
    for x in x {
        *x /= a;
    }
}

/// The Euclidean norm, without protection against overflow.
#[inline]
pub fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// The Euclidean norm of a vector whose squares may be too small or too large for a double.
pub fn length(x: &[f64]) -> f64 {
    let largest = max_abs(x);
    if largest > 0.0 && largest.is_finite() {
        return largest * x.iter().map(|v| (v / largest).powi(2)).sum::<f64>().sqrt();
    }
    largest
}

/// Largest absolute value: 0 for an empty slice; NaN if an entry is NaN.
#[inline]
pub fn max_abs(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |top, v| nan_max(top, v.abs()))
}

/// Largest entry: negative infinity for an empty slice; NaN entries do not count.
#[inline]
pub fn max(x: &[f64]) -> f64 {
    x.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Largest norm of rows of d numbers: 0 without rows; NaN if a row has a NaN.
#[inline]
pub fn max_norm(rows: &[f64], d: usize) -> f64 {
    rows.chunks_exact(d).map(norm).fold(0.0, nan_max)
}
