//! Online softmax over blocks of sources. Queries are in lanes, so maxima, sums and exponentials
//! never need a reduction across lanes.

use super::packed_heads::PackedHeads;
use super::problem::{HeadsProblem, Shape};
use super::qkv::{HeadQkv, QkvImages, value_offset};
use super::tiles::{MAX_VECTORS, group, slabs};
use super::visible_range::{Exponents, SOURCE_BLOCK, VisibleRange};
use super::work_items::WorkItem;
use crate::num::simd::{Float, SimdKernel, SimdOps};
use crate::num::tile::{add_product_of_slabs, product_of_columns};
use crate::weights::Weights;
use std::f64::consts::LOG2_E;

/// Status of a query under one head.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum RowStatus {
    /// The result is accurate.
    #[default]
    Accurate,
    /// No source is visible: the result is 0.
    Masked,
    /// Rounding of the logits may be visible in the result.
    Flagged,
}

/// The stored state of a query under one head.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowState {
    pub status: RowStatus,
    /// Largest logit, rounded.
    pub top: f64,
}

/// Input that all work items of this phase share.
pub(super) struct AttendInput<'a, F> {
    pub problem: &'a HeadsProblem<'a>,
    pub shape: &'a Shape,
    pub packed: &'a PackedHeads<F>,
    pub images: &'a QkvImages<F>,
    /// Masses of the sources; empty if all are equal.
    pub masses: &'a [F],
    /// Norms of the longest query and of the longest source.
    pub longest: [f64; 2],
}

/// Largest number of query groups that share one pass over the keys and values.
pub(super) const GROUPS: usize = 4;

/// Attention of a few groups of queries under one head.
pub(super) struct Attend<'a, F> {
    pub input: &'a AttendInput<'a, F>,
    pub item: &'a WorkItem,
    /// `sum_j A_ij V y_j`, in slabs.
    pub out: &'a mut [F],
    pub rows: &'a mut [RowState],
}

impl<F: Float> SimdKernel for Attend<'_, F> {
    type F = F;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = F>>(self, l: L) {
        if L::WIDE { self.groups::<L, 8>(l) } else { self.groups::<L, 4>(l) }
    }
}

/// Running maxima and sums for the queries of a group.
#[derive(Clone, Copy)]
struct Running<T> {
    top: [T; MAX_VECTORS],
    /// Minus the maxima, as exponents of 2.
    shift: [T; MAX_VECTORS],
    sum: [T; MAX_VECTORS],
    /// True until the first block has been added.
    uninitialised: bool,
}

impl<F: Float> Attend<'_, F> {
    /// Runs over the blocks of sources. The keys and values of a block stay in the L2 cache for all
    /// groups.
    #[inline(always)]
    fn groups<L: SimdOps<F = F>, const R: usize>(mut self, l: L) {
        let (lowest, highest) = (l.constant(f64::NEG_INFINITY), l.constant(f64::INFINITY));
        let mut states = [Running {
            top: [lowest; MAX_VECTORS],
            shift: [highest; MAX_VECTORS],
            sum: [l.zero(); MAX_VECTORS],
            uninitialised: true,
        }; GROUPS];
        let mut tile = [l.zero(); MAX_VECTORS * SOURCE_BLOCK];
        let sources = self.input.shape.sources;
        let (mut from, end) = self.visible_union(sources);
        while from < end {
            let to = (from / SOURCE_BLOCK * SOURCE_BLOCK + SOURCE_BLOCK).min(end);
            for (k, state) in states.iter_mut().enumerate().take(self.item.group.1) {
                match self.group(k).1 {
                    3 => self.block::<L, R, 3>(l, k, (from, to), state, tile.as_chunks_mut().0),
                    _ => self.block::<L, R, 2>(l, k, (from, to), state, tile.as_chunks_mut().0),
                }
            }
            from = to;
        }
        for (k, state) in states.iter().enumerate().take(self.item.group.1) {
            match self.group(k).1 {
                3 => self.normalise::<L, 3>(l, k, state),
                _ => self.normalise::<L, 2>(l, k, state),
            }
        }
    }

    /// First vector and number of vectors of a group of this work item.
    fn group(&self, k: usize) -> (usize, usize) {
        group(self.input.shape.query_vectors, self.item.group.0 + k)
    }

    /// The smallest range that contains every source visible to a query of this work item.
    fn visible_union(&self, sources: usize) -> (usize, usize) {
        let AttendInput { problem, shape, .. } = self.input;
        let last = self.group(self.item.group.1 - 1);
        let queries =
            self.group(0).0 * shape.width..((last.0 + last.1) * shape.width).min(shape.queries);
        let visible =
            queries.map(|i| problem.pattern.visible(i, sources)).filter(|r| r.start < r.end);
        let (start, end) =
            visible.fold((sources, 0), |(a, b), r| (a.min(r.start), b.max(r.end.min(sources))));
        (start / 16 * 16, end)
    }

    /// Range of a group's results in the output of this work item.
    fn output_range(&self, k: usize) -> std::ops::Range<usize> {
        let (size, origin, (first, len)) =
            (self.input.packed.heads[self.item.head].size, self.group(0).0, self.group(k));
        (first - origin) * size..(first - origin + len) * size
    }

    /// Adds a block of sources to a group of queries.
    #[inline(always)]
    fn block<L: SimdOps<F = F>, const R: usize, const V: usize>(
        &mut self,
        l: L,
        k: usize,
        (from, to): (usize, usize),
        state: &mut Running<L::V>,
        tile: &mut [[L::V; V]],
    ) {
        let (range, group) = (self.output_range(k), self.group(k));
        let &AttendInput { problem, shape, packed, images, masses, .. } = self.input;
        let (rank, size) = (packed.heads[self.item.head].rank, packed.heads[self.item.head].size);
        let (of, exponents) =
            (images.head(self.item.head), Exponents::new(problem, self.item.head));
        let first = group.0 * L::WIDTH;
        let visible = VisibleRange::<L::V, V>::new(l, problem, first, shape.queries, shape.sources);
        let (from, to) = (from.max(visible.union.0 / R * R), to.min(visible.union.1));
        if from >= to {
            return;
        }
        let queries = slabs::<L, V>(of.queries, group.0, rank, (0, rank));
        scores::<L, R, V>(
            l,
            &of,
            rank,
            queries,
            (from, to),
            problem.beta < 0.0 && !exponents.has_bias(),
            tile,
        );
        let tile = &mut tile[..to - from];
        exponents.add::<L, V>(l, problem, (first, shape.queries), from, tile);
        if visible.is_partial(from, to) {
            visible.mask(l, from, tile);
        }
        let masses = if masses.is_empty() { masses } else { &masses[from..to] };
        let out = &mut L::view_mut(self.out)[range];
        let rescale = weights::<L, V>(l, l.constant(exponents.factor::<F>()), masses, tile, state);
        if let Some(scale) = rescale.filter(|_| !state.uninitialised) {
            scale_all::<L, V>(l, out, size, &scale);
        }
        sums::<L, R, V>(l, &of, (size, shape.sources), from, tile, out, state.uninitialised);
        state.uninitialised = false;
    }
}

/// Scores of a block of sources; with `negative`, multiplied by -1, so that the largest has the
/// largest weight.
#[inline(always)]
fn scores<L: SimdOps, const R: usize, const V: usize>(
    l: L,
    of: &HeadQkv<L::F>,
    rank: usize,
    queries: [&[L::V]; V],
    (from, to): (usize, usize),
    negative: bool,
    tile: &mut [[L::V; V]],
) {
    for j in (from..to).step_by(R) {
        let keys = &of.keys[j / L::WIDTH * rank * L::WIDTH..][..rank * L::WIDTH];
        let acc = add_product_of_slabs(l, (keys, j % L::WIDTH), queries, [[l.zero(); V]; R]);
        let out = &mut tile[j - from..j - from + R];
        for r in 0..R {
            for v in 0..V {
                out[r][v] = if negative { l.sub(l.zero(), acc[r][v]) } else { acc[r][v] };
            }
        }
    }
}

/// Replaces scores by weights relative to the new maxima. Returns the factors that rescale the sums
/// so far, or `None` if no maximum has changed.
#[inline(always)]
fn weights<L: SimdOps, const V: usize>(
    l: L,
    factor: L::V,
    masses: &[L::F],
    tile: &mut [[L::V; V]],
    state: &mut Running<L::V>,
) -> Option<[L::V; V]> {
    let mut top = [l.zero(); V];
    top.copy_from_slice(&state.top[..V]);
    for row in tile.iter() {
        for v in 0..V {
            top[v] = l.max(row[v], top[v]);
        }
    }
    let (mut scale, mut raised) = ([l.zero(); V], l.zero());
    let mut exponent = [l.zero(); V];
    for v in 0..V {
        let shift = l.sub(l.zero(), l.mul(top[v], factor));
        exponent[v] = l.sub(shift, state.shift[v]);
        let one = l.constant(1.0);
        raised = l.max(raised, l.select(l.greater(top[v], state.top[v]), one, l.zero()));
        (state.top[v], state.shift[v]) = (top[v], shift);
    }
    let raised = l.largest(raised) > L::F::default();
    if raised {
        scale = l.exp2_array::<V, false>(exponent);
        for v in 0..V {
            state.sum[v] = l.mul(state.sum[v], scale[v]);
        }
    }
    let mut sum = [l.zero(); V];
    for (k, row) in tile.iter_mut().enumerate() {
        let mut t = [l.zero(); V];
        for v in 0..V {
            t[v] = l.fma(row[v], factor, state.shift[v]);
        }
        let mut w = l.exp2_array::<V, false>(t);
        if let Some(m) = masses.get(k) {
            let m = l.splat(*m);
            for v in 0..V {
                w[v] = l.mul(w[v], m);
            }
        }
        for v in 0..V {
            sum[v] = l.add(sum[v], w[v]);
        }
        *row = w;
    }
    for v in 0..V {
        state.sum[v] = l.add(state.sum[v], sum[v]);
    }
    raised.then_some(scale)
}

/// Multiplies the sums of every query by its factor.
#[inline(always)]
fn scale_all<L: SimdOps, const V: usize>(l: L, out: &mut [L::V], size: usize, scale: &[L::V; V]) {
    for (v, slab) in out.chunks_exact_mut(size).enumerate().take(V) {
        for x in slab {
            *x = l.mul(*x, scale[v]);
        }
    }
}

/// Adds `sum_j w_ij V y_j` over a block; with `uninitialised`, overwrites.
#[inline(always)]
fn sums<L: SimdOps, const R: usize, const V: usize>(
    l: L,
    of: &HeadQkv<L::F>,
    (size, count): (usize, usize),
    from: usize,
    tile: &[[L::V; V]],
    out: &mut [L::V],
    uninitialised: bool,
) {
    for c in (0..size).step_by(R) {
        let values =
            &of.values[value_offset(size, count, L::WIDTH, c, from)..][..tile.len() * L::WIDTH];
        let acc: [[L::V; V]; R] = product_of_columns(l, (values, L::WIDTH, c % L::WIDTH), tile);
        for r in 0..R {
            if c + r < size {
                for v in 0..V {
                    let out = &mut out[v * size + c + r];
                    *out = if uninitialised { acc[r][v] } else { l.add(*out, acc[r][v]) };
                }
            }
        }
    }
}

impl<F: Float> Attend<'_, F> {
    /// Divides by the sums of the weights (SA) or restores the scale (USA), and sets the status of
    /// each row.
    #[inline(always)]
    fn normalise<L: SimdOps<F = F>, const V: usize>(
        &mut self,
        l: L,
        k: usize,
        state: &Running<L::V>,
    ) {
        let (range, group, origin) = (self.output_range(k), self.group(k), self.group(0).0);
        let &AttendInput { problem, packed, images, masses, longest, .. } = self.input;
        let (matrices, exponents) =
            (&packed.heads[self.item.head], Exponents::new(problem, self.item.head));
        let queries = slabs::<L, V>(
            images.head(self.item.head).queries,
            group.0,
            matrices.rank,
            (0, matrices.rank),
        );
        let bound = LogitErrorBound::new(
            problem,
            matrices.rank,
            matrices.q.as_ref().map(|m| m.norm),
            matrices.k.as_ref().map(|m| m.norm),
            longest,
        );
        let lightest =
            masses.iter().map(|m| m.to_f64()).filter(|m| *m > 0.0).fold(f64::INFINITY, f64::min);
        let lightest = if masses.is_empty() { 1.0 } else { lightest };
        let out = &mut L::view_mut(self.out)[range];
        if state.uninitialised {
            out.fill(l.zero());
        }
        let (mut scale, size) = ([l.zero(); V], matrices.size);
        for v in 0..V {
            let mut square = l.zero();
            for q in queries[v] {
                square = l.fma(*q, *q, square);
            }
            let [mut squares, mut tops, mut totals, mut factors] = [[0.0; 16]; 4];
            l.store(square, &mut squares);
            l.store(state.top[v], &mut tops);
            l.store(state.sum[v], &mut totals);
            for lane in 0..L::WIDTH {
                let (total, top) = (totals[lane], tops[lane] * exponents.factor::<F>() / LOG2_E);
                let row = &mut self.rows[(group.0 - origin + v) * L::WIDTH + lane];
                let error =
                    bound.logit(squares[lane].sqrt(), images.longest_key[self.item.head], top);
                let (factor, spread) = match problem.weights {
                    Weights::Softmax => (1.0 / total, 1.0 - lightest / total),
                    Weights::Exponential { log_factor } => {
                        (problem.common_mass(masses.is_empty()) * exponential(top, log_factor), 1.0)
                    }
                };
                let visible = total > 0.0;
                factors[lane] = if visible { factor } else { 0.0 };
                *row = RowState { top, status: RowStatus::Accurate };
                if !visible {
                    row.status = RowStatus::Masked;
                } else if error * spread > TOLERANCE {
                    row.status = RowStatus::Flagged;
                }
            }
            scale[v] = l.load(&factors);
        }
        scale_all::<L, V>(l, out, size, &scale);
    }
}

/// `e^{top + log_factor}`. Two factors have a smaller rounding error than one, if both stay in
/// range.
fn exponential(top: f64, log_factor: f64) -> f64 {
    if top.abs() < 600.0 && log_factor.abs() < 100.0 {
        top.exp() * log_factor.exp()
    } else {
        (top + log_factor).exp()
    }
}

/// A row is flagged if (error of its logits) x (share of the weights other than the largest)
/// exceeds this.
///
/// In all measurements the error of a result was at most a fifth of this.
const TOLERANCE: f64 = 1.5e-13;

/// Estimates the rounding errors of logits.
struct LogitErrorBound {
    beta: f64,
    product: f64,
    spread: f64,
    /// Errors of the images of queries, then of keys: relative to their own norm, and absolute.
    images: [[f64; 2]; 2],
}

impl LogitErrorBound {
    /// From the norms of Q and K (`None`: identity) and the norms of the longest tokens.
    ///
    /// A sum of n products rounds like a random walk: by `0.4 sqrt(n) u` of the result without
    /// cancellation, and by `0.15 u` of the product of the two norms at least. Errors of an image
    /// are independent of its partner in the score, so their product is smaller by `sqrt(r)`.
    fn new(
        problem: &HeadsProblem,
        rank: usize,
        q: Option<f64>,
        k: Option<f64>,
        longest: [f64; 2],
    ) -> Self {
        let chain = |n: usize| {
            0.4 * ((n.min(super::tiles::DEPTH_BLOCK) as f64).sqrt()
                + (n as f64 / super::tiles::DEPTH_BLOCK as f64).sqrt())
        };
        let image = |norm: Option<f64>, longest: f64| {
            norm.map_or([0.0; 2], |norm| [chain(problem.d), 0.15 * norm * longest])
        };
        Self {
            beta: problem.beta.abs(),
            product: 1.0 + 0.15 * (rank as f64).sqrt(),
            spread: 1.0 / (rank as f64).sqrt(),
            images: [image(q, longest[0]), image(k, longest[1])],
        }
    }

    /// Error of a large logit, for a query and a key of these norms.
    fn logit(&self, query: f64, key: f64, top: f64) -> f64 {
        let [[a, b], [c, e]] = self.images;
        let images = (a * query + b) * key + (c * key + e) * query;
        let all = self.beta * (self.product * query * key + self.spread * images) + 2.0 * top.abs();
        0.5 * f64::EPSILON * all
    }
}
