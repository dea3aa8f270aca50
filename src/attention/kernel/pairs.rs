//! Counting pairs by their inner product.

use super::squares::{SIDE, Strip};
use super::workspace::with_workspace;
use crate::num::simd::Level;
use crate::sphere::Tokens;

/// Number of pairs `j < i` with `<x_i, x_j> >= level`. **Cost** `n^2 d / 2` fused operations.
///
/// ```
/// use metastable::{attention::kernel::pairs_above, sphere::Tokens};
/// let x = Tokens::from_angles(&[0.0, 0.1, 3.0]).unwrap();
/// assert_eq!(pairs_above(&x, 0.9), 1);
/// ```
pub fn pairs_above(x: &Tokens, level: f64) -> usize {
    let (n, stride, best) = (x.n(), x.n().next_multiple_of(SIDE), Level::best());
    with_workspace(|space| {
        let strip = &mut space.strip;
        strip.resize(SIDE * stride);
        let mut count = 0;
        for i in (0..n).step_by(SIDE) {
            best.run(Strip { rows: x.coordinates(), d: x.d(), i, out: strip });
            let rows = strip.chunks_exact(stride).enumerate().take(n - i);
            count += rows.map(|(r, inner)| inner[..i + r].iter().filter(|inner| **inner >= level).count()).sum::<usize>();
        }
        count
    })
}
