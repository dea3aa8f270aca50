//! Softmax over blocks of sources with a running maximum: queries in lanes, so that maxima, sums and exponentials never cross lanes.

use super::project::{Images, Of};
use super::seen::{BLOCK, Exponents, Seen, Tile};
use super::share::Piece;
use super::stack::Stack;
use super::tiles::{product, product_of_tile, rows, slabs};
use super::{Job, Shape};
use crate::attention::kernel::Weights;
use crate::num::simd::{Float, Lanes, Task};
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
    pub job: &'a Job<'a>,
    pub shape: &'a Shape,
    pub stack: &'a Stack<F>,
    pub images: &'a Images<F>,
    /// Masses, none when all are equal.
    pub masses: &'a [F],
    /// Lengths of the longest query and source token.
    pub longest: [f64; 2],
}

/// One group of queries under one head.
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
        match (rows::<L>(), self.piece.group.1) {
            (8, 3) => self.group::<L, 8, 3>(l),
            (8, _) => self.group::<L, 8, 2>(l),
            (_, 3) => self.group::<L, 4, 3>(l),
            _ => self.group::<L, 4, 2>(l),
        }
    }
}

/// Running maxima and sums of the queries of a group.
struct Running<T, const V: usize> {
    top: [T; V],
    /// Minus the maxima as exponents.
    shift: [T; V],
    sum: [T; V],
}

impl<F: Float> Attend<'_, F> {
    #[inline(always)]
    fn group<L: Lanes<F = F>, const R: usize, const V: usize>(self, l: L) {
        let Self { source, piece, out, rows } = self;
        let &Source { job, shape, stack, images, masses, .. } = source;
        let (rank, size) = (stack.heads[piece.head].rank, stack.heads[piece.head].size);
        let (of, exponents) = (images.of(piece.head), Exponents::new(job, piece.head));
        let first = piece.group.0 * L::WIDTH;
        let seen = Seen::<L::V, V>::new(l, job, first, shape.queries, shape.sources);
        let queries = slabs::<L, V>(of.queries, piece.group.0, rank, (0, rank));
        let lowest = l.constant(f64::NEG_INFINITY);
        let mut state = Running { top: [lowest; V], shift: [l.constant(f64::INFINITY); V], sum: [l.zero(); V] };
        let mut tile: Tile<L::V, V> = [[l.zero(); V]; BLOCK];
        let out = L::view_mut(out);
        let mut fresh = true;
        let mut from = seen.some.0 / R * R;
        while from < seen.some.1 {
            let to = (from + BLOCK).min(seen.some.1);
            scores::<L, R, V>(l, &of, rank, queries, (from, to), job.beta < 0.0 && !exponents.biased(), &mut tile);
            let tile = &mut tile[..to - from];
            exponents.add::<L, V>(l, job, (first, shape.queries), from, tile);
            if seen.cuts(from, to) {
                seen.mask(l, from, tile);
            }
            let masses = if masses.is_empty() { masses } else { &masses[from..to] };
            let rescale = weights::<L, V>(l, l.constant(exponents.factor::<F>()), masses, tile, &mut state);
            if let Some(scale) = rescale.filter(|_| !fresh) {
                scale_all::<L, V>(l, out, size, &scale);
            }
            sums::<L, R, V>(l, &of, (size, shape.sources), from, tile, out, fresh);
            (fresh, from) = (false, to);
        }
        if fresh {
            out.fill(l.zero());
        }
        finish::<L, V>(l, source, piece, (&exponents, queries, &state), out, rows);
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
    tile: &mut Tile<L::V, V>,
) {
    for j in (from..to).step_by(R) {
        let keys = &of.keys[j / L::WIDTH * rank * L::WIDTH..][..rank * L::WIDTH];
        let acc = product::<L, R, V>(l, keys, j % L::WIDTH, queries, [[l.zero(); V]; R]);
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
    state: &mut Running<L::V, V>,
) -> Option<[L::V; V]> {
    let mut top = state.top;
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
pub(super) fn scale_all<L: Lanes, const V: usize>(l: L, out: &mut [L::V], size: usize, scale: &[L::V; V]) {
    for (v, slab) in out.chunks_exact_mut(size).enumerate().take(V) {
        for x in slab {
            *x = l.mul(*x, scale[v]);
        }
    }
}

/// Adds `sum_j w_ij V y_j` over a block (`fresh`: writes it).
#[inline(always)]
pub(super) fn sums<L: Lanes, const R: usize, const V: usize>(
    l: L,
    of: &Of<L::F>,
    (size, count): (usize, usize),
    from: usize,
    tile: &[[L::V; V]],
    out: &mut [L::V],
    fresh: bool,
) {
    for c in (0..size).step_by(R) {
        let values = &of.values[(c / L::WIDTH * count + from) * L::WIDTH..][..tile.len() * L::WIDTH];
        let acc = product_of_tile::<L, R, V>(l, values, c % L::WIDTH, tile);
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

/// Divides by the sums of the weights, or restores their size, and notes what is to be known of the rows.
#[inline(always)]
fn finish<L: Lanes, const V: usize>(
    l: L,
    source: &Source<L::F>,
    piece: &Piece,
    (exponents, queries, state): (&Exponents, [&[L::V]; V], &Running<L::V, V>),
    out: &mut [L::V],
    rows: &mut [Row],
) {
    let Source { job, stack, images, masses, longest, .. } = source;
    let matrices = &stack.heads[piece.head];
    let doubt = Doubt::new(job, matrices.rank, matrices.q.as_ref().map(|m| m.norm), matrices.k.as_ref().map(|m| m.norm), *longest);
    let lightest = masses.iter().fold(f64::INFINITY, |m, x| if x.to_f64() > 0.0 { m.min(x.to_f64()) } else { m });
    let lightest = if masses.is_empty() { 1.0 } else { lightest };
    let (mut scale, size) = ([l.zero(); V], out.len() / V);
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
            let top = tops[lane] * exponents.factor::<L::F>() / LOG2_E;
            let total = totals[lane];
            let row = &mut rows[v * L::WIDTH + lane];
            let seen = total > 0.0;
            let error = doubt.logit(squares[lane].sqrt(), images.longest_key[piece.head], top);
            let (factor, spread) = match job.weights {
                Weights::Softmax => (1.0 / total, 1.0 - lightest / total),
                Weights::Exponential { log_factor } => (job.unit(masses.is_empty()) * exponential(top, log_factor), 1.0),
            };
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

/// `e^{top + log_factor}`; two factors round less than one where neither leaves the range.
pub(super) fn exponential(top: f64, log_factor: f64) -> f64 {
    if top.abs() < 600.0 && log_factor.abs() < 100.0 { top.exp() * log_factor.exp() } else { (top + log_factor).exp() }
}

/// An error of a logit times the share of other sources from which on a row is doubtful.
const TOLERANCE: f64 = 4e-14;

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
    fn new(job: &Job, rank: usize, q: Option<f64>, k: Option<f64>, longest: [f64; 2]) -> Self {
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
