//! Vectors as slices: BLAS level 1 operations and common reductions.

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

/// Largest absolute value: 0 for an empty slice; NaN entries do not count.
#[inline]
pub fn max_abs(x: &[f64]) -> f64 {
    x.iter().fold(0.0f64, |top, v| top.max(v.abs()))
}

/// Largest entry: negative infinity for an empty slice; NaN entries do not count.
#[inline]
pub fn max(x: &[f64]) -> f64 {
    x.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// `max_k |x_k - y_k|`: 0 for empty slices; NaN entries do not count.
#[inline]
pub fn max_difference(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).fold(0.0f64, |top, (x, y)| top.max((x - y).abs()))
}

/// Largest norm of rows of d numbers: 0 without rows; NaN rows do not count.
#[inline]
pub fn max_norm(rows: &[f64], d: usize) -> f64 {
    rows.chunks_exact(d).map(norm).fold(0.0, f64::max)
}
