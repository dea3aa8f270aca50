//! The kernel matrix of Sinkhorn weights and sums over its rows. Rows know nothing of each other, so that bytes depend on no thread.

#![allow(clippy::needless_range_loop, reason = "arrays of registers: loops over constants that must unroll")]

use crate::num::aligned::Aligned;
use crate::num::simd::{Lanes, Level, Task};
use crate::num::threads::parallel_allowed;
use crate::sphere::Tokens;
use rayon::prelude::*;

/// Pairs from which on threads share the rows.
pub(super) const PARALLEL_PAIRS: usize = 1 << 16;
/// Parts that threads share.
const PARTS: usize = 8;
/// Rows of whole vectors, an even number of them at every level.
const GRAIN: usize = 16;
/// Rows taken together.
const ROWS: usize = 4;
/// Coordinates taken together.
const COLUMNS: usize = 4;

/// `k_ij = e^{-beta |x_i - x_j|^2 / 2}`.
#[derive(Default)]
pub(super) struct Matrix {
    n: usize,
    d: usize,
    /// Numbers per row and per coordinate.
    stride: usize,
    kernel: Aligned<f64>,
    /// Coordinates of all tokens, one after the other; zeros at the end of each.
    columns: Aligned<f64>,
}

impl Matrix {
    /// That of these tokens. **Cost** `n^2` exponentials, `2 n^2 d` operations.
    pub fn fill(&mut self, x: &Tokens, beta: f64, level: Level) {
        (self.n, self.d, self.stride) = (x.n(), x.d(), x.n().next_multiple_of(GRAIN));
        let stride = self.stride;
        self.columns.reset(self.d * stride);
        for (j, row) in x.rows().enumerate() {
            row.iter().enumerate().for_each(|(k, x)| self.columns[k * stride + j] = *x);
        }
        self.kernel.resize(self.n * stride);
        let (columns, rate) = (&self.columns, -0.5 * beta * std::f64::consts::LOG2_E);
        each(self.n, stride, &mut self.kernel, |first, out| {
            let rows = &x.coordinates()[first * x.d()..];
            level.run(Fill { rows, d: x.d(), columns, stride, rate, out });
        });
    }

    /// Numbers in a vector to multiply by: zeros after the first n.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// `K v`.
    pub fn times(&self, v: &[f64], level: Level, out: &mut [f64]) {
        each(self.n, 1, out, |first, out| {
            let kernel = &self.kernel[first * self.stride..][..out.len() * self.stride];
            level.run(Product { kernel, v, out });
        });
    }

    /// `sum_j k_ij v_j (x_j - x_i)`, or without `x_i`, for all i.
    pub fn moments(&self, x: &Tokens, v: &[f64], differences: bool, level: Level, out: &mut [f64]) {
        each(self.n, self.d, out, |first, out| {
            for (i, out) in (first..).zip(out.chunks_exact_mut(self.d)) {
                let kernel = &self.kernel[i * self.stride..][..self.stride];
                let own = differences.then(|| x.row(i));
                level.run(Moments { kernel, v, columns: &self.columns, own, out });
            }
        });
    }
}

/// Runs `work` on parts of `out`, `width` numbers for each of n rows, with the first row of the part.
fn each(n: usize, width: usize, out: &mut [f64], work: impl Fn(usize, &mut [f64]) + Sync) {
    if n * n < PARALLEL_PAIRS || !parallel_allowed() {
        return work(0, out);
    }
    let rows = n.div_ceil(PARTS).next_multiple_of(ROWS);
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

impl Task for Fill<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        let Self { rows, d, columns, stride, rate, out } = self;
        let (columns, vectors) = (L::view(columns), stride / L::WIDTH);
        for (x, out) in rows.chunks(ROWS * d).zip(L::view_mut(out).chunks_mut(ROWS * vectors)) {
            // The last row once more where there are fewer.
            let last = x.len() / d - 1;
            let own: [&[f64]; ROWS] = std::array::from_fn(|r| &x[r.min(last) * d..][..d]);
            for v in 0..vectors {
                let mut t = [l.zero(); ROWS];
                for k in 0..d {
                    let column = columns[k * vectors + v];
                    for r in 0..ROWS {
                        let q = l.sub(column, l.splat(own[r][k]));
                        t[r] = l.fma(q, q, t[r]);
                    }
                }
                for r in 0..ROWS {
                    t[r] = l.mul(t[r], l.splat(rate));
                }
                let w = l.exp2_each::<ROWS, false>(t);
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

impl Task for Product<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        let v = L::view(self.v);
        for (rows, out) in L::view(self.kernel).chunks(ROWS * v.len()).zip(self.out.chunks_mut(ROWS)) {
            let last = out.len() - 1;
            let rows: [&[L::V]; ROWS] = std::array::from_fn(|r| &rows[r.min(last) * v.len()..][..v.len()]);
            let mut sums = [[l.zero(); 2]; ROWS];
            for (k, v) in v.as_chunks::<2>().0.iter().enumerate() {
                for r in 0..ROWS {
                    sums[r][0] = l.fma(rows[r][2 * k], v[0], sums[r][0]);
                    sums[r][1] = l.fma(rows[r][2 * k + 1], v[1], sums[r][1]);
                }
            }
            out.iter_mut().zip(sums).for_each(|(out, [a, b])| *out = l.sum(l.add(a, b)));
        }
    }
}

struct Moments<'a> {
    kernel: &'a [f64],
    v: &'a [f64],
    columns: &'a [f64],
    own: Option<&'a [f64]>,
    out: &'a mut [f64],
}

impl Task for Moments<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        let Self { kernel, v, columns, own, out } = self;
        let (kernel, v, columns) = (L::view(kernel), L::view(v), L::view(columns));
        for (first, out) in (0..).step_by(COLUMNS).zip(out.chunks_mut(COLUMNS)) {
            let last = out.len() - 1;
            let columns: [&[L::V]; COLUMNS] = std::array::from_fn(|c| &columns[(first + c.min(last)) * v.len()..][..v.len()]);
            let own: [L::V; COLUMNS] = std::array::from_fn(|c| l.splat(own.map_or(0.0, |x| x[first + c.min(last)])));
            let mut sums = [l.zero(); COLUMNS];
            for (j, (k, v)) in kernel.iter().zip(v).enumerate() {
                let w = l.mul(*k, *v);
                for c in 0..COLUMNS {
                    sums[c] = l.fma(w, l.sub(columns[c][j], own[c]), sums[c]);
                }
            }
            out.iter_mut().zip(sums).for_each(|(out, s)| *out = l.sum(s));
        }
    }
}
