//! Slabs: the packed layout that the register tile of [`crate::num::tile`] reads.
//!
//! The rows of a matrix are stored in slabs: for every vector of rows, one vector per column. A
//! product `A B^T` takes R rows of A, one number of each at a time, against V vectors of rows of B,
//! with all sums in registers. Images, scores, weighted sums and outputs are all computed by this
//! product.

use crate::num::simd::SimdOps;
use crate::num::tile;

/// Largest number of vectors in a group of rows of B: enough sums to hide the latency, few enough
/// to fit the registers.
pub(super) const MAX_VECTORS: usize = 3;

/// Columns per pass: the slabs of a group stay in the L1 cache, and shorter sums have smaller
/// rounding errors.
pub(super) const DEPTH_BLOCK: usize = 128;

/// Number of groups of three vectors; the last groups may have two.
pub(super) fn group_count(vectors: usize) -> usize {
    tile::group_count(vectors, MAX_VECTORS)
}

/// First vector and number of vectors of a group. There are at least two vectors.
pub(super) fn group(vectors: usize, g: usize) -> (usize, usize) {
    tile::group(vectors, MAX_VECTORS, g)
}

/// Number of vectors for this number of rows, at least two.
pub(super) fn vectors(rows: usize, width: usize) -> usize {
    rows.div_ceil(width).max(2)
}

/// The V slabs of a group, restricted to a range of columns.
#[inline(always)]
pub(super) fn slabs<L: SimdOps, const V: usize>(
    all: &[L::F],
    first: usize,
    depth: usize,
    columns: (usize, usize),
) -> [&[L::V]; V] {
    let all = L::view(all);
    let mut out = [&all[..0]; V];
    for v in 0..V {
        out[v] = &all[(first + v) * depth + columns.0..(first + v) * depth + columns.1];
    }
    out
}
