//! Doubtful rows once more: images and logits in twice the precision, of the sources near the largest logit.

use super::attend::{Row, exponential, scale_all, sums};
use super::exact::{Exact, Pair};
use super::job::{HeadsJob, Shape};
use super::project::Images;
use super::seen::{BLOCK, Seen};
use super::stack::{Packed, Stack};
use super::tiles::{product, slabs};
use crate::kernel::Weights;
use crate::pattern::Bias;
use crate::num::dd::Dd;
use crate::num::simd::{Lanes, Task};
use std::f64::consts::LOG2_E;

/// Logits so far below the largest add nothing.
const FAR: f64 = -50.0;

/// Rows of A taken at a time.
const R: usize = 4;

/// Images of one vector of tokens, in two parts one after the other, each a slab of as many columns as Q or K has rows.
pub(super) struct ExactImages<'a> {
    pub job: &'a HeadsJob<'a>,
    pub matrix: Option<&'a Packed<f64>>,
    pub rank: usize,
    /// The tokens of the vector, the first one's number, and how many tokens there are.
    pub tokens: &'a [f64],
    pub first: usize,
    pub count: usize,
    pub out: &'a mut [f64],
}

impl Task for ExactImages<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        let Self { job, matrix, rank, tokens, first, count, out } = self;
        let (exact, tokens, d) = (Exact::new(l), L::view(tokens), job.d);
        let (high, low) = out.split_at_mut(rank * L::WIDTH);
        match matrix {
            None => {
                L::view_mut(high).copy_from_slice(tokens);
                low.fill(0.0);
            }
            Some(matrix) => {
                let (high, low) = (L::view_mut(high), L::view_mut(low));
                for c in (0..rank).step_by(R) {
                    let rows = &matrix.slabs[c / L::WIDTH * d * L::WIDTH..][..d * L::WIDTH];
                    let mut acc = [(l.zero(), l.zero()); R];
                    for (a, x) in rows.chunks_exact(L::WIDTH).zip(tokens) {
                        for r in 0..R {
                            acc[r] = exact.add_short_product(acc[r], l.splat(a[c % L::WIDTH + r]), *x);
                        }
                    }
                    for r in 0..R.min(rank - c) {
                        (high[c + r], low[c + r]) = exact.tidied(acc[r]);
                    }
                }
            }
        }
        if job.pattern.turns() {
            let mut image = vec![Dd::default(); rank];
            for lane in 0..L::WIDTH.min(count.saturating_sub(first)) {
                let at = |c: usize| c * L::WIDTH + lane;
                image.iter_mut().enumerate().for_each(|(c, x)| *x = Dd::from(high[at(c)]) + Dd::from(low[at(c)]));
                job.pattern.place_exactly(first + lane, &mut image);
                for (c, x) in image.iter().enumerate() {
                    high[at(c)] = x.to_f64();
                    low[at(c)] = (*x - Dd::from(high[at(c)])).to_f64();
                }
            }
        }
    }
}

/// One vector of queries under one head.
pub(super) struct Again<'a> {
    pub job: &'a HeadsJob<'a>,
    pub shape: &'a Shape,
    pub stack: &'a Stack<f64>,
    pub images: &'a Images<f64>,
    pub masses: &'a [f64],
    pub head: usize,
    /// Number of the vector.
    pub vector: usize,
    /// Images of its queries, and of all sources by vectors.
    pub queries: &'a [f64],
    pub keys: &'a [f64],
    pub rows: &'a [Row],
    /// `sum_j A_ij V y_j`, in a slab.
    pub out: &'a mut [f64],
}

impl Task for Again<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        let (job, shape) = (self.job, self.shape);
        let size = self.stack.heads[self.head].size;
        let first = self.vector * L::WIDTH;
        let seen = Seen::<L::V, 1>::new(l, job, first, shape.queries, shape.sources);
        let mut shift = [0.0; 16];
        self.rows.iter().zip(&mut shift).for_each(|(row, s)| *s = if row.top.is_finite() { row.top } else { 0.0 });
        let mut tile = [[l.zero(); 1]; BLOCK];
        let mut total = l.zero();
        let of = self.images.of(self.head);
        let (mut from, mut fresh) = (seen.some.0 / L::WIDTH * L::WIDTH, true);
        while from < seen.some.1 {
            let to = (from / BLOCK * BLOCK + BLOCK).min(seen.some.1);
            self.exponents(l, (from, to), l.load(&shift), &mut tile);
            let tile = &mut tile[..to - from];
            seen.mask(l, from, tile);
            for (k, row) in tile.iter_mut().enumerate() {
                let w = l.exp2(row[0]);
                row[0] = self.masses.get(from + k).map_or(w, |m| l.mul(w, l.splat(*m)));
                total = l.add(total, row[0]);
            }
            sums::<L, R, 1>(l, &of, (size, shape.sources), from, tile, L::view_mut(self.out), fresh);
            (from, fresh) = (to, false);
        }
        let (mut totals, mut factors) = ([0.0; 16], [0.0; 16]);
        l.store(total, &mut totals);
        for lane in (0..L::WIDTH).filter(|lane| !fresh && totals[*lane] > 0.0) {
            factors[lane] = match job.weights {
                Weights::Softmax => 1.0 / totals[lane],
                Weights::Exponential { log_factor } => job.unit(self.masses.is_empty()) * exponential(shift[lane], log_factor),
            };
        }
        scale_all::<L, 1>(l, L::view_mut(self.out), size, &[l.load(&factors)]);
    }
}

impl Again<'_> {
    /// Exponents of 2 relative to the shifts; minus infinity far below.
    #[inline(always)]
    fn exponents<L: Lanes<F = f64>>(&self, l: L, (from, to): (usize, usize), shift: L::V, tile: &mut [[L::V; 1]; BLOCK]) {
        let (exact, rank) = (Exact::new(l), self.stack.heads[self.head].rank);
        let (beta, far) = (l.splat(self.job.beta), l.splat(f64::NEG_INFINITY));
        let (high, low) = self.queries.split_at(rank * L::WIDTH);
        let (high, low) = (slabs::<L, 1>(high, 0, rank, (0, rank)), L::view(low));
        let mut biases = [0.0; 16 * BLOCK];
        self.biases::<L>((from, to), &mut biases);
        for j in (from..to).step_by(R) {
            let keys = &self.keys[j / L::WIDTH * 2 * rank * L::WIDTH..][..2 * rank * L::WIDTH];
            let (upper, lower) = keys.split_at(rank * L::WIDTH);
            let rough = product::<L, R, 1>(l, upper, j % L::WIDTH, high, [[l.zero(); 1]; R]);
            let mut bias = [(l.zero(), l.zero()); R];
            let mut near = far;
            for r in 0..R {
                if j + r < to {
                    bias[r] = self.bias(l, exact, j + r, &biases[(j + r - from) * L::WIDTH..]);
                    near = l.max(near, l.sub(l.fma(rough[r][0], beta, bias[r].0), shift));
                }
                tile[(j - from + r).min(BLOCK - 1)] = [far];
            }
            if l.largest(near) < FAR {
                continue;
            }
            let mut scores = [(l.zero(), l.zero()); R];
            let parts = upper.chunks_exact(L::WIDTH).zip(lower.chunks_exact(L::WIDTH));
            for ((a, b), (x, y)) in parts.zip(high[0].iter().zip(low)) {
                for r in 0..R {
                    let at = j % L::WIDTH + r;
                    scores[r] = exact.add_product(scores[r], (l.splat(a[at]), l.splat(b[at])), (*x, *y));
                }
            }
            for r in 0..R {
                if j + r < to {
                    let (s, t) = exact.tidied(scores[r]);
                    let (p, e) = exact.product(beta, s);
                    let (sum, f) = exact.sum(p, bias[r].0);
                    let rest = l.add(l.fma(beta, t, e), l.add(f, bias[r].1));
                    // The difference to the largest is small: it rounds little.
                    let (difference, g) = exact.sum(sum, l.sub(l.zero(), shift));
                    tile[j - from + r] = [l.mul(l.add(difference, l.add(g, rest)), l.splat(LOG2_E))];
                }
            }
        }
    }

    /// Biases that are asked for one by one, sources by lanes.
    fn biases<L: Lanes<F = f64>>(&self, (from, to): (usize, usize), out: &mut [f64]) {
        if self.job.pattern.form(self.head) != Bias::Any {
            return;
        }
        let mut one = [0.0; BLOCK];
        for lane in 0..L::WIDTH {
            let i = (self.vector * L::WIDTH + lane).min(self.shape.queries - 1);
            self.job.pattern.biases(self.head, i, from, &mut one[..to - from]);
            out[lane..].iter_mut().step_by(L::WIDTH).zip(&one[..to - from]).for_each(|(o, b)| *o = *b);
        }
    }

    /// The bias of source j, in two parts.
    #[inline(always)]
    fn bias<L: Lanes<F = f64>>(&self, l: L, exact: Exact<L>, j: usize, one_by_one: &[f64]) -> Pair<L::V> {
        match self.job.pattern.form(self.head) {
            Bias::Absent => (l.zero(), l.zero()),
            Bias::Any => (l.load(one_by_one), l.zero()),
            Bias::Distance { slope } => {
                let mut distance = [0.0; 16];
                distance.iter_mut().enumerate().for_each(|(k, x)| *x = (self.vector * L::WIDTH + k).abs_diff(j) as f64);
                exact.product(l.splat(-slope), l.load(&distance))
            }
        }
    }
}
