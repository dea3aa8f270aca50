//! Counting pairs by their inner product.

use crate::kernel::fast::gram::{Buffers, LARGEST_N};
use crate::kernel::tiles::squares::{SIDE, Strip};
use crate::kernel::workspace::Workspace;
use crate::num::aligned::Aligned;
use crate::num::simd::Level;
use crate::sphere::Tokens;

/// Number of pairs `j < i` with `<x_i, x_j> >= level`. **Cost** `n^2 d / 2` fused operations.
///
/// ```
/// use metastable::{attention::kernel::{Workspace, pairs_above}, sphere::Tokens};
/// let x = Tokens::from_angles(&[0.0, 0.1, 3.0]).unwrap();
/// assert_eq!(pairs_above(&x, 0.9, &mut Workspace::default()), 1);
/// ```
pub fn pairs_above(x: &Tokens, level: f64, work: &mut Workspace) -> usize {
    let (n, stride, best) = (x.n(), x.n().next_multiple_of(SIDE), Level::best());
    let above = |inner: &[f64]| inner.iter().filter(|inner| **inner >= level).count();
    if n <= LARGEST_N {
        // Layers count pairs of the tokens they move next.
        let (products, stride) = work.of::<Buffers>().gram.products(x, best);
        return products.chunks_exact(stride).take(n).enumerate().map(|(i, row)| above(&row[..i])).sum();
    }
    let Products { strip } = work.of();
    strip.resize(SIDE * stride);
    let mut count = 0;
    for i in (0..n).step_by(SIDE) {
        best.run(Strip { rows: x.coordinates(), d: x.d(), i, out: strip });
        let rows = strip.chunks_exact(stride).enumerate().take(n - i);
        count += rows.map(|(r, inner)| above(&inner[..i + r])).sum::<usize>();
    }
    count
}

/// Inner products of a few rows.
#[derive(Default)]
struct Products {
    strip: Aligned<f64>,
}
