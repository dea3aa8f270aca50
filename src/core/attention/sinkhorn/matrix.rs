//! The kernel matrix of Sinkhorn weights and sums over its rows. Rows are computed independently,
//! so results do not depend on the number of threads.

#![allow(
    clippy::needless_range_loop,
    reason = "arrays of registers: loops over constants that must unroll"
)]

use crate::num::aligned::AlignedVec;
use crate::num::simd::{Isa, SimdKernel, SimdOps};
use crate::num::threads::parallel_allowed;
use crate::sphere::Tokens;
use rayon::prelude::*;

/// Number of pairs from which several threads are used.
pub(super) const PARALLEL_PAIRS: usize = 1 << 16;
/// Number of blocks of rows that are distributed over threads.
const BLOCKS: usize = 8;
/// Rows are padded to a multiple of this: an even number of vectors for every instruction set.
const STRIDE_MULTIPLE: usize = 16;
/// Rows in one register tile.
const ROW_TILE: usize = 4;
/// Coordinates in one register tile.
const COLUMN_TILE: usize = 4;

/// `k_ij = e^{-beta |x_i - x_j|^2 / 2}`.
#[derive(Default)]
pub(super) struct KernelMatrix {
    n: usize,
    d: usize,
    /// Padded length of a row of the kernel and of a column of coordinates.
    stride: usize,
    kernel: AlignedVec<f64>,
    /// Coordinate-major tokens: for each coordinate the values of all tokens, padded with zeros.
    columns: AlignedVec<f64>,
}

impl KernelMatrix {
    /// Computes the matrix of these tokens. **Cost** `n^2` exponentials, `2 n^2 d` operations.
    pub fn fill(&mut self, x: &Tokens, beta: f64, isa: Isa) {
        (self.n, self.d, self.stride) = (x.n(), x.d(), x.n().next_multiple_of(STRIDE_MULTIPLE));
        let stride = self.stride;
        self.columns.reset(self.d * stride);
        for (j, row) in x.rows().enumerate() {
            row.iter().enumerate().for_each(|(k, x)| self.columns[k * stride + j] = *x);
        }
        self.kernel.resize(self.n * stride);
        let (columns, rate) = (&self.columns, -0.5 * beta * std::f64::consts::LOG2_E);
        for_each_block(self.n, stride, &mut self.kernel, |first, out| {
            let rows = &x.coordinates()[first * x.d()..];
            isa.run(Fill { rows, d: x.d(), columns, stride, rate, out });
        });
    }

    /// Length of the vectors that the matrix multiplies; entries after the first n are 0.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// `K v`.
    pub fn times(&self, v: &[f64], isa: Isa, out: &mut [f64]) {
        for_each_block(self.n, 1, out, |first, out| {
            let kernel = &self.kernel[first * self.stride..][..out.len() * self.stride];
            isa.run(Product { kernel, v, out });
        });
    }

    /// `sum_j k_ij v_j (x_j - x_i)` for all i; without `x_i` unless `differences`.
    pub fn weighted_sums(
        &self,
        x: &Tokens,
        v: &[f64],
        differences: bool,
        isa: Isa,
        out: &mut [f64],
    ) {
        for_each_block(self.n, self.d, out, |first, out| {
            for (i, out) in (first..).zip(out.chunks_exact_mut(self.d)) {
                let kernel = &self.kernel[i * self.stride..][..self.stride];
                let origin = differences.then(|| x.row(i));
                isa.run(WeightedSums { kernel, v, columns: &self.columns, origin, out });
            }
        });
    }
}

/// Runs `work` on blocks of `out`, which has `width` numbers for each of n rows. `work` gets the
/// first row of the block and its numbers.
fn for_each_block(
    n: usize,
    width: usize,
    out: &mut [f64],
    work: impl Fn(usize, &mut [f64]) + Sync,
) {
    if n * n < PARALLEL_PAIRS || !parallel_allowed() {
        return work(0, out);
    }
    let rows = n.div_ceil(BLOCKS).next_multiple_of(ROW_TILE);
    out.par_chunks_mut(rows * width).enumerate().for_each(|(part, out)| work(part * rows, out));
}

struct Fill<'a> {
    rows: &'a [f64],
    d: usize,
    columns: &'a [f64],
    stride: usize,
    rate: f64,
    out: &'a mut [f64],
}

impl SimdKernel for Fill<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        let Self { rows, d, columns, stride, rate, out } = self;
        let (columns, vectors) = (L::view(columns), stride / L::WIDTH);
        for (x, out) in
            rows.chunks(ROW_TILE * d).zip(L::view_mut(out).chunks_mut(ROW_TILE * vectors))
        {
            // An incomplete tile repeats its last row.
            let last = x.len() / d - 1;
            let tile: [&[f64]; ROW_TILE] = std::array::from_fn(|r| &x[r.min(last) * d..][..d]);
            for v in 0..vectors {
                let mut t = [l.zero(); ROW_TILE];
                for k in 0..d {
                    let column = columns[k * vectors + v];
                    for r in 0..ROW_TILE {
                        let q = l.sub(column, l.splat(tile[r][k]));
                        t[r] = l.fma(q, q, t[r]);
                    }
                }
                for r in 0..ROW_TILE {
                    t[r] = l.mul(t[r], l.splat(rate));
                }
                let w = l.exp2_array::<ROW_TILE, false>(t);
                for r in 0..=last {
                    out[r * vectors + v] = w[r];
                }
            }
        }
    }
}

struct Product<'a> {
    kernel: &'a [f64],
    v: &'a [f64],
    out: &'a mut [f64],
}

impl SimdKernel for Product<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        let v = L::view(self.v);
        for (rows, out) in
            L::view(self.kernel).chunks(ROW_TILE * v.len()).zip(self.out.chunks_mut(ROW_TILE))
        {
            let last = out.len() - 1;
            let rows: [&[L::V]; ROW_TILE] =
                std::array::from_fn(|r| &rows[r.min(last) * v.len()..][..v.len()]);
            let mut sums = [[l.zero(); 2]; ROW_TILE];
            for (k, v) in v.as_chunks::<2>().0.iter().enumerate() {
                for r in 0..ROW_TILE {
                    sums[r][0] = l.fma(rows[r][2 * k], v[0], sums[r][0]);
                    sums[r][1] = l.fma(rows[r][2 * k + 1], v[1], sums[r][1]);
                }
            }
            out.iter_mut().zip(sums).for_each(|(out, [a, b])| *out = l.sum(l.add(a, b)));
        }
    }
}

struct WeightedSums<'a> {
    kernel: &'a [f64],
    v: &'a [f64],
    columns: &'a [f64],
    origin: Option<&'a [f64]>,
    out: &'a mut [f64],
}

impl SimdKernel for WeightedSums<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        let Self { kernel, v, columns, origin, out } = self;
        let (kernel, v, columns) = (L::view(kernel), L::view(v), L::view(columns));
        for (first, out) in (0..).step_by(COLUMN_TILE).zip(out.chunks_mut(COLUMN_TILE)) {
            let last = out.len() - 1;
            let columns: [&[L::V]; COLUMN_TILE] =
                std::array::from_fn(|c| &columns[(first + c.min(last)) * v.len()..][..v.len()]);
            let origin: [L::V; COLUMN_TILE] =
                std::array::from_fn(|c| l.splat(origin.map_or(0.0, |x| x[first + c.min(last)])));
            let mut sums = [l.zero(); COLUMN_TILE];
            for (j, (k, v)) in kernel.iter().zip(v).enumerate() {
                let w = l.mul(*k, *v);
                for c in 0..COLUMN_TILE {
                    sums[c] = l.fma(w, l.sub(columns[c][j], origin[c]), sums[c]);
                }
            }
            out.iter_mut().zip(sums).for_each(|(out, s)| *out = l.sum(s));
        }
    }
}
