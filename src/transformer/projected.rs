//! Heads as trained: queries, keys and values with biases, an output matrix, keys and values shared by groups of heads.

use super::linear::ROWS;
use super::{Linear, Real};
use crate::attention::pattern::{Extent, Pattern};
use crate::error::{Error, Result};
use crate::num::simd::{Lanes, Level, Task};
use crate::num::threads::parallel_allowed;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;
use std::f64::consts::LOG2_E;
use std::sync::Arc;

/// How many heads there are, and how many share keys and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grouping {
    /// Heads.
    pub heads: usize,
    /// Sets of keys and values; head h reads set `h / (heads / sets)`.
    pub sets: usize,
}

/// `b_o + W_o concat_h sum_j P^h_ij (W_v^h y_j + b_v^h)`, `P^h = softmax_j(<R_i q_i, R_j k_j> / sqrt r + b_ij)`, with r rows of each head's `W_q`.
#[derive(Clone)]
pub struct Projected<T = f64> {
    /// `W_q`, the rows of head h from `h r` on.
    pub query: Linear<T>,
    /// `W_k`.
    pub key: Linear<T>,
    /// `W_v`.
    pub value: Linear<T>,
    /// `W_o`, the columns of head h from `h s` on.
    pub output: Linear<T>,
    /// Heads.
    pub grouping: Grouping,
    /// Masks, biases, rotary positions.
    pub pattern: Arc<dyn Pattern>,
}

/// What attention gives.
#[derive(Clone, Debug)]
pub struct Attended<T> {
    /// `n x d`.
    pub out: Vec<T>,
    /// Weights, heads x n x m; empty when they were not asked for.
    pub weights: Vec<T>,
}

impl<T: Real> Projected<T> {
    /// Heads of these maps.
    ///
    /// **Errors** shapes that do not fit: names `place`.
    pub fn new(place: &str, [query, key, value, output]: [Linear<T>; 4], grouping: Grouping, pattern: Arc<dyn Pattern>) -> Result<Self> {
        let Grouping { heads, sets } = grouping;
        let fits = heads > 0
            && sets > 0
            && heads.is_multiple_of(sets)
            && query.outputs().is_multiple_of(heads)
            && key.outputs() == query.outputs() / heads * sets
            && value.outputs().is_multiple_of(sets)
            && output.inputs() == value.outputs() / sets * heads
            && key.inputs() == value.inputs();
        if !fits {
            let found = format!(
                "{heads} heads with {sets} sets of keys, W_q {} x {}, W_k {} x {}, W_v {} x {}, W_o {} x {}",
                query.outputs(),
                query.inputs(),
                key.outputs(),
                key.inputs(),
                value.outputs(),
                value.inputs(),
                output.outputs(),
                output.inputs()
            );
            return Err(Error::parameter(
                place,
                found,
                "heads x r rows of W_q, sets x r of W_k, sets x s of W_v, heads x s columns of W_o",
            ));
        }
        Ok(Self { query, key, value, output, grouping, pattern })
    }

    /// The same numbers in another precision.
    pub fn rounded<U: Real>(&self) -> Projected<U> {
        Projected {
            query: self.query.rounded(),
            key: self.key.rounded(),
            value: self.value.rounded(),
            output: self.output.rounded(),
            grouping: self.grouping,
            pattern: self.pattern.clone(),
        }
    }

    /// Rows of a head's `W_q`.
    pub fn rank(&self) -> usize {
        self.query.outputs() / self.grouping.heads
    }

    /// Rows of a head's `W_v`.
    pub fn size(&self) -> usize {
        self.value.outputs() / self.grouping.sets
    }

    /// Number of parameters.
    pub fn len(&self) -> usize {
        [&self.query, &self.key, &self.value, &self.output].iter().map(|l| l.len()).sum()
    }

    /// Never.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// What the pattern needs to know of these tokens.
    pub fn extent(&self, queries: usize, sources: usize) -> Extent {
        Extent { heads: self.grouping.heads, queries, sources, ranks: (self.rank(), self.rank()) }
    }

    /// Output for queries x (n x d) over sources y (m x d'), with the weights where they are wanted. A query that sees nothing gets `b_o` alone.
    ///
    /// **Accuracy** some `10 u (1 + |logit|)` of the largest entry. **Cost** `2 n` operations a weight of the maps and `2 n m (r + s)` a head.
    /// **Errors** a pattern made for something else.
    pub fn attend(&self, x: &[T], y: &[T], keep: bool) -> Result<Attended<T>> {
        let (n, m) = (x.len() / self.query.inputs(), y.len() / self.key.inputs());
        self.pattern.check(&self.extent(n, m))?;
        let mut q = self.query.apply(x);
        let (mut k, v) = (self.key.apply(y), self.value.apply(y));
        self.place(&mut q, self.grouping.heads, 0);
        self.place(&mut k, self.grouping.sets, 0);
        let (mixed, weights) = self.mix(&q, &k, &v, keep);
        Ok(Attended { out: self.output.apply(&mixed), weights })
    }

    /// Places rows of so many images each, of the tokens from `first` on.
    pub(super) fn place(&self, images: &mut [T], each: usize, first: usize) {
        if !self.pattern.turns() {
            return;
        }
        let rank = self.rank();
        let mut wide = vec![0.0; rank];
        for (i, row) in images.chunks_exact_mut(each * rank).enumerate() {
            for image in row.chunks_exact_mut(rank) {
                wide.iter_mut().zip(&*image).for_each(|(w, v)| *w = v.to_f64());
                self.pattern.place(first + i, &mut wide);
                image.iter_mut().zip(&wide).for_each(|(v, w)| *v = T::of(*w));
            }
        }
    }

    /// `sum_j P_ij v_j` of all heads (n x heads s), and the weights.
    pub(super) fn mix(&self, q: &[T], k: &[T], v: &[T], keep: bool) -> (Vec<T>, Vec<T>) {
        let Grouping { heads, sets } = self.grouping;
        let (r, s) = (self.rank(), self.size());
        let (n, m) = (q.len() / (heads * r), k.len() / (sets * r));
        let padded = m.next_multiple_of(ROWS);
        let keys: Vec<Vec<T>> = (0..sets).map(|g| columns(k, sets * r, g * r, r, padded)).collect();
        let values: Vec<Vec<T>> = (0..sets).map(|g| columns(v, sets * s, g * s, s, padded)).collect();
        let piece = |c: usize| {
            let rows = ROWS.min(n - c * ROWS);
            let mut out = vec![T::of(0.0); rows * heads * s];
            let mut kept = vec![T::of(0.0); if keep { heads * rows * m } else { 0 }];
            for h in 0..heads {
                let g = h / (heads / sets);
                let queries = columns(&q[c * ROWS * heads * r..(c * ROWS + rows) * heads * r], heads * r, h * r, r, ROWS);
                let (tile, from) = self.weights_of(h, (c * ROWS, rows, m), &queries, &keys[g]);
                let width = tile.len() / ROWS;
                let mut mixed = vec![T::of(0.0); ROWS * s];
                matmul(
                    MatMut::from_row_major_slice_mut(&mut mixed, ROWS, s),
                    Accum::Replace,
                    MatRef::from_row_major_slice(&tile, ROWS, width),
                    MatRef::from_row_major_slice(&values[g][from * s..(from + width) * s], width, s),
                    T::of(1.0),
                    Par::Seq,
                );
                for i in 0..rows {
                    out[(i * heads + h) * s..][..s].copy_from_slice(&mixed[i * s..][..s]);
                    if keep {
                        let len = width.min(m - from);
                        kept[(h * rows + i) * m + from..][..len].copy_from_slice(&tile[i * width..][..len]);
                    }
                }
            }
            (out, kept)
        };
        let pieces: Vec<(Vec<T>, Vec<T>)> = if n > ROWS && parallel_allowed() {
            (0..n.div_ceil(ROWS)).into_par_iter().map(piece).collect()
        } else {
            (0..n.div_ceil(ROWS)).map(piece).collect()
        };
        let mut weights = vec![T::of(0.0); if keep { heads * n * m } else { 0 }];
        for (c, (_, kept)) in pieces.iter().enumerate().filter(|_| keep) {
            let rows = ROWS.min(n - c * ROWS);
            for h in 0..heads {
                weights[(h * n + c * ROWS) * m..][..rows * m].copy_from_slice(&kept[h * rows * m..][..rows * m]);
            }
        }
        (pieces.into_iter().flat_map(|p| p.0).collect(), weights)
    }

    /// Softmax weights of a piece of queries (filled up to [`ROWS`]) at the sources from the second result on, whose number is a multiple of [`ROWS`].
    fn weights_of(&self, head: usize, (first, rows, m): (usize, usize, usize), queries: &[T], keys: &[T]) -> (Vec<T>, usize) {
        let r = self.rank();
        let seen: Vec<_> = (first..first + rows).map(|i| self.pattern.seen(i, m)).collect();
        let (from, to) = seen.iter().filter(|s| s.start < s.end).fold((m, 0), |(a, b), s| (a.min(s.start), b.max(s.end.min(m))));
        let (from, to) = (from.min(to) / ROWS * ROWS, to.next_multiple_of(ROWS));
        let width = to - from;
        let mut tile = vec![T::of(0.0); ROWS * width];
        matmul(
            MatMut::from_row_major_slice_mut(&mut tile, ROWS, width),
            Accum::Replace,
            MatRef::from_row_major_slice(queries, ROWS, r),
            MatRef::from_row_major_slice(&keys[from * r..to * r], width, r).transpose(),
            T::of(1.0 / (r as f64).sqrt()),
            Par::Seq,
        );
        let lowest = T::of(f64::NEG_INFINITY);
        let biased = self.pattern.form(head) != crate::attention::pattern::Bias::Absent;
        let mut biases = vec![0.0; if biased { m } else { 0 }];
        for (i, (row, seen)) in tile.chunks_exact_mut(width.max(1)).zip(&seen).enumerate() {
            if biased {
                self.pattern.biases(head, first + i, 0, &mut biases);
                row.iter_mut().zip(&biases[from..]).for_each(|(v, b)| *v += T::of(*b));
            }
            let (a, b) = (seen.start.max(from) - from, seen.end.min(m).max(from) - from);
            row[..a.min(b)].fill(lowest);
            row[b..].fill(lowest);
        }
        Level::best().run(Softmax { tile: &mut tile[..rows * width], width });
        (tile, from)
    }
}

/// Columns `from..from + count` of rows of `stride` numbers, filled up with rows of zeros.
pub(super) fn columns<T: Real>(a: &[T], stride: usize, from: usize, count: usize, rows: usize) -> Vec<T> {
    let mut out = vec![T::of(0.0); rows * count];
    out.chunks_exact_mut(count).zip(a.chunks_exact(stride)).for_each(|(o, row)| o.copy_from_slice(&row[from..from + count]));
    out
}

/// Softmax of rows, whose width is a multiple of every vector; rows of minus infinity become 0.
struct Softmax<'a, T> {
    tile: &'a mut [T],
    width: usize,
}

impl<T: Real> Task for Softmax<'_, T> {
    type F = T;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = T>>(self, l: L) {
        for row in self.tile.chunks_exact_mut(self.width.max(1)) {
            let row = L::view_mut(row);
            let top = row.iter().fold(l.splat(T::of(f64::NEG_INFINITY)), |m, v| l.max(m, *v));
            let top = l.largest(top).to_f64();
            if top == f64::NEG_INFINITY {
                row.fill(l.zero());
                continue;
            }
            let (shift, scale) = (l.constant(top), l.constant(LOG2_E));
            let mut sum = l.zero();
            for v in row.iter_mut() {
                *v = l.exp2(l.mul(l.sub(*v, shift), scale));
                sum = l.add(sum, *v);
            }
            let factor = l.constant(1.0 / l.sum(sum).to_f64());
            row.iter_mut().for_each(|v| *v = l.mul(*v, factor));
        }
    }
}

impl Projected<f64> {
    /// What head h alone adds, `W_o^h sum_j P_ij (W_v^h y_j + b_v^h)`, for weights (n x m) that it had.
    pub fn of_head(&self, h: usize, weights: &[f64], y: &[f64]) -> Vec<f64> {
        let (s, sets) = (self.size(), self.grouping.sets);
        let g = h / (self.grouping.heads / sets);
        let values = self.value.apply(y);
        let m = values.len() / (sets * s);
        let n = weights.len() / m;
        let mut mixed = vec![0.0; n * self.output.inputs()];
        for (row, weights) in mixed.chunks_exact_mut(self.output.inputs()).zip(weights.chunks_exact(m)) {
            let out = &mut row[h * s..(h + 1) * s];
            for (w, v) in weights.iter().zip(values.chunks_exact(sets * s)).filter(|(w, _)| **w > 0.0) {
                out.iter_mut().zip(&v[g * s..(g + 1) * s]).for_each(|(o, v)| *o += w * v);
            }
        }
        self.output.push(&mixed)
    }
}
