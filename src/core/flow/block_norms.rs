//! Largest norms of blocks (of tokens), for errors, displacements and speeds.

use super::integrate::OdeSystem;
use std::ops::Range;

/// The blocks of a state of `len` numbers.
pub(super) fn blocks(system: &dyn OdeSystem, len: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let first = start;
        start += system.block(first).clamp(1, len.saturating_sub(first).max(1));
        (first < len).then_some(first..start)
    })
}

/// Largest norm of a row of `d` numbers, of the numbers `entry(0..len)`.
pub(super) fn max_row_norm(len: usize, d: usize, entry: impl Fn(usize) -> f64) -> f64 {
    max_block_norm(len, (0..len).step_by(d).map(|i| i..i + d), entry)
}

/// Largest norm of the given ranges of the numbers `entry(0..len)`.
pub(super) fn max_block_norm(
    len: usize,
    rows: impl Iterator<Item = Range<usize>>,
    entry: impl Fn(usize) -> f64,
) -> f64 {
    // Scaled by the largest entry: squares of drifts below 1e-154 would underflow.
    let top = (0..len).fold(0.0f64, |m, c| m.max(entry(c).abs()));
    if top == 0.0 || !top.is_finite() {
        return top;
    }
    top * rows
        .map(|row| row.map(|c| (entry(c) / top).powi(2)).sum::<f64>().sqrt())
        .fold(0.0, f64::max)
}
