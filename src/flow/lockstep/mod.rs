//! Many small systems at once by adaptive steps: every lane of a vector is a system with a step of its own.
//!
//! The rule of the step is that of [`solve`]; tokens that have come within the merge radius at the end of a step become one there. Tokens
//! that are no more stay in their lane as shadows of size 0 of a token that is, until all lanes have fewer: nothing needs a mask.

mod lanes;

use self::lanes::{Op, PerLane, State};
use super::coalesce::{ClosePairs, merge};
use super::observable::Recorder;
use super::solve::{FLOOR, Options, growth, solve};
use crate::attention::Dynamics;
use crate::attention::kernel::{Attention, Batch, Choice, WIDEST};
use crate::error::Result;
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
    let shape = |s: &Tokens| (s.n(), s.d());
    let alike = starts.windows(2).all(|pair| shape(&pair[0]) == shape(&pair[1]));
    let suits = |a: &&Attention| alike && starts.iter().all(|s| Batch::suits(a, s)) && matches!(a.kernel, Choice::Auto);
    let plain = options.events.is_empty() && !options.stop_at_one_cluster && dynamics.facts().common_field && t_end > 0.0;
    let together = dynamics.attention().filter(suits).filter(|_| plain && t_end.is_finite());
    let measure = recorders.first().and_then(Recorder::batched);
    if let (Some(attention), Some(measure)) = (together, measure) {
        let (width, scale) = (attention.level.width::<f64>(), dynamics.length_scale());
        for (starts, recorders) in starts.chunks(width).zip(recorders.chunks_mut(width)) {
            let Some(batch) = Batch::new(starts, attention.level) else { continue };
            let mut run = Run::new(attention, batch, starts, (t_end, scale), options, measure, recorders[0].pending());
            run.advance();
            let columns = run.values.len() / starts.len();
            for ((lane, recorder), start) in run.lanes.into_iter().zip(&mut *recorders).zip(starts) {
                if lane.broken {
                    solve(dynamics, start, t_end, options, &mut [recorder])?;
                } else {
                    run.times.iter().zip(lane.rows.chunks_exact(columns.max(1))).for_each(|(t, row)| recorder.book(*t, row));
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
    /// What was measured, in the order of the times.
    rows: Vec<f64>,
}

/// Up to a vector of systems.
struct Run<'a> {
    state: State,
    lanes: Vec<Lane>,
    /// Holds what is measured.
    batch: Batch,
    measure: fn(&Batch, &mut Vec<f64>),
    /// The last measurement, for each lane.
    values: Vec<f64>,
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
        let mut state = State::new(attention, options.integrator, (n, d), batch.lanes());
        let speed = state.run(Op::Speed).0;
        let first = |k: usize| {
            let h = 0.1 * scale / speed[k];
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
        Self { state, lanes, batch, measure, values: Vec::new(), times: times.to_vec(), t_end, scale, options, width, close }
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
            let columns = self.measure_stage();
            for ((lane, time), row) in self.lanes.iter_mut().zip(due).zip(self.values.chunks_exact(columns)) {
                if time.is_some() {
                    lane.rows.extend_from_slice(row);
                    lane.next += 1;
                }
            }
        }
    }

    /// The observable of the states in `stage`; returns its number of columns.
    fn measure_stage(&mut self) -> usize {
        let State { n, d, stage, sizes, .. } = &self.state;
        let (x, into) = self.batch.merged(*n);
        x.copy_from_slice(&stage[..n * d * self.width]);
        into.copy_from_slice(&sizes[..n * self.width]);
        self.values.clear();
        (self.measure)(&self.batch, &mut self.values);
        self.values.len() / self.batch.len()
    }

    /// Merges tokens within the radius; a lane with one token left is done and stays as it is.
    fn coalesce(&mut self) {
        let chord = 2.0 * (0.5 * self.options.merge_radius).sin();
        if chord <= 0.0 {
            return;
        }
        let nearest = self.state.run(Op::Nearest).0;
        let mut changed = false;
        for (k, (lane, nearest)) in self.lanes.iter_mut().zip(nearest).enumerate() {
            if lane.done || lane.live == 1 || nearest > chord * chord {
                continue;
            }
            let tokens = self.state.read(k, lane.live, self.width);
            let pairs = self.close.find(&tokens, chord);
            if pairs.is_empty() {
                continue;
            }
            let (fewer, _) = merge(&tokens, pairs);
            self.state.write(k, &fewer, self.width);
            lane.live = fewer.n();
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
        let columns = self.measure_stage();
        for (lane, row) in self.lanes.iter_mut().zip(self.values.chunks_exact(columns)).filter(|(l, _)| l.live == 1 && !l.done) {
            for _ in self.times[lane.next..].iter().filter(|t| **t <= self.t_end) {
                lane.rows.extend_from_slice(row);
            }
            (lane.next, lane.done) = (self.times.len(), true);
        }
    }
}
