//! Slabs, for the register tile of [`crate::num::tile`].
//!
//! The rows of a matrix lie in slabs: for every vector of rows, one vector per column. A product `A B^T` takes R rows of A, one number of
//! each at a time, against V vectors of rows of B, all sums in registers: whatever is a product here (images, scores, weighted sums,
//! outputs) is this one.

use crate::num::simd::Lanes;
use crate::num::tile;

/// Vectors of one group of rows of B: as many sums as hide the latency, and as registers hold.
pub(super) const MOST: usize = 3;

/// Columns taken at a time: the slabs of a group stay in the first cache, and short sums round less.
pub(super) const DEPTH: usize = 128;

/// Number of groups of three vectors, or two at the end.
pub(super) fn group_count(vectors: usize) -> usize {
    tile::group_count(vectors, MOST)
}

/// First vector and number of vectors of a group; there are two vectors at least.
pub(super) fn group(vectors: usize, g: usize) -> (usize, usize) {
    tile::group(vectors, MOST, g)
}

/// Vectors for so many rows, at least the two of a group.
pub(super) fn vectors(rows: usize, width: usize) -> usize {
    rows.div_ceil(width).max(2)
}

/// V slabs of a group, from and to a column.
#[inline(always)]
pub(super) fn slabs<L: Lanes, const V: usize>(all: &[L::F], first: usize, depth: usize, columns: (usize, usize)) -> [&[L::V]; V] {
    let all = L::view(all);
    let mut out = [&all[..0]; V];
    for v in 0..V {
        out[v] = &all[(first + v) * depth + columns.0..(first + v) * depth + columns.1];
    }
    out
}
