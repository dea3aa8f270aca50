//! Counts pairs by their inner product.

use crate::kernel::fast::gram::{Buffers, MAX_N};
use crate::kernel::tiles::gram_strip::{GramStrip, STRIP_ROWS};
use crate::kernel::workspace::Workspace;
use crate::num::aligned::AlignedVec;
use crate::num::simd::Isa;
use crate::sphere::Tokens;

/// Number of pairs `j < i` with `<x_i, x_j> >= threshold`. **Cost** `n^2 d / 2` fused operations.
///
/// ```
/// use metastable::{attention::kernel::{Workspace, pairs_above}, sphere::Tokens};
/// let x = Tokens::from_angles(&[0.0, 0.1, 3.0]).unwrap();
/// assert_eq!(pairs_above(&x, 0.9, &mut Workspace::default()), 1);
/// ```
pub fn pairs_above(x: &Tokens, threshold: f64, work: &mut Workspace) -> usize {
    let (n, stride, isa) = (x.n(), x.n().next_multiple_of(STRIP_ROWS), Isa::best());
    let above = |inner: &[f64]| inner.iter().filter(|inner| **inner >= threshold).count();
    if n <= MAX_N {
        // The Gram matrix is reused by the next layer, which moves the same tokens.
        let (products, stride) = work.buffers::<Buffers>().gram.products(x, isa);
        return products
            .chunks_exact(stride)
            .take(n)
            .enumerate()
            .map(|(i, row)| above(&row[..i]))
            .sum();
    }
    let Products { strip } = work.buffers();
    strip.resize(STRIP_ROWS * stride);
    let mut count = 0;
    for i in (0..n).step_by(STRIP_ROWS) {
        isa.run(GramStrip { rows: x.coordinates(), d: x.d(), i, out: strip });
        let rows = strip.chunks_exact(stride).enumerate().take(n - i);
        count += rows.map(|(r, inner)| above(&inner[..i + r])).sum::<usize>();
    }
    count
}

/// Inner products of a few rows.
#[derive(Default)]
struct Products {
    strip: AlignedVec<f64>,
}
