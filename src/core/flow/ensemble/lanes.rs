//! Explicit Runge-Kutta steps of many systems at once: every lane of a vector holds one system.

use crate::attention::kernel::{BatchField, MAX_LANES};
use crate::flow::tableau::Tableau;
use crate::num::aligned::AlignedVec;
use crate::num::simd::{Isa, SimdKernel, SimdOps};

/// One number per lane.
pub type PerLane = [f64; MAX_LANES];

/// The tokens of one system, outside the lanes.
pub struct SystemTokens {
    pub x: Vec<f64>,
    /// Number of initial tokens in every token.
    pub sizes: Vec<f64>,
}

/// Tokens, stages and step lengths of all lanes.
pub struct LaneState {
    field: BatchField,
    pub tableau: Tableau,
    stages: Vec<Terms>,
    estimators: Vec<Terms>,
    interpolants: Vec<Terms>,
    isa: Isa,
    width: usize,
    /// True if any token has a size other than 1 (merged tokens, or padding).
    pub merged: bool,
    pub n: usize,
    pub d: usize,
    pub h: PerLane,
    x: AlignedVec<f64>,
    /// Number of initial tokens in every token; 0 for padding.
    sizes: AlignedVec<f64>,
    end: AlignedVec<f64>,
    stage: AlignedVec<f64>,
    k: Vec<AlignedVec<f64>>,
    /// Rows of the dense output; zeros beyond those of the method.
    dense: Vec<AlignedVec<f64>>,
    /// Buffer of one vector per token: masses, or squared chords to the nearest earlier token.
    mass: AlignedVec<f64>,
}

/// An operation on all lanes.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum LaneOp {
    /// Velocity at the start of the step; returns the largest speed of a token.
    Start,
    /// Attempts a step; returns the largest error and the largest displacement of a token.
    Attempt,
    /// Prepares the dense output.
    Dense,
    /// Moves to the end of the step in the lanes in which this is 1.
    Accept(PerLane),
    /// Smallest squared chord of two tokens (without padding) at the end of the step.
    Nearest,
}

impl LaneState {
    /// Buffers for systems of up to n tokens in d dimensions.
    pub fn new(field: BatchField, tableau: Tableau, (n, d): (usize, usize)) -> Self {
        let isa = field.isa();
        let width = isa.width::<f64>();
        let buffer = |vectors: usize| {
            let mut buffer = AlignedVec::default();
            buffer.reset(vectors * width);
            buffer
        };
        Self {
            field,
            tableau,
            stages: terms(tableau.a),
            estimators: terms(tableau.estimators),
            interpolants: terms(tableau.dense),
            isa,
            width,
            merged: true,
            n,
            d,
            h: [0.0; MAX_LANES],
            x: buffer(n * d),
            sizes: buffer(n),
            end: buffer(n * d),
            stage: buffer(n * d),
            k: (0..=tableau.a.len()).map(|_| buffer(n * d)).collect(),
            dense: (0..MAX_DENSE_ROWS).map(|_| buffer(n * d)).collect(),
            mass: buffer(n),
        }
    }

    /// The number of lanes.
    pub fn lanes(&self) -> usize {
        self.width
    }

    pub fn run(&mut self, op: LaneOp) -> (PerLane, PerLane) {
        let isa = self.isa;
        isa.run(LaneTask { state: self, op })
    }

    /// Copies the tokens of lane k.
    pub fn store(&self, k: usize, tokens: &mut SystemTokens) {
        tokens
            .x
            .iter_mut()
            .zip(self.x.iter().skip(k).step_by(self.width))
            .for_each(|(to, from)| *to = *from);
    }

    /// Copies the tokens of lane k at the end of the step.
    pub fn store_end(&self, k: usize, tokens: &mut SystemTokens) {
        tokens
            .x
            .iter_mut()
            .zip(self.end.iter().skip(k).step_by(self.width))
            .for_each(|(to, from)| *to = *from);
    }

    /// After [`LaneOp::Dense`]: writes the system of lane `lane` at the fractions `theta` of its
    /// step, one vector of times for each coordinate.
    pub fn interpolate(&self, lane: usize, theta: PerLane, x: &mut [f64]) {
        self.isa.run(Interpolation { state: self, lane, theta, x });
    }

    /// After [`LaneOp::Nearest`]: the tokens of lane k that have an earlier token within this
    /// squared chord.
    pub fn near_earlier(&self, k: usize, square: f64) -> impl Iterator<Item = usize> {
        let chords = self
            .mass
            .iter()
            .skip(k)
            .step_by(self.width)
            .zip(self.sizes.iter().skip(k).step_by(self.width));
        chords
            .take(self.n)
            .enumerate()
            .filter(move |(_, (chord, size))| **chord <= square && **size > 0.0)
            .map(|(i, _)| i)
    }

    /// Loads tokens into lane k and pads it with copies of the last token, of size 0.
    pub fn load(&mut self, k: usize, tokens: &SystemTokens) {
        let (live, d, width) = (tokens.sizes.len(), self.d, self.width);
        let padding = tokens.x[(live - 1) * d..].iter().cycle();
        let lane = self.x.iter_mut().skip(k).step_by(width).take(self.n * d);
        lane.zip(tokens.x.iter().chain(padding)).for_each(|(to, from)| *to = *from);
        let lane = self.sizes.iter_mut().skip(k).step_by(width).take(self.n);
        lane.zip(tokens.sizes.iter().chain(std::iter::repeat(&0.0)))
            .for_each(|(to, from)| *to = *from);
    }
}

struct LaneTask<'a> {
    state: &'a mut LaneState,
    op: LaneOp,
}

impl SimdKernel for LaneTask<'_> {
    type F = f64;
    type Output = (PerLane, PerLane);

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) -> Self::Output {
        let Self { state: s, op } = self;
        let (size, last) = (s.n * s.d, s.tableau.stages);
        let velocities = match op {
            LaneOp::Start => 0..1,
            LaneOp::Attempt => 1..last + 1,
            LaneOp::Dense => last + 1..s.k.len(),
            _ => 0..0,
        };
        for i in velocities {
            evaluate(l, s, i);
        }
        let none = [0.0; MAX_LANES];
        match op {
            LaneOp::Start => return (max_token_norm(l, s.d, &L::view(&s.k[0])[..size]), none),
            LaneOp::Attempt => return estimates(l, s),
            LaneOp::Dense => dense(l, s),
            LaneOp::Accept(mask) => {
                let (mask, half) = (L::view(&mask)[0], l.constant(0.5));
                let take = l.greater(mask, half);
                let (first, rest) = s.k.split_at_mut(1);
                let last = L::view(&rest[last - 1]);
                let moves =
                    [(L::view_mut(&mut s.x), L::view(&s.end)), (L::view_mut(&mut first[0]), last)];
                for (to, from) in moves {
                    for (to, from) in to[..size].iter_mut().zip(from) {
                        *to = l.select(take, *from, *to);
                    }
                }
            }
            LaneOp::Nearest => {
                return (
                    nearest(
                        l,
                        s.d,
                        &L::view(&s.end)[..size],
                        L::view(&s.sizes),
                        L::view_mut(&mut s.mass),
                    ),
                    none,
                );
            }
        }
        (none, none)
    }
}

/// The numbers of a vector.
#[inline(always)]
fn to_array<L: SimdOps<F = f64>>(v: L::V) -> PerLane {
    let mut out = [0.0; MAX_LANES];
    L::view_mut(&mut out)[0] = v;
    out
}

/// Indices of stages with their weights.
type Terms = Vec<(usize, f64)>;

/// The nonzero terms of every row.
fn terms(rows: &[&[f64]]) -> Vec<Terms> {
    rows.iter()
        .map(|row| row.iter().copied().enumerate().filter(|(_, w)| *w != 0.0).collect())
        .collect()
}

/// `sum_k w_k v_k` for U coordinates from index c.
#[inline(always)]
fn combined<L: SimdOps<F = f64>, const U: usize>(
    l: L,
    terms: &[(usize, f64)],
    k: &[AlignedVec<f64>],
    c: usize,
) -> [L::V; U] {
    let mut sums = [l.zero(); U];
    for (k, w) in terms.iter().map(|(i, w)| (&L::view(&k[*i])[c..c + U], l.splat(*w))) {
        for u in 0..U {
            sums[u] = l.fma(w, k[u], sums[u]);
        }
    }
    sums
}

/// Calls `put` with the index and the value of every coordinate of `sum_k w_k v_k`.
#[inline(always)]
fn for_each_combination<L: SimdOps<F = f64>>(
    l: L,
    terms: &[(usize, f64)],
    k: &[AlignedVec<f64>],
    size: usize,
    mut put: impl FnMut(usize, L::V),
) {
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
fn retract<L: SimdOps<F = f64>>(l: L, d: usize, y: &mut [L::V]) {
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

/// Computes the retracted stage i and its velocity; stage 0 is the start of the step.
#[inline(always)]
fn evaluate<L: SimdOps<F = f64>>(l: L, s: &mut LaneState, i: usize) {
    let size = s.n * s.d;
    let (x, stage, h) =
        (&L::view(&s.x)[..size], &mut L::view_mut(&mut s.stage)[..size], L::view(&s.h)[0]);
    if i == 0 {
        stage.copy_from_slice(x);
    } else {
        for_each_combination::<L>(
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
    s.field.velocities(
        l,
        s.d,
        (&s.stage[..numbers], sizes),
        (&mut s.k[i][..numbers], &mut s.mass[..tokens]),
    );
}

/// Writes an error estimate into a row of the dense output.
#[inline(always)]
fn estimate<L: SimdOps<F = f64>>(l: L, s: &mut LaneState, estimator: usize, into: usize) {
    let (size, h) = (s.n * s.d, L::view(&s.h)[0]);
    let row = L::view_mut(&mut s.dense[into]);
    for_each_combination::<L>(
        l,
        &s.estimators[estimator],
        &s.k,
        size,
        #[inline(always)]
        |c, sum| row[c] = l.mul(h, sum),
    );
}

/// Completes an attempted step; returns the largest error and the largest displacement.
#[inline(always)]
fn estimates<L: SimdOps<F = f64>>(l: L, s: &mut LaneState) -> (PerLane, PerLane) {
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
    let ends = end.chunks_exact(s.d).zip(x.chunks_exact(s.d));
    for ((first, second), (end, x)) in
        first.chunks_exact(s.d).zip(second.chunks_exact(s.d)).zip(ends)
    {
        let (mut one, mut two, mut moved) = (l.zero(), l.zero(), l.zero());
        for c in 0..s.d {
            one = l.fma(first[c], first[c], one);
            two = l.fma(second[c], second[c], two);
            let y = l.sub(end[c], x[c]);
            moved = l.fma(y, y, moved);
        }
        let below = l.max(l.fma(l.constant(0.01), two, one), l.constant(f64::MIN_POSITIVE));
        let error = if guarded { l.mul(one, l.inverse_sqrt(below)) } else { l.sqrt(one) };
        // The comparison keeps NaN.
        worst = l.select(l.greater(worst, error), worst, error);
        furthest = l.max(furthest, moved);
    }
    (to_array::<L>(worst), to_array::<L>(l.sqrt(furthest)))
}

/// Computes the rows of the dense output, as for a single system.
#[inline(always)]
fn dense<L: SimdOps<F = f64>>(l: L, s: &mut LaneState) {
    let size = s.n * s.d;
    let (h, two) = (L::view(&s.h)[0], l.constant(2.0));
    let (x, end, start, last) =
        (L::view(&s.x), L::view(&s.end), L::view(&s.k[0]), L::view(&s.k[s.tableau.stages]));
    for c in 0..size {
        let delta = l.sub(end[c], x[c]);
        let third = l.sub(l.mul(two, delta), l.mul(h, l.add(start[c], last[c])));
        for (row, v) in s.dense.iter_mut().zip([delta, l.sub(l.mul(h, start[c]), delta), third]) {
            L::view_mut(row)[c] = v;
        }
    }
    for (terms, row) in s.interpolants.iter().zip(&mut s.dense[3..]) {
        let row = L::view_mut(row);
        for_each_combination::<L>(
            l,
            terms,
            &s.k,
            size,
            #[inline(always)]
            |c, sum| row[c] = l.mul(h, sum),
        );
    }
}

/// Interpolates one system at several fractions of its step, one per lane, after [`LaneOp::Dense`].
struct Interpolation<'a> {
    state: &'a LaneState,
    lane: usize,
    theta: PerLane,
    /// Output: one vector of times for each coordinate.
    x: &'a mut [f64],
}

/// Number of rows of the dense output of the largest method.
const MAX_DENSE_ROWS: usize = 7;

impl SimdKernel for Interpolation<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        let Self { state: s, lane, theta, x } = self;
        let theta = L::view(&theta)[0];
        let rest = l.sub(l.constant(1.0), theta);
        // theta, theta (1 - theta), theta (1 - theta) theta, ...
        let (mut basis, mut product) = ([l.zero(); MAX_DENSE_ROWS], l.constant(1.0));
        for (i, basis) in basis.iter_mut().enumerate() {
            product = l.mul(product, if i % 2 == 0 { theta } else { rest });
            *basis = product;
        }
        let out = L::view_mut(x);
        let rows: [&[f64]; MAX_DENSE_ROWS] = std::array::from_fn(|i| &s.dense[i][..]);
        for (c, y) in out.iter_mut().enumerate() {
            let at = c * L::WIDTH + lane;
            let mut sum = l.zero();
            for i in 0..MAX_DENSE_ROWS {
                sum = l.fma(l.splat(rows[i][at]), basis[i], sum);
            }
            *y = l.add(l.splat(s.x[at]), sum);
        }
        retract(l, s.d, out);
    }
}

/// Largest norm of a token's vector.
#[inline(always)]
fn max_token_norm<L: SimdOps<F = f64>>(l: L, d: usize, v: &[L::V]) -> PerLane {
    let mut top = l.zero();
    for row in v.chunks_exact(d) {
        let mut square = l.zero();
        for v in row {
            square = l.fma(*v, *v, square);
        }
        top = l.max(top, square);
    }
    to_array::<L>(l.sqrt(top))
}

/// Squared chord of every token to the nearest earlier token; returns the smallest, without
/// padding.
#[inline(always)]
fn nearest<L: SimdOps<F = f64>>(
    l: L,
    d: usize,
    x: &[L::V],
    sizes: &[L::V],
    chords: &mut [L::V],
) -> PerLane {
    let (far, half) = (l.constant(8.0), l.constant(0.5));
    let mut least = far;
    for (i, xi) in x.chunks_exact(d).enumerate() {
        // Padding comes last, so all earlier tokens of a real token are real. Two running minima,
        // so that consecutive operations do not wait for each other.
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
    to_array::<L>(least)
}
