//! The attention of trained models: queries, keys and values with biases, an output matrix, keys
//! and values shared by groups of heads (grouped-query attention).
//!
//! [`crate::attention::heads`] is another algorithm: it reads tokens, has queries in lanes, and
//! recomputes inaccurate rows. Here keys and values may be those of earlier calls, sources are in
//! lanes, and weights can be kept. A test compares the two algorithms.

use super::{Float, Linear};
use crate::attention::dense::gemm::{MatrixRows, PackedMatrix, ROWS, par_rows};
use crate::attention::pattern::{AttentionShape, BiasForm, Pattern};
use crate::error::{Error, Result};
use crate::num::simd::{Isa, SimdKernel, SimdOps};
use crate::num::threads::parallel_allowed;
use rayon::prelude::*;
use std::f64::consts::LOG2_E;
use std::ops::Range;
use std::sync::Arc;

/// Numbers of heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grouping {
    /// Heads of queries.
    pub heads: usize,
    /// Heads of keys and values.
    pub kv_heads: usize,
}

impl Grouping {
    /// The head of keys and values that query head h reads.
    pub(super) fn source_head(self, h: usize) -> usize {
        h / (self.heads / self.kv_heads)
    }
}

/// `b_o + W_o concat_h sum_j P^h_ij (W_v^h y_j + b_v^h)`,
/// `P^h = softmax_j(<R_i q_i, R_j k_j> / sqrt r + b_ij)`, with r rows of each head's `W_q`.
#[derive(Clone)]
pub struct AttentionLayer<T = f64> {
    /// `W_q`; the rows of head h begin at `h r`.
    pub query: Linear<T>,
    /// `W_k`.
    pub key: Linear<T>,
    /// `W_v`.
    pub value: Linear<T>,
    /// `W_o`; the columns of head h begin at `h s`.
    pub output: Linear<T>,
    /// Numbers of heads.
    pub grouping: Grouping,
    /// Masks, biases, rotary positions.
    pub pattern: Arc<dyn Pattern>,
}

/// The result of attention.
#[derive(Clone, Debug)]
pub struct AttentionOutput<T> {
    /// Outputs, n x d.
    pub out: Vec<T>,
    /// Weights, heads x n x m; empty unless requested.
    pub weights: Vec<T>,
}

impl<T: Float> AttentionLayer<T> {
    /// A layer of these maps. `place` is its name in errors.
    ///
    /// **Errors** shapes that do not fit.
    pub fn new(
        place: &str,
        [query, key, value, output]: [Linear<T>; 4],
        grouping: Grouping,
        pattern: Arc<dyn Pattern>,
    ) -> Result<Self> {
        let Grouping { heads, kv_heads } = grouping;
        let fits = heads > 0
            && kv_heads > 0
            && heads.is_multiple_of(kv_heads)
            && query.outputs().is_multiple_of(heads)
            && key.outputs() == query.outputs() / heads * kv_heads
            && value.outputs().is_multiple_of(kv_heads)
            && output.inputs() == value.outputs() / kv_heads * heads
            && key.inputs() == value.inputs();
        if !fits {
            let found = format!(
                "{heads} heads with {kv_heads} heads of keys, W_q {} x {}, W_k {} x {}, W_v {} x {}, W_o {} x {}",
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
                "heads x r rows of W_q, key heads x r of W_k, key heads x s of W_v, heads x s columns of W_o",
            ));
        }
        Ok(Self { query, key, value, output, grouping, pattern })
    }

    /// The layer in another precision.
    pub fn rounded<U: Float>(&self) -> AttentionLayer<U> {
        AttentionLayer {
            query: self.query.rounded(),
            key: self.key.rounded(),
            value: self.value.rounded(),
            output: self.output.rounded(),
            grouping: self.grouping,
            pattern: self.pattern.clone(),
        }
    }

    /// Rows of `W_q` per head, r.
    pub fn rank(&self) -> usize {
        self.query.outputs() / self.grouping.heads
    }

    /// Rows of `W_v` per head, s.
    pub fn size(&self) -> usize {
        self.value.outputs() / self.grouping.kv_heads
    }

    /// The factor of inner products in the logits, `1 / sqrt r`.
    pub(super) fn logit_factor(&self) -> f64 {
        1.0 / (self.rank() as f64).sqrt()
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        [&self.query, &self.key, &self.value, &self.output].iter().map(|l| l.parameters()).sum()
    }

    /// The sizes that the pattern is checked against.
    pub fn extent(&self, queries: usize, sources: usize) -> AttentionShape {
        AttentionShape {
            heads: self.grouping.heads,
            queries,
            sources,
            ranks: (self.rank(), self.rank()),
        }
    }

    /// Output for queries x (n x d) over sources y (m x d'). `keep` requests the weights. A query
    /// without visible sources gets `b_o`.
    ///
    /// **Accuracy** some `10 u (1 + |logit|)` of the largest entry. **Cost** `2 n` operations per
    /// weight of the maps and `2 n m (r + s)` per head. **Errors** a pattern for other sizes.
    pub fn attend(&self, x: &[T], y: &[T], keep: bool) -> Result<AttentionOutput<T>> {
        self.pattern
            .check(&self.extent(x.len() / self.query.inputs(), y.len() / self.key.inputs()))?;
        let [q, k, v] = self.project(x, y, 0);
        Ok(self.attend_images(&q, &k, &v, 0, keep))
    }

    /// Queries of x, keys and values of y, for positions from `first` on.
    pub(super) fn project(&self, x: &[T], y: &[T], first: usize) -> [Vec<T>; 3] {
        let (mut q, mut k) = (self.query.apply(x), self.key.apply(y));
        self.rotate(&mut q, self.grouping.heads, first);
        self.rotate(&mut k, self.grouping.kv_heads, first);
        [q, k, self.value.apply(y)]
    }

    /// Applies rotary positions to rows of `each` vectors, for positions from `first` on.
    pub(super) fn rotate(&self, images: &mut [T], each: usize, first: usize) {
        if !self.pattern.is_rotary() {
            return;
        }
        let rank = self.rank();
        let mut wide = vec![0.0; rank];
        for (i, row) in images.chunks_exact_mut(each * rank).enumerate() {
            for image in row.chunks_exact_mut(rank) {
                wide.iter_mut().zip(&*image).for_each(|(w, v)| *w = v.to_f64());
                self.pattern.rotate(first + i, &mut wide);
                image.iter_mut().zip(&wide).for_each(|(v, w)| *v = T::from_f64(*w));
            }
        }
    }

    /// [`Self::attend`] for queries, keys and values; the first query has the index `first`.
    pub(super) fn attend_images(
        &self,
        q: &[T],
        k: &[T],
        v: &[T],
        first: usize,
        keep: bool,
    ) -> AttentionOutput<T> {
        let Grouping { heads, kv_heads } = self.grouping;
        let (r, s) = (self.rank(), self.size());
        let (n, m) = (q.len() / (heads * r), k.len() / (kv_heads * r));
        let packed_head = |g: usize| {
            let of =
                |numbers, width: usize| MatrixRows { numbers, stride: kv_heads * width, count: m };
            (
                PackedMatrix::from_columns(&of(&k[g * r..], r), r),
                PackedMatrix::from_rows(&of(&v[g * s..], s), s),
            )
        };
        let shared = m * (r + s) > 1 << 12 && parallel_allowed();
        let packed: Vec<_> = if shared {
            (0..kv_heads).into_par_iter().map(packed_head).collect()
        } else {
            (0..kv_heads).map(packed_head).collect()
        };
        let (out, weights_size) = (heads * s, if keep { heads * m } else { 0 });
        let rows = (TILE_SIZE / m.max(1)).clamp(8, ROWS) / 8 * 8;
        let buffer = || vec![T::default(); rows * m.next_multiple_of(VECTOR)];
        let both = par_rows(
            q,
            (heads * r, out + weights_size),
            heads * m * (r + s),
            rows,
            buffer,
            |tile, row, queries, both| {
                for h in 0..heads {
                    let (keys, values) = &packed[self.grouping.source_head(h)];
                    let count = queries.len() / (heads * r);
                    let queries =
                        MatrixRows { numbers: &queries[h * r..], stride: heads * r, count };
                    let (visible, factors) = self.weights_of(h, first + row, &queries, keys, tile);
                    let stride = m.next_multiple_of(VECTOR);
                    let weights = MatrixRows { numbers: &tile[visible.start..], stride, count };
                    values.multiply_part(
                        &weights,
                        visible.clone(),
                        0..s,
                        &[],
                        (&mut both[h * s..], out + weights_size),
                    );
                    for ((row, factor), weights) in both
                        .chunks_exact_mut(out + weights_size)
                        .zip(&factors)
                        .zip(tile.chunks_exact(stride))
                    {
                        row[h * s..(h + 1) * s].iter_mut().for_each(|v| *v *= *factor);
                        if keep {
                            let row = &mut row[out + h * m..][..m][visible.clone()];
                            row.iter_mut()
                                .zip(&weights[visible.clone()])
                                .for_each(|(o, w)| *o = *w * *factor);
                        }
                    }
                }
            },
        );
        if !keep {
            return AttentionOutput { out: self.output.apply(&both), weights: Vec::new() };
        }
        let (mut mixed, mut weights) =
            (Vec::with_capacity(n * out), vec![T::default(); heads * n * m]);
        for (i, row) in both.chunks_exact(out + weights_size).enumerate() {
            mixed.extend_from_slice(&row[..out]);
            for (h, row) in row[out..].chunks_exact(m).enumerate() {
                weights[(h * n + i) * m..][..m].copy_from_slice(row);
            }
        }
        AttentionOutput { out: self.output.apply(&mixed), weights }
    }

    /// Computes the unnormalised weights of consecutive queries, the first with index `first`, in
    /// the rows of the tile. Returns the range of sources that any of them sees, and the factors
    /// that normalise the rows.
    fn weights_of(
        &self,
        head: usize,
        first: usize,
        queries: &MatrixRows<T>,
        keys: &PackedMatrix<T>,
        tile: &mut [T],
    ) -> (Range<usize>, Vec<T>) {
        let (m, count) = (keys.outputs(), queries.count);
        let stride = m.next_multiple_of(VECTOR);
        let visible: Vec<Range<usize>> = (first..first + count)
            .map(|i| self.pattern.visible(i, m))
            .map(|s| if s.start < s.end.min(m) { s.start..s.end.min(m) } else { 0..0 })
            .collect();
        let some = visible.iter().filter(|s| !s.is_empty());
        let (from, to) = some.fold((m, 0), |(a, b), s| (a.min(s.start), b.max(s.end)));
        let from = from.min(to) / VECTOR * VECTOR;
        keys.multiply_part(queries, 0..self.rank(), from..to, &[], (tile, stride));
        let mut scale = self.logit_factor();
        if self.pattern.bias_form(head) != BiasForm::Absent {
            let mut biases = vec![0.0; m];
            for (i, row) in tile.chunks_exact_mut(stride).take(count).enumerate() {
                self.pattern.bias_row(head, first + i, 0, &mut biases);
                let pairs = row[from..to].iter_mut().zip(&biases[from..]);
                pairs.for_each(|(v, b)| *v = *v * T::from_f64(scale) + T::from_f64(*b));
            }
            scale = 1.0;
        }
        let factors =
            Isa::best().run(Softmax { tile, stride, visible: &visible, all: from..to, scale });
        (from..to, factors)
    }
}

/// Number of weights in a tile: it fits the second-level cache.
const TILE_SIZE: usize = 1 << 15;

/// A multiple of the width of the vectors of every instruction set.
const VECTOR: usize = 16;

/// Replaces logits v by `e^{scale (v - top)}` where they are visible, and by 0 elsewhere in `all`.
/// Returns the inverse of the sum of each row, 0 for a row without visible logits.
struct Softmax<'a, T> {
    tile: &'a mut [T],
    stride: usize,
    visible: &'a [Range<usize>],
    all: Range<usize>,
    scale: f64,
}

impl<T: Float> SimdKernel for Softmax<'_, T> {
    type F = T;
    type Output = Vec<T>;

    #[inline(always)]
    fn run<L: SimdOps<F = T>>(self, l: L) -> Vec<T> {
        let slope = self.scale * LOG2_E;
        let (factor, cut) = (l.constant(-slope), l.constant(-T::UNDERFLOW_EXPONENT / slope));
        let end = self.all.end.next_multiple_of(VECTOR);
        let mut factors = Vec::with_capacity(self.visible.len());
        for (row, visible) in self.tile.chunks_exact_mut(self.stride).zip(self.visible) {
            let (a, b) = (visible.start / VECTOR * VECTOR, visible.end.next_multiple_of(VECTOR));
            row[a..visible.start].fill(T::from_f64(f64::NEG_INFINITY));
            row[visible.end..b].fill(T::from_f64(f64::NEG_INFINITY));
            let numbers = L::view_mut(&mut row[a..b]);
            let top = l.largest(max_lanes(l, numbers));
            // Biases may mask all of them.
            let all_masked = top.to_f64() == f64::NEG_INFINITY;
            let (top, mut sum) = (if all_masked { l.zero() } else { l.splat(top) }, l.zero());
            for v in numbers {
                *v = l.exp2_product(l.sub(top, *v), factor, cut);
                sum = l.add(sum, *v);
            }
            if !visible.is_empty() {
                row[self.all.start.min(a)..a].fill(T::default());
            }
            row[b.max(self.all.start.min(end))..end].fill(T::default());
            let sum = l.sum(sum).to_f64();
            factors.push(T::from_f64(if sum > 0.0 { 1.0 / sum } else { 0.0 }));
        }
        factors
    }
}

/// Lane-wise maximum, by four independent chains.
#[inline(always)]
fn max_lanes<L: SimdOps>(l: L, numbers: &[L::V]) -> L::V {
    let mut top = [l.constant(f64::NEG_INFINITY); 4];
    let (fours, rest) = numbers.as_chunks::<4>();
    for four in fours {
        for (t, v) in top.iter_mut().zip(four) {
            *t = l.max(*t, *v);
        }
    }
    let rest = rest.iter().fold(top[3], |m, v| l.max(m, *v));
    l.max(l.max(top[0], top[1]), l.max(top[2], rest))
}

impl AttentionLayer<f64> {
    /// The output of head h alone, `W_o^h sum_j P_ij (W_v^h y_j + b_v^h)`, for its weights (n x m).
    pub fn head_output(&self, h: usize, weights: &[f64], y: &[f64]) -> Vec<f64> {
        let (s, kv_heads) = (self.size(), self.grouping.kv_heads);
        let g = self.grouping.source_head(h);
        let values = self.value.apply(y);
        let m = values.len() / (kv_heads * s);
        let n = weights.len() / m;
        let mut mixed = vec![0.0; n * self.output.inputs()];
        for (row, weights) in
            mixed.chunks_exact_mut(self.output.inputs()).zip(weights.chunks_exact(m))
        {
            let out = &mut row[h * s..(h + 1) * s];
            for (w, v) in
                weights.iter().zip(values.chunks_exact(kv_heads * s)).filter(|(w, _)| **w > 0.0)
            {
                out.iter_mut().zip(&v[g * s..(g + 1) * s]).for_each(|(o, v)| *o += w * v);
            }
        }
        self.output.jvp(&mixed)
    }
}
