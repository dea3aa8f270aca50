//! Norms by token: what errors, ways and speeds are measured in.

use crate::sphere::Tokens;
use std::ops::Range;

/// The numbers of tokens that are measured together: the coordinates of a token, and its own numbers of the space.
pub(super) fn rows(x: &Tokens) -> impl Iterator<Item = Range<usize>> + use<> {
    let (n, d, own) = (x.n(), x.d(), x.space().own());
    let coordinates = (0..n).map(move |i| i * d..(i + 1) * d);
    coordinates.chain((0..if own > 0 { n } else { 0 }).map(move |i| n * d + i * own..n * d + (i + 1) * own))
}

/// Largest norm of a row of d of the numbers `entry(0..len)`.
pub(super) fn max_row_norm(len: usize, d: usize, entry: impl Fn(usize) -> f64) -> f64 {
    largest_row(len, (0..len).step_by(d).map(|i| i..i + d), entry)
}

/// Largest norm of some rows of the numbers `entry(0..len)`.
pub(super) fn largest_row(len: usize, rows: impl Iterator<Item = Range<usize>>, entry: impl Fn(usize) -> f64) -> f64 {
    // Scaled by the largest entry: squares of drifts below 1e-154 would underflow.
    let top = (0..len).fold(0.0f64, |m, c| m.max(entry(c).abs()));
    if top == 0.0 || !top.is_finite() {
        return top;
    }
    top * rows.map(|row| row.map(|c| (entry(c) / top).powi(2)).sum::<f64>().sqrt()).fold(0.0, f64::max)
}
