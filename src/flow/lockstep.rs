//! Many small systems at once by adaptive steps: every lane of a vector is a system with a step of its own.
//!
//! The rule of the step is that of [`solve`]; tokens that have come within the merge radius at the end of a step become one there. Tokens
//! that are no more stay in their lane as shadows of size 0 of a token that is, until all lanes have fewer: nothing needs a mask.

use super::coalesce::{ClosePairs, merge};
use super::observable::Recorder;
use super::solve::{FLOOR, Options, growth, solve};
use super::tableau::Tableau;
use crate::attention::kernel::{Attention, Batch, Choice, Pull};
use crate::attention::{Dynamics, kernel::WIDEST};
use crate::error::Result;
use crate::num::aligned::Aligned;
use crate::num::simd::{Lanes, Level, Task};
use crate::sphere::Tokens;
use std::sync::atomic::Ordering;

/// Integrates many systems of one shape over `[0, t_end]`, each seen by its own recorder (all of the same times and observables).
///
/// Small systems of plain attention go side by side, one per lane, when the observable can measure batches and no event is asked for;
/// others one by one through [`solve`]. Every system's arithmetic is its own, so results do not depend on its companions.
///
/// **Accuracy** local errors as in [`solve`]; merging at radius r errs by about `r^2`, so the square root of the tolerance is a radius
/// that does not show. **Cost** 12 velocities per step in full lanes, 3 more for a step with samples. **Errors** as [`solve`].
pub fn solve_many(dynamics: &dyn Dynamics, starts: &[Tokens], t_end: f64, options: &Options, recorders: &mut [Recorder]) -> Result<()> {
    let suits = |a: &&Attention| starts.iter().all(|s| Batch::suits(a, s)) && matches!(a.kernel, Choice::Auto);
    let plain = options.events.is_empty() && !options.stop_at_one_cluster && dynamics.facts().common_field && t_end > 0.0;
    let together = dynamics.attention().filter(suits).filter(|_| plain && t_end.is_finite());
    let measure = recorders.first().and_then(Recorder::batched);
    if let (Some(attention), Some(measure)) = (together, measure) {
        let (width, scale) = (attention.level.width::<f64>(), dynamics.length_scale());
        for (starts, recorders) in starts.chunks(width).zip(recorders.chunks_mut(width)) {
            let Some(batch) = Batch::new(starts, attention.level) else { return one_by_one(dynamics, starts, t_end, options, recorders) };
            let mut run = Run::new(attention, batch, starts, (t_end, scale), options, measure, recorders[0].pending());
            run.advance();
            for ((lane, recorder), start) in run.lanes.into_iter().zip(&mut *recorders).zip(starts) {
                if lane.broken {
                    solve(dynamics, start, t_end, options, &mut [recorder])?;
                } else {
                    lane.rows.iter().for_each(|(t, row)| recorder.book(*t, row));
                }
            }
        }
        return Ok(());
    }
    one_by_one(dynamics, starts, t_end, options, recorders)
}

fn one_by_one(dynamics: &dyn Dynamics, starts: &[Tokens], t_end: f64, options: &Options, recorders: &mut [Recorder]) -> Result<()> {
    for (start, recorder) in starts.iter().zip(recorders) {
        solve(dynamics, start, t_end, options, &mut [recorder])?;
    }
    Ok(())
}

/// One number per lane.
type PerLane = [f64; WIDEST];

/// What is known of one system.
struct Lane {
    t: f64,
    h: f64,
    /// The last step was refused.
    shrunk: bool,
    attempts: u64,
    /// Tokens left.
    live: usize,
    done: bool,
    /// To be done again alone: a velocity was not finite, or the budget is spent.
    broken: bool,
    /// Index of the next sample time.
    next: usize,
    rows: Vec<(f64, Vec<f64>)>,
}

/// Up to a vector of systems.
struct Run<'a> {
    state: State,
    lanes: Vec<Lane>,
    /// Holds what is measured.
    batch: Batch,
    measure: fn(&Batch, &mut Vec<f64>),
    times: Vec<f64>,
    t_end: f64,
    /// Width of the kernel.
    scale: f64,
    options: &'a Options<'a>,
    width: usize,
    close: ClosePairs,
}

impl<'a> Run<'a> {
    fn new(
        attention: &Attention,
        batch: Batch,
        starts: &[Tokens],
        (t_end, scale): (f64, f64),
        options: &'a Options<'a>,
        measure: fn(&Batch, &mut Vec<f64>),
        times: &[f64],
    ) -> Self {
        let (n, d, width) = (starts[0].n(), starts[0].d(), attention.level.width::<f64>());
        let tableau = options.integrator;
        let mut state = State { pull: Pull::of(attention, n), tableau, level: attention.level, n, d, ..State::default_of(tableau, attention) };
        let size = n * d * width;
        for buffer in [&mut state.x, &mut state.end, &mut state.stage].into_iter().chain(&mut state.k).chain(&mut state.dense) {
            buffer.reset(size);
        }
        [&mut state.sizes, &mut state.mass].into_iter().for_each(|b| b.resize(n * width));
        state.x.copy_from_slice(batch.lanes());
        state.sizes.fill(1.0);
        state.run(Op::Velocity);
        let speed = state.run(Op::Speed).0;
        let first = |k: usize| {
            let h = 0.01 * scale / speed[k];
            if h.is_finite() { h } else { t_end }
        };
        let lane = |k: usize| Lane {
            t: 0.0,
            h: first(k),
            shrunk: false,
            attempts: 0,
            live: n,
            done: false,
            broken: false,
            next: 0,
            rows: Vec::new(),
        };
        let lanes = (0..starts.len()).map(lane).collect();
        let close = ClosePairs::default();
        Self { state, lanes, batch, measure, times: times.to_vec(), t_end, scale, options, width, close }
    }

    /// Steps until every lane is done.
    fn advance(&mut self) {
        self.coalesce();
        self.sample(&[0.0; WIDEST]);
        while self.lanes.iter().any(|l| !l.done) {
            if self.options.cancel.is_some_and(|c| c.load(Ordering::Relaxed)) {
                return;
            }
            let mut h = [0.0; WIDEST];
            for (h, lane) in h.iter_mut().zip(&self.lanes).filter(|(_, l)| !l.done) {
                *h = lane.h.min(self.t_end - lane.t);
            }
            self.state.h = h;
            let (error, displacement) = self.state.run(Op::Attempt);
            let accepted = self.judge(&h, &error, &displacement);
            self.sample(&accepted);
            self.state.run(Op::Accept(accepted.map(|h| if h > 0.0 { 1.0 } else { 0.0 })));
            for ((lane, h), planned) in self.lanes.iter_mut().zip(accepted).zip(h) {
                if h > 0.0 {
                    let last = planned >= self.t_end - lane.t;
                    lane.t = if last { self.t_end } else { lane.t + h };
                    lane.done = last;
                }
            }
            self.coalesce();
        }
    }

    /// The steps that are good, 0 for the others; every lane gets its next step.
    fn judge(&mut self, h: &PerLane, error: &PerLane, displacement: &PerLane) -> PerLane {
        let mut accepted = [0.0; WIDEST];
        for (k, lane) in self.lanes.iter_mut().enumerate().filter(|(_, l)| !l.done) {
            lane.attempts += 1;
            let tolerance = (self.options.rtol * self.scale * displacement[k].min(1.0)).max(FLOOR);
            let ratio = error[k] / tolerance;
            lane.broken = ratio.is_nan() || displacement[k].is_nan() || lane.attempts > self.options.max_steps;
            lane.done = lane.broken;
            let factor = growth(ratio, self.options.integrator.order);
            if ratio > 1.0 {
                lane.h = h[k] * factor.min(0.9);
                lane.shrunk = true;
                continue;
            }
            accepted[k] = if lane.broken { 0.0 } else { h[k] };
            let wanted = h[k] * if lane.shrunk { factor.min(1.0) } else { factor };
            lane.shrunk = false;
            lane.h = if h[k] < lane.h { lane.h.max(wanted) } else { wanted };
        }
        accepted
    }

    /// Measures what is due within the accepted steps (with steps of 0: now).
    fn sample(&mut self, accepted: &PerLane) {
        let mut prepared = false;
        loop {
            let (mut theta, mut due) = ([0.0; WIDEST], [None; WIDEST]);
            for (k, lane) in self.lanes.iter().enumerate().filter(|(_, l)| !l.broken) {
                let until = if accepted[k] >= self.t_end - lane.t { self.t_end } else { lane.t + accepted[k] };
                let time = self.times.get(lane.next).copied().filter(|s| *s <= until && (accepted[k] > 0.0 || lane.t == 0.0));
                due[k] = time;
                theta[k] = time.filter(|_| accepted[k] > 0.0).map_or(0.0, |s| ((s - lane.t) / accepted[k]).clamp(0.0, 1.0));
            }
            if due.iter().all(Option::is_none) {
                return;
            }
            if !prepared && accepted.iter().any(|h| *h > 0.0) {
                self.state.run(Op::Dense);
                prepared = true;
            }
            self.state.run(if prepared { Op::Interpolate(theta) } else { Op::Stay });
            let values = self.measured();
            let columns = values.len() / self.batch.len();
            for ((lane, time), row) in self.lanes.iter_mut().zip(due).zip(values.chunks_exact(columns)) {
                if let Some(t) = time {
                    lane.rows.push((t, row.to_vec()));
                    lane.next += 1;
                }
            }
        }
    }

    /// The observable of the states in `stage`.
    fn measured(&mut self) -> Vec<f64> {
        let State { n, d, stage, sizes, .. } = &self.state;
        let (x, into) = self.batch.merged(*n);
        x.copy_from_slice(&stage[..n * d * self.width]);
        into.copy_from_slice(&sizes[..n * self.width]);
        let mut values = Vec::new();
        (self.measure)(&self.batch, &mut values);
        values
    }

    /// Merges tokens within the radius; a lane with one token left is done and stays as it is.
    fn coalesce(&mut self) {
        let chord = 2.0 * (0.5 * self.options.merge_radius).sin();
        if chord <= 0.0 {
            return;
        }
        let nearest = self.state.run(Op::Nearest).0;
        let mut changed = false;
        for k in 0..self.lanes.len() {
            if self.lanes[k].done || self.lanes[k].live == 1 || nearest[k] > chord * chord {
                continue;
            }
            let tokens = self.state.read(k, self.lanes[k].live, self.width);
            let pairs = self.close.find(&tokens, chord);
            if pairs.is_empty() {
                continue;
            }
            let (fewer, _) = merge(&tokens, pairs);
            self.state.write(k, &fewer, self.width);
            self.lanes[k].live = fewer.n();
            changed = true;
        }
        if !changed {
            return;
        }
        let most = self.lanes.iter().filter(|l| !l.done).map(|l| l.live).max();
        self.state.n = most.unwrap_or(1).max(1);
        self.state.run(Op::Velocity);
        if self.lanes.iter().any(|l| l.live == 1 && !l.done) {
            self.end_single();
        }
    }

    /// The samples to come of lanes with one token left, which stays.
    fn end_single(&mut self) {
        self.state.run(Op::Stay);
        let values = self.measured();
        let columns = values.len() / self.batch.len();
        for (lane, row) in self.lanes.iter_mut().zip(values.chunks_exact(columns)).filter(|(l, _)| l.live == 1 && !l.done) {
            let rest = self.times[lane.next..].iter().filter(|t| **t <= self.t_end);
            lane.rows.extend(rest.map(|t| (*t, row.to_vec())));
            (lane.next, lane.done) = (self.times.len(), true);
        }
    }
}

/// Tokens, stages and steps in lanes.
struct State {
    pull: Pull,
    tableau: &'static Tableau,
    level: Level,
    n: usize,
    d: usize,
    h: PerLane,
    x: Aligned<f64>,
    /// Initial tokens in every token, 0 for shadows.
    sizes: Aligned<f64>,
    end: Aligned<f64>,
    stage: Aligned<f64>,
    k: Vec<Aligned<f64>>,
    dense: Vec<Aligned<f64>>,
    /// Room for one vector per token.
    mass: Aligned<f64>,
}

/// What a state can do.
#[derive(Clone, Copy)]
enum Op {
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
    /// Empty buffers.
    fn default_of(tableau: &'static Tableau, attention: &Attention) -> Self {
        let many = |count: usize| (0..count).map(|_| Aligned::default()).collect();
        Self {
            pull: Pull::of(attention, 1),
            tableau,
            level: attention.level,
            n: 0,
            d: 0,
            h: [0.0; WIDEST],
            x: Aligned::default(),
            sizes: Aligned::default(),
            end: Aligned::default(),
            stage: Aligned::default(),
            k: many(tableau.a.len() + 1),
            dense: many(3 + tableau.dense.len()),
            mass: Aligned::default(),
        }
    }

    fn run(&mut self, op: Op) -> (PerLane, PerLane) {
        let level = self.level;
        level.run(Work { state: self, op })
    }

    /// The tokens of lane k, their sizes as masses.
    fn read(&self, k: usize, live: usize, width: usize) -> Tokens {
        let lane = |from: &[f64], count: usize| from.iter().skip(k).step_by(width).take(count).copied().collect();
        Tokens::from_parts(self.d, lane(&self.x, live * self.d), lane(&self.sizes, live))
    }

    /// Writes the tokens of lane k and shadows of its last one.
    fn write(&mut self, k: usize, tokens: &Tokens, width: usize) {
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

/// Stages with a weight, and how many.
#[inline(always)]
fn terms<'a, L: Lanes<F = f64>>(l: L, weights: &[f64], k: &'a [Aligned<f64>]) -> ([(&'a [L::V], L::V); 17], usize) {
    let mut terms = [(&L::view(&k[0])[..0], l.zero()); 17];
    let mut count = 0;
    for (w, k) in weights.iter().zip(k) {
        if *w != 0.0 {
            terms[count] = (L::view(k), l.constant(*w));
            count += 1;
        }
    }
    (terms, count)
}

/// `sum_k w_k v_k` of coordinate c.
#[inline(always)]
fn combined<L: Lanes<F = f64>>(l: L, terms: &[(&[L::V], L::V)], c: usize) -> L::V {
    let mut sum = l.zero();
    for (k, w) in terms {
        sum = l.fma(*w, k[c], sum);
    }
    sum
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
    for (c, y) in stage.iter_mut().enumerate() {
        *y = l.fma(h, combined::<L>(l, &terms[..count], c), x[c]);
    }
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
            let e = l.mul(h, combined::<L>(l, &first[..count], c));
            one = l.fma(e, e, one);
            if let Some((second, count)) = &guard {
                let e = l.mul(h, combined::<L>(l, &second[..*count], c));
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

/// Extra stages and the rows of the dense output, as [`super::tableau::Step::prepare_dense`].
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
        for (c, v) in L::view_mut(row)[..size].iter_mut().enumerate() {
            *v = l.mul(h, combined::<L>(l, &terms[..count], c));
        }
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
