//! Many small systems at once by adaptive steps: every lane of a vector is a system with a step of its own.
//!
//! The rule of the step is that of [`solve`]; tokens that have come within the merge radius at the end of a step become one there, and
//! their system gives its lane to the one with the most tokens. So lanes side by side have about as many: a lane with fewer carries shadows,
//! tokens of size 0 that need no mask.

mod lanes;
mod system;

use self::lanes::{Interpolation, Op, PerLane, State};
use self::system::{Merger, System};
use super::control::{FIRST_STEP, Options, next, shorter, tolerance};
use super::observable::Recorder;
use super::outcome::End;
use super::solve::solve;
use super::tableau::Tableau;
use crate::attention::Dynamics;
use crate::attention::kernel::{Attention, Batch, Choice, WIDEST};
use crate::error::Result;
use crate::num::simd::Level;
use crate::sphere::Tokens;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering;

/// Integrates many systems of one shape over `[0, t_end]`, each seen by its own recorder (all of the same times and observables).
///
/// Small systems of plain attention go side by side, one per lane, when the observable can measure batches and no event is asked for;
/// others one by one through [`solve`]. Every system's arithmetic is its own, so results do not depend on its companions.
///
/// **Accuracy** local errors as in [`solve`]; time is one double, so that steps below `1e-16` of the time are lost (there it is a double-double). Merging at radius r moves clusters by about `r^2`, but a token stands up to r from its
/// cluster: what depends on distances of tokens moves by as much. Of random starts (n = 32, beta up to 9, to t = 30) the mean share of
/// merged pairs then errs by 1.2e-5 on average and 7e-4 at most for r = 1e-3, by 1.5e-4 and 4e-3 for r = 1e-2. **Cost** 12 velocities per
/// step in full lanes, 3 more for a step with samples, one after merging. **Errors** as [`solve`].
pub fn solve_many(dynamics: &Dynamics, starts: &[Tokens], t_end: f64, options: &Options, recorders: &mut [Recorder]) -> Result<Vec<End>> {
    let alone = |start: &Tokens, recorder: &mut Recorder| solve(dynamics, start, t_end, options, &mut [recorder]).map(End::from);
    let shape = |s: &Tokens| (s.n(), s.d());
    let alike = starts.windows(2).all(|pair| shape(&pair[0]) == shape(&pair[1]));
    let suits = |a: &&Attention| alike && starts.iter().all(|s| Batch::suits(a, s)) && matches!(a.kernel, Choice::Auto);
    let plain = options.events.is_empty() && !options.stop_at_one_cluster && dynamics.facts().common_field && t_end > 0.0;
    let together = dynamics.attention().filter(suits).filter(|_| plain && t_end.is_finite());
    let (measure, first) = (recorders.first().and_then(Recorder::batched), starts.first());
    let (Some(attention), Some(measure), Some(first)) = (together, measure, first) else {
        return starts.iter().zip(recorders).map(|(start, recorder)| alone(start, recorder)).collect();
    };
    let width = attention.level.width::<f64>();
    let Some(batch) = Batch::new(&vec![first.clone(); width], attention.level) else {
        return starts.iter().zip(recorders).map(|(start, recorder)| alone(start, recorder)).collect();
    };
    let times = recorders[0].pending().to_vec();
    let mut run = Run {
        state: State::new(attention, options.integrator, shape(first)),
        systems: starts.iter().map(|s| System::new(s, times.len())).collect(),
        waiting: BinaryHeap::new(),
        seats: [None; WIDEST],
        batch,
        measure,
        values: Vec::new(),
        times,
        t_end,
        scale: dynamics.length_scale(),
        initial: first.n(),
        chord: 2.0 * (0.5 * options.merge_radius).sin(),
        options,
        level: attention.level,
        width,
        merger: Merger::default(),
    };
    run.start();
    run.advance();
    let columns = (run.values.len() / width).max(1);
    let end = |((system, recorder), start): ((System, &mut Recorder), &Tokens)| {
        if system.broken {
            return alone(start, recorder);
        }
        run.times.iter().zip(system.rows.chunks_exact(columns)).for_each(|(t, row)| recorder.book(*t, row));
        Ok(system.end(start.n(), start.d()))
    };
    run.systems.into_iter().zip(recorders).zip(starts).map(end).collect()
}

/// Systems on their way, up to a vector of them in lanes.
struct Run<'a> {
    state: State,
    systems: Vec<System>,
    /// Those without a lane: their numbers of tokens and indices.
    waiting: BinaryHeap<(usize, Reverse<usize>)>,
    /// The system in every lane.
    seats: [Option<usize>; WIDEST],
    /// Holds what is measured: one system at as many times as lanes.
    batch: Batch,
    measure: fn(&Batch, &mut Vec<f64>),
    /// The last measurement, time by time.
    values: Vec<f64>,
    times: Vec<f64>,
    t_end: f64,
    /// Width of the kernel.
    scale: f64,
    /// Tokens at the start.
    initial: usize,
    /// Chord of the merge radius.
    chord: f64,
    options: &'a Options<'a>,
    level: Level,
    width: usize,
    merger: Merger,
}

impl Run<'_> {
    /// Merges what starts within the radius; velocities and first steps.
    fn start(&mut self) {
        let d = self.state.d;
        if self.chord > 0.0 {
            self.systems.iter_mut().for_each(|s| self.merger.merge(d, &mut s.seat, self.chord, 0..self.initial));
        }
        for first in (0..self.systems.len()).step_by(self.width) {
            let group = &mut self.systems[first..];
            self.state.n = group.iter().take(self.width).map(System::live).max().unwrap_or(1);
            group.iter().take(self.width).enumerate().for_each(|(k, s)| self.state.sit(k, &s.seat));
            let speeds = self.state.run(Op::Start).0;
            for (system, speed) in group.iter_mut().zip(speeds).take(self.width) {
                let h = FIRST_STEP * self.scale / speed;
                system.h = if h.is_finite() { h } else { self.t_end };
            }
        }
        (0..self.systems.len()).for_each(|s| self.queue(s));
    }

    /// Steps until every system is done.
    fn advance(&mut self) {
        loop {
            self.fill_seats();
            let cancelled = self.options.cancel.is_some_and(|c| c.load(Ordering::Relaxed));
            if cancelled || self.seats.iter().all(Option::is_none) {
                return;
            }
            for (h, seat) in self.state.h.iter_mut().zip(self.seats) {
                *h = seat.map_or(0.0, |s| self.systems[s].h.min(self.t_end - self.systems[s].t));
            }
            let planned = self.state.h;
            let (error, displacement) = self.state.run(Op::Attempt);
            let accepted = self.judge(&error, &displacement);
            self.sample(&accepted);
            self.state.run(Op::Accept(accepted.map(|h| if h > 0.0 { 1.0 } else { 0.0 })));
            for ((seat, h), planned) in self.seats.iter().zip(accepted).zip(planned).filter(|((_, h), _)| *h > 0.0) {
                if let Some(system) = seat.map(|s| &mut self.systems[s]) {
                    system.done = planned >= self.t_end - system.t;
                    system.t = if system.done { self.t_end } else { system.t + h };
                }
            }
            self.coalesce();
        }
    }

    /// Free lanes go to the waiting systems with the most tokens.
    fn fill_seats(&mut self) {
        let mut taken = [false; WIDEST];
        for (k, seat) in self.seats[..self.width].iter_mut().enumerate() {
            if seat.is_none_or(|s| self.systems[s].done) {
                if let Some(s) = seat {
                    self.state.rise(k, &mut self.systems[*s].seat);
                }
                *seat = self.waiting.pop().map(|(_, Reverse(s))| s);
                taken[k] = true;
            }
        }
        // Never more than before: who waits has at most as many tokens as who sits.
        self.state.n = self.seats.iter().flatten().map(|s| self.systems[*s].live()).max().unwrap_or(1);
        self.state.merged = self.seats.iter().flatten().any(|s| self.systems[*s].live() < self.initial);
        for k in (0..self.width).filter(|k| taken[*k]) {
            if let Some(s) = self.seats[k] {
                self.state.sit(k, &self.systems[s].seat);
                self.systems[s].evaluations += 1;
            }
        }
        if taken.contains(&true) {
            self.state.run(Op::Start);
        }
    }

    /// The steps that are good, 0 for the others; every system gets its next step.
    fn judge(&mut self, error: &PerLane, displacement: &PerLane) -> PerLane {
        let mut accepted = [0.0; WIDEST];
        for (k, s) in self.seats.iter().enumerate().filter_map(|(k, s)| Some((k, (*s)?))) {
            let (system, h) = (&mut self.systems[s], self.state.h[k]);
            system.attempts += 1;
            system.evaluations += self.options.integrator.stages as u64;
            let ratio = error[k] / tolerance(self.options.rtol, self.scale, displacement[k]);
            system.broken = ratio.is_nan() || displacement[k].is_nan() || system.attempts > self.options.max_steps;
            system.done = system.broken;
            let order = self.options.integrator.order;
            if ratio > 1.0 {
                system.h = shorter(h, ratio, order);
                system.shrunk = true;
                continue;
            }
            // Alone a run examines its state, and ends when that is at rest.
            system.broken |= system.rest.is_due(h, self.t_end - system.t, displacement[k]);
            system.done = system.broken;
            accepted[k] = if system.broken { 0.0 } else { h };
            system.h = next(h, system.h, ratio, order, system.shrunk);
            system.shrunk = false;
        }
        accepted
    }

    /// Measures what is due within the accepted steps.
    fn sample(&mut self, accepted: &PerLane) {
        let mut prepared = false;
        for (k, s) in self.seats.iter().enumerate().filter_map(|(k, s)| Some((k, (*s)?))).filter(|(k, _)| accepted[*k] > 0.0) {
            let (system, h) = (&mut self.systems[s], accepted[k]);
            let until = if h >= self.t_end - system.t { self.t_end } else { system.t + h };
            let due = self.times[system.next..].iter().take_while(|s| **s <= until).count();
            if due > 0 {
                let Tableau { a, stages, .. } = self.options.integrator;
                system.evaluations += (a.len() - stages) as u64;
                if !prepared {
                    self.state.run(Op::Dense);
                    prepared = true;
                }
            }
            for times in self.times[system.next..system.next + due].chunks(self.width) {
                let mut theta = [0.0; WIDEST];
                theta.iter_mut().zip(times).for_each(|(theta, s)| *theta = ((s - system.t) / h).clamp(0.0, 1.0));
                let (x, sizes) = self.batch.merged(system.live());
                self.level.run(Interpolation { state: &self.state, lane: k, theta, x });
                spread(&system.seat.sizes, sizes, self.width);
                self.values.clear();
                (self.measure)(&self.batch, &mut self.values);
                let columns = self.values.len() / self.width;
                system.rows.extend_from_slice(&self.values[..columns * times.len()]);
            }
            system.next += due;
        }
    }

    /// Merges tokens within the radius, in systems that leave their lanes for it.
    fn coalesce(&mut self) {
        if self.chord <= 0.0 {
            return;
        }
        let nearest = self.state.run(Op::Nearest).0;
        let square = self.chord * self.chord;
        for k in (0..self.width).filter(|k| nearest[*k] <= square) {
            if let Some(s) = self.seats[k].filter(|s| !self.systems[*s].done) {
                self.state.rise(k, &mut self.systems[s].seat);
                self.merger.merge(self.state.d, &mut self.systems[s].seat, self.chord, self.state.suspects(k, square));
                self.seats[k] = None;
                self.queue(s);
            }
        }
    }

    /// A system waits for a lane. With one token left it is done: it stays, and so does what is measured of it.
    fn queue(&mut self, s: usize) {
        let system = &mut self.systems[s];
        if system.live() > 1 {
            return self.waiting.push((system.live(), Reverse(s)));
        }
        system.one_cluster = Some(system.t);
        let (x, sizes) = self.batch.merged(1);
        spread(&system.seat.x, x, self.width);
        spread(&system.seat.sizes, sizes, self.width);
        self.values.clear();
        (self.measure)(&self.batch, &mut self.values);
        let row = &self.values[..self.values.len() / self.width];
        self.times[system.next..].iter().filter(|t| **t <= self.t_end).for_each(|_| system.rows.extend_from_slice(row));
        (system.next, system.t, system.done) = (self.times.len(), self.t_end, true);
    }
}

/// Every number in all lanes of its vector.
fn spread(numbers: &[f64], lanes: &mut [f64], width: usize) {
    lanes.chunks_exact_mut(width).zip(numbers).for_each(|(lanes, x)| lanes.fill(*x));
}
