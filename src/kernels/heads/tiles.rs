//! Slabs and the one micro-kernel on them.
//!
//! The rows of a matrix lie in slabs: for every vector of rows, one vector per column. A product `A B^T` takes R rows of A, one number of
//! each at a time, against V vectors of rows of B, all sums in registers: whatever is a product here (images, scores, weighted sums,
//! outputs) is this one.

use crate::num::simd::Lanes;

/// Vectors of one group of rows of B: as many sums as hide the latency, and as registers hold.
pub(super) const MOST: usize = 3;

/// Columns taken at a time: the slabs of a group stay in the first cache, and short sums round less.
pub(super) const DEPTH: usize = 128;

/// Rows of A in registers at a time; divides the width of a vector.
pub(super) const fn rows<L: Lanes>() -> usize {
    if L::WIDTH * std::mem::size_of::<L::F>() == 64 { 8 } else { 4 }
}

/// The number of groups of three vectors, or two at the end.
pub(super) fn group_count(vectors: usize) -> usize {
    vectors.div_ceil(MOST)
}

/// First vector and number of vectors of a group; there are two vectors at least.
pub(super) fn group(vectors: usize, g: usize) -> (usize, usize) {
    let twos = (MOST - vectors % MOST) % MOST;
    let threes = group_count(vectors) - twos;
    if g < threes { (MOST * g, MOST) } else { (MOST * threes + 2 * (g - threes), 2) }
}

/// Vectors for so many rows, at least the two of a group.
pub(super) fn vectors(rows: usize, width: usize) -> usize {
    rows.div_ceil(width).max(2)
}

/// Adds `sum_k a_k b_k`: one number of each of the R rows from `from` of the slab `a`, the vectors of V slabs `b`.
#[inline(always)]
pub(super) fn product<L: Lanes, const R: usize, const V: usize>(
    l: L,
    a: &[L::F],
    from: usize,
    b: [&[L::V]; V],
    mut acc: [[L::V; V]; R],
) -> [[L::V; V]; R] {
    let depth = a.len() / L::WIDTH;
    let mut b = b;
    for b in &mut b {
        *b = &b[..depth];
    }
    for (k, a) in a.chunks_exact(L::WIDTH).enumerate().take(depth) {
        let a = &a[from..from + R];
        for r in 0..R {
            let one = l.splat(a[r]);
            for v in 0..V {
                acc[r][v] = l.fma(one, b[v][k], acc[r][v]);
            }
        }
    }
    acc
}

/// The same with the V vectors side by side.
#[inline(always)]
pub(super) fn product_of_tile<L: Lanes, const R: usize, const V: usize>(l: L, a: &[L::F], from: usize, b: &[[L::V; V]]) -> [[L::V; V]; R] {
    let mut acc = [[l.zero(); V]; R];
    for (a, b) in a.chunks_exact(L::WIDTH).zip(b) {
        let a = &a[from..from + R];
        for r in 0..R {
            let one = l.splat(a[r]);
            for v in 0..V {
                acc[r][v] = l.fma(one, b[v], acc[r][v]);
            }
        }
    }
    acc
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

/// Up to a vector of rows of `d` numbers into a slab; lanes without a row are 0.
#[inline(always)]
pub(super) fn fill<L: Lanes>(l: L, rows: &[f64], d: usize, slab: &mut [L::V]) {
    let whole = if rows.len() == L::WIDTH * d { d - d % L::WIDTH } else { 0 };
    for first in (0..whole).step_by(L::WIDTH) {
        l.transpose(&rows[first..], d, &mut slab[first..]);
    }
    for (k, out) in slab.iter_mut().enumerate().skip(whole) {
        let mut column = [0.0; 16];
        for (c, row) in column.iter_mut().zip(rows.chunks_exact(d)) {
            *c = row[k];
        }
        *out = l.load(&column);
    }
}
