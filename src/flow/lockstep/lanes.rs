//! Explicit steps of every lane of a vector: [`crate::flow::Step`] with systems instead of coordinates side by side.

use crate::attention::kernel::{Attention, Pull, WIDEST};
use crate::flow::tableau::Tableau;
use crate::num::aligned::Aligned;
use crate::num::simd::{Lanes, Level, Task};
use crate::sphere::Tokens;

/// One number per lane.
pub type PerLane = [f64; WIDEST];

/// Tokens, stages and steps in lanes.
pub struct State {
    pull: Pull,
    tableau: &'static Tableau,
    level: Level,
    pub n: usize,
    pub d: usize,
    pub h: PerLane,
    x: Aligned<f64>,
    /// Initial tokens in every token, 0 for shadows.
    pub sizes: Aligned<f64>,
    end: Aligned<f64>,
    pub stage: Aligned<f64>,
    k: Vec<Aligned<f64>>,
    dense: Vec<Aligned<f64>>,
    /// Room for one vector per token.
    mass: Aligned<f64>,
}

/// What a state can do.
#[derive(Clone, Copy)]
pub enum Op {
    /// The velocity at the start.
    Velocity,
    /// Largest speed of a token at the start.
    Speed,
    /// A step: largest error and displacement of a token.
    Attempt,
    /// What interpolation needs.
    Dense,
    /// The points at these fractions of the step, into `stage`.
    Interpolate(PerLane),
    /// The starts into `stage`.
    Stay,
    /// Ends become starts where this is 1.
    Accept(PerLane),
    /// Smallest squared chord of two tokens that are.
    Nearest,
}

impl State {
    /// Systems of n tokens in d dimensions at `x`, with their velocities.
    pub fn new(attention: &Attention, tableau: &'static Tableau, (n, d): (usize, usize), x: &[f64]) -> Self {
        let room = |len: usize| {
            let mut buffer = Aligned::default();
            buffer.reset(len);
            buffer
        };
        let per_token = x.len() / d;
        let mut state = Self {
            pull: Pull::of(attention, n),
            tableau,
            level: attention.level,
            n,
            d,
            h: [0.0; WIDEST],
            x: room(x.len()),
            sizes: room(per_token),
            end: room(x.len()),
            stage: room(x.len()),
            k: (0..=tableau.a.len()).map(|_| room(x.len())).collect(),
            dense: (0..3 + tableau.dense.len()).map(|_| room(x.len())).collect(),
            mass: room(per_token),
        };
        state.x.copy_from_slice(x);
        state.sizes.fill(1.0);
        state.run(Op::Velocity);
        state
    }

    pub fn run(&mut self, op: Op) -> (PerLane, PerLane) {
        let level = self.level;
        level.run(Work { state: self, op })
    }

    /// The tokens of lane k, their sizes as masses.
    pub fn read(&self, k: usize, live: usize, width: usize) -> Tokens {
        let lane = |from: &[f64], count: usize| from.iter().skip(k).step_by(width).take(count).copied().collect();
        Tokens::from_parts(self.d, lane(&self.x, live * self.d), lane(&self.sizes, live))
    }

    /// Writes the tokens of lane k and shadows of its last one.
    pub fn write(&mut self, k: usize, tokens: &Tokens, width: usize) {
        let (live, d) = (tokens.n(), self.d);
        for i in 0..self.n {
            let row = tokens.row(i.min(live - 1));
            (0..d).for_each(|c| self.x[(i * d + c) * width + k] = row[c]);
            self.sizes[i * width + k] = tokens.masses().get(i).copied().unwrap_or(0.0);
        }
    }
}

struct Work<'a> {
    state: &'a mut State,
    op: Op,
}

impl Task for Work<'_> {
    type F = f64;
    type Output = (PerLane, PerLane);

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) -> Self::Output {
        let Self { state: s, op } = self;
        let (size, n) = (s.n * s.d, s.n);
        let zero = [0.0; WIDEST];
        match op {
            Op::Velocity => {
                let (x, sizes) = (&L::view(&s.x)[..size], &L::view(&s.sizes)[..n]);
                s.pull.velocities(l, s.d, x, sizes, &mut L::view_mut(&mut s.k[0])[..size], L::view_mut(&mut s.mass));
            }
            Op::Speed => return (largest_row(l, s.d, &L::view(&s.k[0])[..size]), zero),
            Op::Attempt => return attempt(l, s),
            Op::Dense => dense(l, s),
            Op::Interpolate(theta) => interpolate(l, s, &theta),
            Op::Stay => L::view_mut(&mut s.stage)[..size].copy_from_slice(&L::view(&s.x)[..size]),
            Op::Accept(mask) => {
                let (mask, half) = (L::view(&mask)[0], l.constant(0.5));
                let take = l.greater(mask, half);
                let (first, rest) = s.k.split_at_mut(1);
                let last = L::view(&rest[s.tableau.stages - 1]);
                let moves = [(L::view_mut(&mut s.x), L::view(&s.end)), (L::view_mut(&mut first[0]), last)];
                for (to, from) in moves {
                    for (to, from) in to[..size].iter_mut().zip(from) {
                        *to = l.select(take, *from, *to);
                    }
                }
            }
            Op::Nearest => return (nearest(l, s.d, &L::view(&s.x)[..size], L::view(&s.sizes)), zero),
        }
        (zero, zero)
    }
}

/// One vector as numbers.
#[inline(always)]
fn numbers<L: Lanes<F = f64>>(v: L::V) -> PerLane {
    let mut out = [0.0; WIDEST];
    L::view_mut(&mut out)[0] = v;
    out
}

/// A stage and its weight.
type Term<'a, V> = (&'a [V], V);

/// Stages of the largest method, with those of its dense output.
const MOST_STAGES: usize = 17;

/// Stages with a weight, and how many.
#[inline(always)]
fn terms<'a, L: Lanes<F = f64>>(l: L, weights: &[f64], k: &'a [Aligned<f64>]) -> ([Term<'a, L::V>; MOST_STAGES], usize) {
    let mut terms = [(&L::view(&k[0])[..0], l.zero()); MOST_STAGES];
    let mut count = 0;
    for (w, k) in weights.iter().zip(k) {
        if *w != 0.0 {
            terms[count] = (L::view(k), l.constant(*w));
            count += 1;
        }
    }
    (terms, count)
}

/// `sum_k w_k v_k` of U coordinates from c.
#[inline(always)]
fn combined<L: Lanes<F = f64>, const U: usize>(l: L, terms: &[Term<L::V>], c: usize) -> [L::V; U] {
    let mut sums = [l.zero(); U];
    for (k, w) in terms {
        let k = &k[c..c + U];
        for u in 0..U {
            sums[u] = l.fma(*w, k[u], sums[u]);
        }
    }
    sums
}

/// Calls `put` with every coordinate of a combination of stages.
#[inline(always)]
fn each<L: Lanes<F = f64>>(l: L, terms: &[Term<L::V>], size: usize, mut put: impl FnMut(usize, L::V)) {
    let whole = size - size % 8;
    for c in (0..whole).step_by(8) {
        for (u, v) in combined::<L, 8>(l, terms, c).into_iter().enumerate() {
            put(c + u, v);
        }
    }
    for c in whole..size {
        put(c, combined::<L, 1>(l, terms, c)[0]);
    }
}

/// Divides every token by its length.
#[inline(always)]
fn retract<L: Lanes<F = f64>>(l: L, d: usize, y: &mut [L::V]) {
    for row in y.chunks_exact_mut(d) {
        let mut square = l.zero();
        for v in &*row {
            square = l.fma(*v, *v, square);
        }
        let inverse = l.div(l.constant(1.0), l.sqrt(square));
        for v in row {
            *v = l.mul(*v, inverse);
        }
    }
}

/// Stage i into `stage`, retracted.
#[inline(always)]
fn combine<L: Lanes<F = f64>>(l: L, s: &mut State, i: usize) {
    let size = s.n * s.d;
    let (terms, count) = terms::<L>(l, s.tableau.a[i - 1], &s.k);
    let (x, stage, h) = (L::view(&s.x), &mut L::view_mut(&mut s.stage)[..size], L::view(&s.h)[0]);
    each::<L>(
        l,
        &terms[..count],
        size,
        #[inline(always)]
        |c, sum| stage[c] = l.fma(h, sum, x[c]),
    );
    retract(l, s.d, stage);
}

/// Velocity k at `stage`.
#[inline(always)]
fn evaluate<L: Lanes<F = f64>>(l: L, s: &mut State, k: usize) {
    let size = s.n * s.d;
    let (stage, sizes) = (&L::view(&s.stage)[..size], &L::view(&s.sizes)[..s.n]);
    s.pull.velocities(l, s.d, stage, sizes, &mut L::view_mut(&mut s.k[k])[..size], L::view_mut(&mut s.mass));
}

#[inline(always)]
fn attempt<L: Lanes<F = f64>>(l: L, s: &mut State) -> (PerLane, PerLane) {
    let size = s.n * s.d;
    for i in 1..=s.tableau.stages {
        combine(l, s, i);
        evaluate(l, s, i);
    }
    L::view_mut(&mut s.end)[..size].copy_from_slice(&L::view(&s.stage)[..size]);
    let (first, count) = terms::<L>(l, s.tableau.estimators[0], &s.k);
    let guard = s.tableau.estimators.get(1).map(|e| terms::<L>(l, e, &s.k));
    let (x, end, h) = (L::view(&s.x), L::view(&s.end), L::view(&s.h)[0]);
    let (mut worst, mut furthest) = (l.zero(), l.zero());
    for i in 0..s.n {
        let (mut one, mut two, mut way) = (l.zero(), l.zero(), l.zero());
        for c in i * s.d..(i + 1) * s.d {
            let e = l.mul(h, combined::<L, 1>(l, &first[..count], c)[0]);
            one = l.fma(e, e, one);
            if let Some((second, count)) = &guard {
                let e = l.mul(h, combined::<L, 1>(l, &second[..*count], c)[0]);
                two = l.fma(e, e, two);
            }
            let y = l.sub(end[c], x[c]);
            way = l.fma(y, y, way);
        }
        let below = l.max(l.fma(l.constant(0.01), two, one), l.constant(f64::MIN_POSITIVE));
        let error = if guard.is_some() { l.div(one, l.sqrt(below)) } else { l.sqrt(one) };
        // The comparison keeps what is not a number.
        worst = l.select(l.greater(worst, error), worst, error);
        furthest = l.max(furthest, way);
    }
    (numbers::<L>(worst), numbers::<L>(l.sqrt(furthest)))
}

/// Extra stages and the rows of the dense output, as [`crate::flow::Step::prepare_dense`].
#[inline(always)]
fn dense<L: Lanes<F = f64>>(l: L, s: &mut State) {
    for i in s.tableau.stages + 1..=s.tableau.a.len() {
        combine(l, s, i);
        evaluate(l, s, i);
    }
    let size = s.n * s.d;
    let (h, two) = (L::view(&s.h)[0], l.constant(2.0));
    let (x, end, start, last) = (L::view(&s.x), L::view(&s.end), L::view(&s.k[0]), L::view(&s.k[s.tableau.stages]));
    for c in 0..size {
        let delta = l.sub(end[c], x[c]);
        let third = l.sub(l.mul(two, delta), l.mul(h, l.add(start[c], last[c])));
        for (row, v) in s.dense.iter_mut().zip([delta, l.sub(l.mul(h, start[c]), delta), third]) {
            L::view_mut(row)[c] = v;
        }
    }
    for (weights, row) in s.tableau.dense.iter().zip(&mut s.dense[3..]) {
        let (terms, count) = terms::<L>(l, weights, &s.k);
        let row = L::view_mut(row);
        each::<L>(
            l,
            &terms[..count],
            size,
            #[inline(always)]
            |c, sum| row[c] = l.mul(h, sum),
        );
    }
}

#[inline(always)]
fn interpolate<L: Lanes<F = f64>>(l: L, s: &mut State, theta: &PerLane) {
    let size = s.n * s.d;
    let theta = L::view(theta)[0];
    let rest = l.sub(l.constant(1.0), theta);
    let (x, stage) = (L::view(&s.x), &mut L::view_mut(&mut s.stage)[..size]);
    for (c, y) in stage.iter_mut().enumerate() {
        let mut sum = l.zero();
        for (i, row) in s.dense.iter().enumerate().rev() {
            sum = l.mul(l.add(sum, L::view(row)[c]), if i % 2 == 0 { theta } else { rest });
        }
        *y = l.add(x[c], sum);
    }
    retract(l, s.d, stage);
}

/// Largest norm of a token's vector.
#[inline(always)]
fn largest_row<L: Lanes<F = f64>>(l: L, d: usize, v: &[L::V]) -> PerLane {
    let mut top = l.zero();
    for row in v.chunks_exact(d) {
        let mut square = l.zero();
        for v in row {
            square = l.fma(*v, *v, square);
        }
        top = l.max(top, square);
    }
    numbers::<L>(l.sqrt(top))
}

#[inline(always)]
fn nearest<L: Lanes<F = f64>>(l: L, d: usize, x: &[L::V], sizes: &[L::V]) -> PerLane {
    let (far, half) = (l.constant(8.0), l.constant(0.5));
    let mut least = far;
    for (i, xi) in x.chunks_exact(d).enumerate() {
        let real = l.greater(sizes[i], half);
        let mut mine = far;
        // Shadows come last: a token that is has only such before it.
        for xj in x.chunks_exact(d).take(i) {
            let mut chord = l.zero();
            for (a, b) in xi.iter().zip(xj) {
                let y = l.sub(*a, *b);
                chord = l.fma(y, y, chord);
            }
            mine = l.min(mine, chord);
        }
        least = l.min(least, l.select(real, mine, far));
    }
    numbers::<L>(least)
}
