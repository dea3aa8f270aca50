//! Explicit steps of every lane of a vector: the explicit steps of tokens with systems instead of coordinates side by side.

use crate::attention::kernel::{Attention, Pull, WIDEST};
use crate::flow::tableau::Tableau;
use crate::num::aligned::Aligned;
use crate::num::simd::{Lanes, Level, Task};

/// One number per lane.
pub type PerLane = [f64; WIDEST];

/// The tokens of a system outside the lanes.
pub struct SystemTokens {
    pub x: Vec<f64>,
    /// Initial tokens in every token.
    pub sizes: Vec<f64>,
}

/// Tokens, stages and steps in lanes.
pub struct State {
    pull: Pull,
    pub tableau: Tableau,
    stages: Vec<Terms>,
    estimators: Vec<Terms>,
    interpolants: Vec<Terms>,
    level: Level,
    width: usize,
    /// Some token is of several initial ones, or none.
    pub merged: bool,
    pub n: usize,
    pub d: usize,
    pub h: PerLane,
    x: Aligned<f64>,
    /// Initial tokens in every token, 0 for shadows.
    sizes: Aligned<f64>,
    end: Aligned<f64>,
    stage: Aligned<f64>,
    k: Vec<Aligned<f64>>,
    /// Rows of the dense output, zeros beyond those of the method.
    dense: Vec<Aligned<f64>>,
    /// Room for one vector per token: masses, or squared chords to the nearest earlier token.
    mass: Aligned<f64>,
}

/// What a state can do.
#[derive(Clone, Copy)]
pub enum Op {
    /// The velocity at the start: largest speed of a token.
    Start,
    /// A step: largest error and displacement of a token.
    Attempt,
    /// What interpolation needs.
    Dense,
    /// Ends become starts where this is 1.
    Accept(PerLane),
    /// Smallest squared chord of two tokens that are, at the end of the step.
    Nearest,
}

impl State {
    /// Room for systems of up to n tokens in d dimensions.
    pub fn new(attention: &Attention, tableau: Tableau, (n, d): (usize, usize)) -> Self {
        let width = attention.level.width::<f64>();
        let room = |vectors: usize| {
            let mut buffer = Aligned::default();
            buffer.reset(vectors * width);
            buffer
        };
        Self {
            pull: Pull::of(attention, (n, d)),
            tableau,
            stages: terms(tableau.a),
            estimators: terms(tableau.estimators),
            interpolants: terms(tableau.dense),
            level: attention.level,
            width,
            merged: true,
            n,
            d,
            h: [0.0; WIDEST],
            x: room(n * d),
            sizes: room(n),
            end: room(n * d),
            stage: room(n * d),
            k: (0..=tableau.a.len()).map(|_| room(n * d)).collect(),
            dense: (0..MOST_ROWS).map(|_| room(n * d)).collect(),
            mass: room(n),
        }
    }

    /// The number of lanes.
    pub fn lanes(&self) -> usize {
        self.width
    }

    pub fn run(&mut self, op: Op) -> (PerLane, PerLane) {
        let level = self.level;
        level.run(Work { state: self, op })
    }

    /// Takes the tokens of lane k out.
    pub fn store(&self, k: usize, tokens: &mut SystemTokens) {
        tokens.x.iter_mut().zip(self.x.iter().skip(k).step_by(self.width)).for_each(|(to, from)| *to = *from);
    }

    /// Takes the tokens of lane k at the end of the step out.
    pub fn store_end(&self, k: usize, tokens: &mut SystemTokens) {
        tokens.x.iter_mut().zip(self.end.iter().skip(k).step_by(self.width)).for_each(|(to, from)| *to = *from);
    }

    /// After [`Op::Dense`]: the system of lane k at these shares of its step, for each coordinate of as many tokens as there is room for one vector of times.
    pub fn interpolate(&self, lane: usize, theta: PerLane, x: &mut [f64]) {
        self.level.run(Interpolation { state: self, lane, theta, x });
    }

    /// After [`Op::Nearest`]: the tokens of lane k with an earlier one within this squared chord.
    pub fn near_earlier(&self, k: usize, square: f64) -> impl Iterator<Item = usize> {
        let chords = self.mass.iter().skip(k).step_by(self.width).zip(self.sizes.iter().skip(k).step_by(self.width));
        chords.take(self.n).enumerate().filter(move |(_, (chord, size))| **chord <= square && **size > 0.0).map(|(i, _)| i)
    }

    /// Puts tokens into lane k, and shadows of the last one.
    pub fn load(&mut self, k: usize, tokens: &SystemTokens) {
        let (live, d, width) = (tokens.sizes.len(), self.d, self.width);
        let shadows = tokens.x[(live - 1) * d..].iter().cycle();
        let lane = self.x.iter_mut().skip(k).step_by(width).take(self.n * d);
        lane.zip(tokens.x.iter().chain(shadows)).for_each(|(to, from)| *to = *from);
        let lane = self.sizes.iter_mut().skip(k).step_by(width).take(self.n);
        lane.zip(tokens.sizes.iter().chain(std::iter::repeat(&0.0))).for_each(|(to, from)| *to = *from);
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
        let (size, last) = (s.n * s.d, s.tableau.stages);
        let velocities = match op {
            Op::Start => 0..1,
            Op::Attempt => 1..last + 1,
            Op::Dense => last + 1..s.k.len(),
            _ => 0..0,
        };
        for i in velocities {
            evaluate(l, s, i);
        }
        let none = [0.0; WIDEST];
        match op {
            Op::Start => return (largest_row(l, s.d, &L::view(&s.k[0])[..size]), none),
            Op::Attempt => return estimates(l, s),
            Op::Dense => dense(l, s),
            Op::Accept(mask) => {
                let (mask, half) = (L::view(&mask)[0], l.constant(0.5));
                let take = l.greater(mask, half);
                let (first, rest) = s.k.split_at_mut(1);
                let last = L::view(&rest[last - 1]);
                let moves = [(L::view_mut(&mut s.x), L::view(&s.end)), (L::view_mut(&mut first[0]), last)];
                for (to, from) in moves {
                    for (to, from) in to[..size].iter_mut().zip(from) {
                        *to = l.select(take, *from, *to);
                    }
                }
            }
            Op::Nearest => return (nearest(l, s.d, &L::view(&s.end)[..size], L::view(&s.sizes), L::view_mut(&mut s.mass)), none),
        }
        (none, none)
    }
}

/// One vector as numbers.
#[inline(always)]
fn numbers<L: Lanes<F = f64>>(v: L::V) -> PerLane {
    let mut out = [0.0; WIDEST];
    L::view_mut(&mut out)[0] = v;
    out
}

/// Stages and their weights.
type Terms = Vec<(usize, f64)>;

/// The terms of every row that have a weight.
fn terms(rows: &[&[f64]]) -> Vec<Terms> {
    rows.iter().map(|row| row.iter().copied().enumerate().filter(|(_, w)| *w != 0.0).collect()).collect()
}

/// `sum_k w_k v_k` of U coordinates from c.
#[inline(always)]
fn combined<L: Lanes<F = f64>, const U: usize>(l: L, terms: &[(usize, f64)], k: &[Aligned<f64>], c: usize) -> [L::V; U] {
    let mut sums = [l.zero(); U];
    for (k, w) in terms.iter().map(|(i, w)| (&L::view(&k[*i])[c..c + U], l.splat(*w))) {
        for u in 0..U {
            sums[u] = l.fma(w, k[u], sums[u]);
        }
    }
    sums
}

/// Calls `put` with every coordinate of a combination of stages.
#[inline(always)]
fn each<L: Lanes<F = f64>>(l: L, terms: &[(usize, f64)], k: &[Aligned<f64>], size: usize, mut put: impl FnMut(usize, L::V)) {
    let whole = size - size % 8;
    for c in (0..whole).step_by(8) {
        for (u, v) in combined::<L, 8>(l, terms, k, c).into_iter().enumerate() {
            put(c + u, v);
        }
    }
    for c in whole..size {
        put(c, combined::<L, 1>(l, terms, k, c)[0]);
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
        let inverse = l.inverse_sqrt(square);
        for v in row {
            *v = l.mul(*v, inverse);
        }
    }
}

/// Stage i into `stage`, retracted, and its velocity; stage 0 is the start.
#[inline(always)]
fn evaluate<L: Lanes<F = f64>>(l: L, s: &mut State, i: usize) {
    let size = s.n * s.d;
    let (x, stage, h) = (&L::view(&s.x)[..size], &mut L::view_mut(&mut s.stage)[..size], L::view(&s.h)[0]);
    if i == 0 {
        stage.copy_from_slice(x);
    } else {
        each::<L>(
            l,
            &s.stages[i - 1],
            &s.k,
            size,
            #[inline(always)]
            |c, sum| stage[c] = l.fma(h, sum, x[c]),
        );
        retract(l, s.d, stage);
    }
    let (numbers, tokens) = (size * L::WIDTH, s.n * L::WIDTH);
    let sizes = if s.merged { &s.sizes[..tokens] } else { &[] };
    s.pull.velocities(l, s.level, s.d, (&s.stage[..numbers], sizes), (&mut s.k[i][..numbers], &mut s.mass[..tokens]));
}

/// An estimate of the error, into a row of the dense output.
#[inline(always)]
fn estimate<L: Lanes<F = f64>>(l: L, s: &mut State, estimator: usize, into: usize) {
    let (size, h) = (s.n * s.d, L::view(&s.h)[0]);
    let row = L::view_mut(&mut s.dense[into]);
    each::<L>(
        l,
        &s.estimators[estimator],
        &s.k,
        size,
        #[inline(always)]
        |c, sum| row[c] = l.mul(h, sum),
    );
}

/// The end of a step from its last stage; largest error and displacement.
#[inline(always)]
fn estimates<L: Lanes<F = f64>>(l: L, s: &mut State) -> (PerLane, PerLane) {
    std::mem::swap(&mut s.stage, &mut s.end);
    // The rows of the dense output are free until the step is accepted.
    let guarded = s.estimators.len() > 1;
    for e in 0..s.estimators.len() {
        estimate(l, s, e, e);
    }
    let size = s.n * s.d;
    let (x, end) = (&L::view(&s.x)[..size], &L::view(&s.end)[..size]);
    let (first, second) = (&L::view(&s.dense[0])[..size], &L::view(&s.dense[1])[..size]);
    let (mut worst, mut furthest) = (l.zero(), l.zero());
    let ways = end.chunks_exact(s.d).zip(x.chunks_exact(s.d));
    for ((first, second), (end, x)) in first.chunks_exact(s.d).zip(second.chunks_exact(s.d)).zip(ways) {
        let (mut one, mut two, mut way) = (l.zero(), l.zero(), l.zero());
        for c in 0..s.d {
            one = l.fma(first[c], first[c], one);
            two = l.fma(second[c], second[c], two);
            let y = l.sub(end[c], x[c]);
            way = l.fma(y, y, way);
        }
        let below = l.max(l.fma(l.constant(0.01), two, one), l.constant(f64::MIN_POSITIVE));
        let error = if guarded { l.mul(one, l.inverse_sqrt(below)) } else { l.sqrt(one) };
        // The comparison keeps what is not a number.
        worst = l.select(l.greater(worst, error), worst, error);
        furthest = l.max(furthest, way);
    }
    (numbers::<L>(worst), numbers::<L>(l.sqrt(furthest)))
}

/// The rows of the dense output, as those of one system.
#[inline(always)]
fn dense<L: Lanes<F = f64>>(l: L, s: &mut State) {
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
    for (terms, row) in s.interpolants.iter().zip(&mut s.dense[3..]) {
        let row = L::view_mut(row);
        each::<L>(
            l,
            terms,
            &s.k,
            size,
            #[inline(always)]
            |c, sum| row[c] = l.mul(h, sum),
        );
    }
}

/// The system of one lane at as many fractions of its step as lanes, after [`Op::Dense`].
struct Interpolation<'a> {
    state: &'a State,
    lane: usize,
    theta: PerLane,
    /// The tokens, for each coordinate one vector of times.
    x: &'a mut [f64],
}

/// Rows of the dense output of the largest method.
const MOST_ROWS: usize = 7;

impl Task for Interpolation<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        let Self { state: s, lane, theta, x } = self;
        let theta = L::view(&theta)[0];
        let rest = l.sub(l.constant(1.0), theta);
        // theta, theta (1 - theta), theta (1 - theta) theta, ...
        let (mut basis, mut product) = ([l.zero(); MOST_ROWS], l.constant(1.0));
        for (i, basis) in basis.iter_mut().enumerate() {
            product = l.mul(product, if i % 2 == 0 { theta } else { rest });
            *basis = product;
        }
        let out = L::view_mut(x);
        let rows: [&[f64]; MOST_ROWS] = std::array::from_fn(|i| &s.dense[i][..]);
        for (c, y) in out.iter_mut().enumerate() {
            let at = c * L::WIDTH + lane;
            let mut sum = l.zero();
            for i in 0..MOST_ROWS {
                sum = l.fma(l.splat(rows[i][at]), basis[i], sum);
            }
            *y = l.add(l.splat(s.x[at]), sum);
        }
        retract(l, s.d, out);
    }
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

/// Squared chords of every token to the nearest earlier one, and the least of those that are.
#[inline(always)]
fn nearest<L: Lanes<F = f64>>(l: L, d: usize, x: &[L::V], sizes: &[L::V], chords: &mut [L::V]) -> PerLane {
    let (far, half) = (l.constant(8.0), l.constant(0.5));
    let mut least = far;
    for (i, xi) in x.chunks_exact(d).enumerate() {
        // Shadows come last: a token that is has only such before it. Two minima, so that none waits for the one before it.
        let mut mine = [far; 2];
        for (j, xj) in x.chunks_exact(d).take(i).enumerate() {
            let mut chord = l.zero();
            for (a, b) in xi.iter().zip(xj) {
                let y = l.sub(*a, *b);
                chord = l.fma(y, y, chord);
            }
            mine[j % 2] = l.min(mine[j % 2], chord);
        }
        chords[i] = l.min(mine[0], mine[1]);
        least = l.min(least, l.select(l.greater(sizes[i], half), chords[i], far));
    }
    numbers::<L>(least)
}
