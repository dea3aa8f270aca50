//! Heads as trained: queries, keys and values with biases, an output matrix, keys and values shared by groups of heads.

use super::{Linear, Real};
use crate::attention::dense::product::{MatrixRows, Panelled, ROWS, by_rows};
use crate::attention::pattern::{Bias, Extent, Pattern};
use crate::error::{Error, Result};
use crate::num::simd::{Lanes, Level, Task};
use crate::num::threads::parallel_allowed;
use rayon::prelude::*;
use std::f64::consts::LOG2_E;
use std::ops::Range;
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
    pub fn parameters(&self) -> usize {
        [&self.query, &self.key, &self.value, &self.output].iter().map(|l| l.parameters()).sum()
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
        self.pattern.check(&self.extent(x.len() / self.query.inputs(), y.len() / self.key.inputs()))?;
        let [q, k, v] = self.images(x, y, 0);
        let (mixed, weights) = self.mix(&q, &k, &v, 0, keep);
        Ok(Attended { out: self.output.apply(&mixed), weights })
    }

    /// Queries of x, keys and values of y, at the positions from `first` on.
    pub(super) fn images(&self, x: &[T], y: &[T], first: usize) -> [Vec<T>; 3] {
        let (mut q, mut k) = (self.query.apply(x), self.key.apply(y));
        self.place(&mut q, self.grouping.heads, first);
        self.place(&mut k, self.grouping.sets, first);
        [q, k, self.value.apply(y)]
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

    /// `sum_j P_ij v_j` of all heads (n x heads s), and the weights; the first query has the number `first`.
    pub(super) fn mix(&self, q: &[T], k: &[T], v: &[T], first: usize, keep: bool) -> (Vec<T>, Vec<T>) {
        let Grouping { heads, sets } = self.grouping;
        let (r, s) = (self.rank(), self.size());
        let (n, m) = (q.len() / (heads * r), k.len() / (sets * r));
        let stored = |g: usize| {
            let of = |numbers, width: usize| MatrixRows { numbers, stride: sets * width, count: m };
            (Panelled::of_columns(&of(&k[g * r..], r), r), Panelled::of_rows(&of(&v[g * s..], s), s))
        };
        let shared = m * (r + s) > 1 << 12 && parallel_allowed();
        let stored: Vec<_> = if shared { (0..sets).into_par_iter().map(stored).collect() } else { (0..sets).map(stored).collect() };
        let (out, kept) = (heads * s, if keep { heads * m } else { 0 });
        let rows = (TILE / m.max(1)).clamp(8, ROWS) / 8 * 8;
        let buffer = || vec![T::default(); rows * m.next_multiple_of(VECTOR)];
        let both = by_rows(q, (heads * r, out + kept), heads * m * (r + s), rows, buffer, |tile, row, queries, both| {
            for h in 0..heads {
                let (keys, values) = &stored[h / (heads / sets)];
                let count = queries.len() / (heads * r);
                let queries = MatrixRows { numbers: &queries[h * r..], stride: heads * r, count };
                let (seen, factors) = self.weights_of(h, first + row, &queries, keys, tile);
                let stride = m.next_multiple_of(VECTOR);
                let weights = MatrixRows { numbers: &tile[seen.start..], stride, count };
                values.multiply_part(&weights, seen.clone(), 0..s, &[], (&mut both[h * s..], out + kept));
                for ((row, factor), weights) in both.chunks_exact_mut(out + kept).zip(&factors).zip(tile.chunks_exact(stride)) {
                    row[h * s..(h + 1) * s].iter_mut().for_each(|v| *v *= *factor);
                    if keep {
                        let row = &mut row[out + h * m..][..m][seen.clone()];
                        row.iter_mut().zip(&weights[seen.clone()]).for_each(|(o, w)| *o = *w * *factor);
                    }
                }
            }
        });
        if !keep {
            return (both, Vec::new());
        }
        let mut weights = vec![T::default(); heads * n * m];
        for (i, row) in both.chunks_exact(out + kept).enumerate() {
            for (h, row) in row[out..].chunks_exact(m).enumerate() {
                weights[(h * n + i) * m..][..m].copy_from_slice(row);
            }
        }
        (both.chunks_exact(out + kept).flat_map(|row| &row[..out]).copied().collect(), weights)
    }

    /// Weights of some queries, the first of which has this number, into rows of the tile; the sources that any of them sees, and what makes the sums of
    /// rows 1.
    fn weights_of(&self, head: usize, first: usize, queries: &MatrixRows<T>, keys: &Panelled<T>, tile: &mut [T]) -> (Range<usize>, Vec<T>) {
        let (m, count) = (keys.outputs(), queries.count);
        let stride = m.next_multiple_of(VECTOR);
        let seen: Vec<Range<usize>> = (first..first + count)
            .map(|i| self.pattern.seen(i, m))
            .map(|s| if s.start < s.end.min(m) { s.start..s.end.min(m) } else { 0..0 })
            .collect();
        let some = seen.iter().filter(|s| !s.is_empty());
        let (from, to) = some.fold((m, 0), |(a, b), s| (a.min(s.start), b.max(s.end)));
        let from = from.min(to) / VECTOR * VECTOR;
        keys.multiply_part(queries, 0..self.rank(), from..to, &[], (tile, stride));
        let mut scale = 1.0 / (self.rank() as f64).sqrt();
        if self.pattern.form(head) != Bias::Absent {
            let mut biases = vec![0.0; m];
            for (i, row) in tile.chunks_exact_mut(stride).take(count).enumerate() {
                self.pattern.biases(head, first + i, 0, &mut biases);
                let pairs = row[from..to].iter_mut().zip(&biases[from..]);
                pairs.for_each(|(v, b)| *v = *v * T::of(scale) + T::of(*b));
            }
            scale = 1.0;
        }
        let factors = Level::best().run(Softmax { tile, stride, seen: &seen, all: from..to, scale });
        (from..to, factors)
    }
}

/// Numbers of a tile of weights: it fits the second cache.
const TILE: usize = 1 << 15;

/// Every vector at every level is a part of so many numbers.
const VECTOR: usize = 16;

/// `e^{scale (v - top)}` of rows of logits where they are seen, 0 elsewhere in `all`; returns one over the sums, 0 where nothing is seen.
struct Softmax<'a, T> {
    tile: &'a mut [T],
    stride: usize,
    seen: &'a [Range<usize>],
    all: Range<usize>,
    scale: f64,
}

impl<T: Real> Task for Softmax<'_, T> {
    type F = T;
    type Output = Vec<T>;

    #[inline(always)]
    fn run<L: Lanes<F = T>>(self, l: L) -> Vec<T> {
        let slope = self.scale * LOG2_E;
        let (factor, cut) = (l.constant(-slope), l.constant(-T::SMALLEST / slope));
        let end = self.all.end.next_multiple_of(VECTOR);
        let mut factors = Vec::with_capacity(self.seen.len());
        for (row, seen) in self.tile.chunks_exact_mut(self.stride).zip(self.seen) {
            let (a, b) = (seen.start / VECTOR * VECTOR, seen.end.next_multiple_of(VECTOR));
            row[a..seen.start].fill(T::of(f64::NEG_INFINITY));
            row[seen.end..b].fill(T::of(f64::NEG_INFINITY));
            let numbers = L::view_mut(&mut row[a..b]);
            let top = l.largest(largest(l, numbers));
            // All of them may be masked by biases.
            let blind = top.to_f64() == f64::NEG_INFINITY;
            let (top, mut sum) = (if blind { l.zero() } else { l.splat(top) }, l.zero());
            for v in numbers {
                *v = l.exp2_product(l.sub(top, *v), factor, cut);
                sum = l.add(sum, *v);
            }
            if !seen.is_empty() {
                row[self.all.start.min(a)..a].fill(T::default());
            }
            row[b.max(self.all.start.min(end))..end].fill(T::default());
            let sum = l.sum(sum).to_f64();
            factors.push(T::of(if sum > 0.0 { 1.0 / sum } else { 0.0 }));
        }
        factors
    }
}

/// Largest numbers, by four chains.
#[inline(always)]
fn largest<L: Lanes>(l: L, numbers: &[L::V]) -> L::V {
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
        self.output.jvp(&mixed)
    }
}
