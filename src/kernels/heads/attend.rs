//! Softmax over blocks of sources with a running maximum: queries in lanes, so that maxima, sums and exponentials never cross lanes.

use super::job::{HeadsJob, Shape};
use super::project::{Images, Of, value_place};
use super::seen::{BLOCK, Exponents, Seen};
use super::share::Piece;
use super::stack::Stack;
use super::tiles::{MOST, group, slabs};
use crate::num::simd::{Float, Lanes, Task};
use crate::num::tile::{add_product_of_slabs, product_of_columns};
use crate::weights::Weights;
use std::f64::consts::LOG2_E;

/// What became of a query under one head.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Mark {
    /// Its result is right.
    #[default]
    Right,
    /// It sees nothing: its result is 0.
    Masked,
    /// Rounding of its logits may show in the result.
    Doubtful,
}

/// What is kept of a query under one head.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Row {
    pub mark: Mark,
    /// Its largest logit, rounded.
    pub top: f64,
}

/// All that pieces of this phase read.
pub(super) struct Source<'a, F> {
    pub job: &'a HeadsJob<'a>,
    pub shape: &'a Shape,
    pub stack: &'a Stack<F>,
    pub images: &'a Images<F>,
    /// Masses, none when all are equal.
    pub masses: &'a [F],
    /// Lengths of the longest query and source token.
    pub longest: [f64; 2],
}

/// The most groups of queries that share blocks of keys and values.
pub(super) const GROUPS: usize = 4;

/// Some groups of queries under one head.
pub(super) struct Attend<'a, F> {
    pub source: &'a Source<'a, F>,
    pub piece: &'a Piece,
    /// `sum_j A_ij V y_j`, in slabs.
    pub out: &'a mut [F],
    pub rows: &'a mut [Row],
}

impl<F: Float> Task for Attend<'_, F> {
    type F = F;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = F>>(self, l: L) {
        if L::WIDE { self.groups::<L, 8>(l) } else { self.groups::<L, 4>(l) }
    }
}

/// Running maxima and sums of the queries of a group.
#[derive(Clone, Copy)]
struct Running<T> {
    top: [T; MOST],
    /// Minus the maxima as exponents.
    shift: [T; MOST],
    sum: [T; MOST],
    /// Nothing has been written yet.
    fresh: bool,
}

impl<F: Float> Attend<'_, F> {
    /// Block by block of sources, whose keys and values stay in the second cache for all groups.
    #[inline(always)]
    fn groups<L: Lanes<F = F>, const R: usize>(mut self, l: L) {
        let (lowest, highest) = (l.constant(f64::NEG_INFINITY), l.constant(f64::INFINITY));
        let mut states = [Running { top: [lowest; MOST], shift: [highest; MOST], sum: [l.zero(); MOST], fresh: true }; GROUPS];
        let mut tile = [l.zero(); MOST * BLOCK];
        let sources = self.source.shape.sources;
        let (mut from, end) = self.some(sources);
        while from < end {
            let to = (from / BLOCK * BLOCK + BLOCK).min(end);
            for (k, state) in states.iter_mut().enumerate().take(self.piece.group.1) {
                match self.group(k).1 {
                    3 => self.block::<L, R, 3>(l, k, (from, to), state, tile.as_chunks_mut().0),
                    _ => self.block::<L, R, 2>(l, k, (from, to), state, tile.as_chunks_mut().0),
                }
            }
            from = to;
        }
        for (k, state) in states.iter().enumerate().take(self.piece.group.1) {
            match self.group(k).1 {
                3 => self.close::<L, 3>(l, k, state),
                _ => self.close::<L, 2>(l, k, state),
            }
        }
    }

    /// First vector and number of vectors of a group of the piece.
    fn group(&self, k: usize) -> (usize, usize) {
        group(self.source.shape.query_vectors, self.piece.group.0 + k)
    }

    /// From the first source that a query of the piece sees to the last.
    fn some(&self, sources: usize) -> (usize, usize) {
        let Source { job, shape, .. } = self.source;
        let last = self.group(self.piece.group.1 - 1);
        let queries = self.group(0).0 * shape.width..((last.0 + last.1) * shape.width).min(shape.queries);
        let seen = queries.map(|i| job.pattern.seen(i, sources)).filter(|r| r.start < r.end);
        let (start, end) = seen.fold((sources, 0), |(a, b), r| (a.min(r.start), b.max(r.end.min(sources))));
        (start / 16 * 16, end)
    }

    /// The results of a group in the piece's part.
    fn place(&self, k: usize) -> std::ops::Range<usize> {
        let (size, origin, (first, len)) = (self.source.stack.heads[self.piece.head].size, self.group(0).0, self.group(k));
        (first - origin) * size..(first - origin + len) * size
    }

    /// A group with a block of sources.
    #[inline(always)]
    fn block<L: Lanes<F = F>, const R: usize, const V: usize>(
        &mut self,
        l: L,
        k: usize,
        (from, to): (usize, usize),
        state: &mut Running<L::V>,
        tile: &mut [[L::V; V]],
    ) {
        let (place, group) = (self.place(k), self.group(k));
        let &Source { job, shape, stack, images, masses, .. } = self.source;
        let (rank, size) = (stack.heads[self.piece.head].rank, stack.heads[self.piece.head].size);
        let (of, exponents) = (images.of(self.piece.head), Exponents::new(job, self.piece.head));
        let first = group.0 * L::WIDTH;
        let seen = Seen::<L::V, V>::new(l, job, first, shape.queries, shape.sources);
        let (from, to) = (from.max(seen.some.0 / R * R), to.min(seen.some.1));
        if from >= to {
            return;
        }
        let queries = slabs::<L, V>(of.queries, group.0, rank, (0, rank));
        scores::<L, R, V>(l, &of, rank, queries, (from, to), job.beta < 0.0 && !exponents.biased(), tile);
        let tile = &mut tile[..to - from];
        exponents.add::<L, V>(l, job, (first, shape.queries), from, tile);
        if seen.cuts(from, to) {
            seen.mask(l, from, tile);
        }
        let masses = if masses.is_empty() { masses } else { &masses[from..to] };
        let out = &mut L::view_mut(self.out)[place];
        let rescale = weights::<L, V>(l, l.constant(exponents.factor::<F>()), masses, tile, state);
        if let Some(scale) = rescale.filter(|_| !state.fresh) {
            scale_all::<L, V>(l, out, size, &scale);
        }
        sums::<L, R, V>(l, &of, (size, shape.sources), from, tile, out, state.fresh);
        state.fresh = false;
    }
}

/// Scores of the sources of a block, the largest first where `negative`.
#[inline(always)]
fn scores<L: Lanes, const R: usize, const V: usize>(
    l: L,
    of: &Of<L::F>,
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

/// Weights in place of scores, relative to the new maxima; by what the sums so far shrink, where they do.
#[inline(always)]
fn weights<L: Lanes, const V: usize>(
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
    let (mut scale, mut grown) = ([l.zero(); V], l.zero());
    let mut exponent = [l.zero(); V];
    for v in 0..V {
        let shift = l.sub(l.zero(), l.mul(top[v], factor));
        exponent[v] = l.sub(shift, state.shift[v]);
        let one = l.constant(1.0);
        grown = l.max(grown, l.select(l.greater(top[v], state.top[v]), one, l.zero()));
        (state.top[v], state.shift[v]) = (top[v], shift);
    }
    let grown = l.largest(grown) > L::F::default();
    if grown {
        scale = l.exp2_each::<V, false>(exponent);
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
        let mut w = l.exp2_each::<V, false>(t);
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
    grown.then_some(scale)
}

/// Multiplies what every query has summed.
#[inline(always)]
fn scale_all<L: Lanes, const V: usize>(l: L, out: &mut [L::V], size: usize, scale: &[L::V; V]) {
    for (v, slab) in out.chunks_exact_mut(size).enumerate().take(V) {
        for x in slab {
            *x = l.mul(*x, scale[v]);
        }
    }
}

/// Adds `sum_j w_ij V y_j` over a block (`fresh`: writes it).
#[inline(always)]
fn sums<L: Lanes, const R: usize, const V: usize>(
    l: L,
    of: &Of<L::F>,
    (size, count): (usize, usize),
    from: usize,
    tile: &[[L::V; V]],
    out: &mut [L::V],
    fresh: bool,
) {
    for c in (0..size).step_by(R) {
        let values = &of.values[value_place(size, count, L::WIDTH, c, from)..][..tile.len() * L::WIDTH];
        let acc: [[L::V; V]; R] = product_of_columns(l, (values, L::WIDTH, c % L::WIDTH), tile);
        for r in 0..R {
            if c + r < size {
                for v in 0..V {
                    let out = &mut out[v * size + c + r];
                    *out = if fresh { acc[r][v] } else { l.add(*out, acc[r][v]) };
                }
            }
        }
    }
}

impl<F: Float> Attend<'_, F> {
    /// Divides by the sums of the weights, or restores their size, and notes what is to be known of the rows.
    #[inline(always)]
    fn close<L: Lanes<F = F>, const V: usize>(&mut self, l: L, k: usize, state: &Running<L::V>) {
        let (place, group, origin) = (self.place(k), self.group(k), self.group(0).0);
        let &Source { job, stack, images, masses, longest, .. } = self.source;
        let (matrices, exponents) = (&stack.heads[self.piece.head], Exponents::new(job, self.piece.head));
        let queries = slabs::<L, V>(images.of(self.piece.head).queries, group.0, matrices.rank, (0, matrices.rank));
        let doubt = Doubt::new(job, matrices.rank, matrices.q.as_ref().map(|m| m.norm), matrices.k.as_ref().map(|m| m.norm), longest);
        let lightest = masses.iter().map(|m| m.to_f64()).filter(|m| *m > 0.0).fold(f64::INFINITY, f64::min);
        let lightest = if masses.is_empty() { 1.0 } else { lightest };
        let out = &mut L::view_mut(self.out)[place];
        if state.fresh {
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
                let error = doubt.logit(squares[lane].sqrt(), images.longest_key[self.piece.head], top);
                let (factor, spread) = match job.weights {
                    Weights::Softmax => (1.0 / total, 1.0 - lightest / total),
                    Weights::Exponential { log_factor } => (job.unit(masses.is_empty()) * exponential(top, log_factor), 1.0),
                };
                let seen = total > 0.0;
                factors[lane] = if seen { factor } else { 0.0 };
                *row = Row { top, mark: Mark::Right };
                if !seen {
                    row.mark = Mark::Masked;
                } else if error * spread > TOLERANCE {
                    row.mark = Mark::Doubtful;
                }
            }
            scale[v] = l.load(&factors);
        }
        scale_all::<L, V>(l, out, size, &scale);
    }
}

/// `e^{top + log_factor}`; two factors round less than one where neither leaves the range.
fn exponential(top: f64, log_factor: f64) -> f64 {
    if top.abs() < 600.0 && log_factor.abs() < 100.0 { top.exp() * log_factor.exp() } else { (top + log_factor).exp() }
}

/// An error of a logit times the share of other sources from which on a row is doubtful.
///
/// Errors of results were at most a fifth of this in all measurements.
const TOLERANCE: f64 = 1.5e-13;

/// Estimates of the errors of logits.
struct Doubt {
    beta: f64,
    product: f64,
    spread: f64,
    /// Errors of images, per unit of their own length and absolute: of queries, then of keys.
    images: [[f64; 2]; 2],
}

impl Doubt {
    /// From the norms of Q and K, where they are no identity, and the lengths of the longest tokens.
    ///
    /// Sums of n products round like random walks: by `0.4 sqrt(n) u` of a result without cancellation, by `0.15 u` of the product of
    /// the lengths at least; errors of images and what they meet are independent, so that their product is less by `sqrt(r)`.
    fn new(job: &HeadsJob, rank: usize, q: Option<f64>, k: Option<f64>, longest: [f64; 2]) -> Self {
        let chain = |n: usize| 0.4 * ((n.min(super::tiles::DEPTH) as f64).sqrt() + (n as f64 / super::tiles::DEPTH as f64).sqrt());
        let image = |norm: Option<f64>, longest: f64| norm.map_or([0.0; 2], |norm| [chain(job.d), 0.15 * norm * longest]);
        Self {
            beta: job.beta.abs(),
            product: 1.0 + 0.15 * (rank as f64).sqrt(),
            spread: 1.0 / (rank as f64).sqrt(),
            images: [image(q, longest[0]), image(k, longest[1])],
        }
    }

    /// The error of a large logit of a query of this length.
    fn logit(&self, query: f64, key: f64, top: f64) -> f64 {
        let [[a, b], [c, e]] = self.images;
        let images = (a * query + b) * key + (c * key + e) * query;
        let all = self.beta * (self.product * query * key + self.spread * images) + 2.0 * top.abs();
        0.5 * f64::EPSILON * all
    }
}
