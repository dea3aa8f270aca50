//! The one loop over time.

use super::coalesce::{ClosePairs, Merge, merge};
use super::event::{Action, Event, Hit};
use super::integrator::integrator;
use super::observable::{Frame, Observer};
use super::outcome::{Outcome, Solution, Stats};
use super::tableau::{Step, Tableau};
use crate::attention::{
    Dynamics,
    kernel::{EXACT, Workspace, in_a_row},
    kernel_width,
};
use crate::error::{Error, Result, show};
use crate::num::{dd::Dd, roots::bracketed_root};
use crate::sphere::Tokens;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

/// Options of [`solve`].
pub struct Options<'a> {
    /// The method.
    pub integrator: &'static Tableau,
    /// Local error per unit displacement, in units of the kernel width `min(1, beta^{-1/2})`.
    pub rtol: f64,
    /// Geodesic distance at which tokens coalesce; 0 never. Dynamics without a common field (causal ones) never coalesce: there it says only what
    /// `stop_at_one_cluster` calls one cluster.
    pub merge_radius: f64,
    /// Budget of attempted steps.
    pub max_steps: u64,
    /// End as soon as one cluster is left; where tokens do not coalesce, as soon as all are within the merge radius of the first.
    pub stop_at_one_cluster: bool,
    /// Events with what to do when they happen.
    pub events: Vec<(Box<dyn Event>, Action)>,
    /// Checked before every step.
    pub cancel: Option<&'a AtomicBool>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            integrator: &super::dop853::DOP853,
            rtol: 1e-10,
            merge_radius: 1e-10,
            max_steps: 200_000,
            stop_at_one_cluster: false,
            events: Vec::new(),
            cancel: None,
        }
    }
}

impl Options<'_> {
    /// Checks the numbers.
    ///
    /// **Errors** a tolerance outside (0, 0.1], a merge radius outside `[0, pi/2]`.
    pub fn validated(self) -> Result<Self> {
        if !(self.rtol > 0.0 && self.rtol <= 0.1) {
            return Err(Error::parameter("rtol", self.rtol, "a number in (0, 0.1]"));
        }
        crate::error::in_range("merge-radius", self.merge_radius, 0.0, std::f64::consts::FRAC_PI_2)?;
        integrator(self.integrator.name)?;
        Ok(self)
    }
}

/// Rounding floor of the step tolerance: below it the estimate is noise.
pub(super) const FLOOR: f64 = 8.0 * f64::EPSILON;

/// First steps move the fastest token by this share of the kernel width.
pub(super) const FIRST_STEP: f64 = 0.01;

/// Tokens that do not coalesce are at rest within this share of the error that a step of unit length may have: what is left of their ways is lost in it.
const AT_REST: f64 = 1e-3;

/// The factor from a step whose error is `ratio` times its tolerance to the next.
pub(super) fn growth(ratio: f64, order: u32) -> f64 {
    if ratio == 0.0 { 10.0 } else { (0.9 * ratio.powf(-1.0 / f64::from(order))).clamp(0.1, 10.0) }
}

/// The relative accuracy of velocities at which [`solve`] takes nothing of them for an error of its own: a hundredth of its tolerance.
pub fn velocity_accuracy(rtol: f64, beta: f64) -> f64 {
    (0.01 * rtol * kernel_width(beta)).max(EXACT)
}

/// The largest relative error of velocities, in units of the tolerance of a step of unit length, that its error estimate can bear: coefficients of the
/// estimators have lengths up to 2.3.
const BEARABLE: f64 = 0.1;

/// **Errors** a tolerance below the noise of the velocities: the estimate of the error would fall no further however short the steps.
fn check_noise(dynamics: &Dynamics, rtol: f64) -> Result<()> {
    let (accuracy, width) = (dynamics.accuracy(), dynamics.length_scale());
    if accuracy <= (BEARABLE * rtol * width).max(EXACT) {
        return Ok(());
    }
    let (least, most) = (accuracy / (BEARABLE * width), (BEARABLE * rtol * width).max(EXACT));
    let expected = format!("at least {least:.1e} with velocities accurate to {accuracy:.1e}, or velocities accurate to {most:.1e}");
    Err(Error::parameter("rtol", show(rtol), expected))
}

/// Integrates `dynamics` from `start` over `[0, t_end]`.
///
/// The step keeps the local error below `rtol * width * min(1, displacement)`: an error per unit of displacement, so that a perturbation of
/// 1e-9 that grows for e^60 units of time is followed with relative accuracy. Time is a double-double and steps may
/// span hundreds of orders of magnitude. Merges and events are located by root finding on dense output.
///
/// **Cost** 12 velocities per step (DOP853). **Errors** a bad `t_end` or option, a tolerance below the noise of the velocities (see
/// [`velocity_accuracy`]), an algorithm of the kernel sums that refuses; honest bad ends are outcomes, with partial results.
///
/// ```
/// use metastable::{attention::{dynamics, Spec}, flow::{solve, Options}, sphere::Tokens};
/// let usa = dynamics::build("usa", false, &Spec::new(0.0, 2)).unwrap();
/// let x = Tokens::from_angles(&[0.0, 2.0]).unwrap();
/// let end = solve(&usa, &x, 1.0, &Options::default(), &mut []).unwrap();
/// // beta = 0, two tokens: tan(theta/2) decays like e^{-t}
/// let theta = end.clusters.angles()[1] - end.clusters.angles()[0];
/// assert!(((theta / 2.0).tan() - 1f64.tan() * (-1f64).exp()).abs() < 1e-10);
/// ```
pub fn solve(dynamics: &Dynamics, start: &Tokens, t_end: f64, options: &Options, observers: &mut [&mut dyn Observer]) -> Result<Solution> {
    if !(t_end.is_finite() && t_end >= 0.0) {
        return Err(Error::parameter("t-end", t_end, "a finite time >= 0"));
    }
    dynamics.kernel(start)?;
    check_noise(dynamics, options.rtol)?;
    let mut run = Run::new(dynamics, start, t_end, options);
    run.observe(observers, 0.0, true);
    run.coalesce_now();
    let outcome = in_a_row(start, || run.advance(observers));
    Ok(run.finish(outcome, observers))
}

struct Run<'a> {
    dynamics: &'a Dynamics,
    options: &'a Options<'a>,
    t: Dd,
    t_end: f64,
    live: Tokens,
    labels: Vec<usize>,
    step: Step,
    h: f64,
    merge_chord: f64,
    merges: Vec<Merge>,
    hits: Vec<Hit>,
    /// The stopping event that happened.
    stop: Option<Hit>,
    event_values: Vec<f64>,
    /// The end of the step in work, and pairs that have come close.
    end: Tokens,
    close: ClosePairs,
    stats: Stats,
    /// Buffers of the observers.
    work: RefCell<Workspace>,
    /// Times at which weights jump, ascending; the last is infinite.
    jumps: Vec<f64>,
}

impl<'a> Run<'a> {
    fn new(dynamics: &'a Dynamics, start: &Tokens, t_end: f64, options: &'a Options<'a>) -> Self {
        let step = Step::new(options.integrator, dynamics, 0.0, start);
        let merge_chord = if dynamics.facts().common_field { 2.0 * (0.5 * options.merge_radius).sin() } else { 0.0 };
        let mut run = Self {
            dynamics,
            options,
            t: Dd::default(),
            t_end,
            live: start.clone(),
            labels: (0..start.n()).collect(),
            step,
            h: 0.0,
            merge_chord,
            merges: Vec::new(),
            hits: Vec::new(),
            stop: None,
            event_values: options.events.iter().map(|(e, _)| e.value(start)).collect(),
            end: start.clone(),
            close: ClosePairs::default(),
            stats: Stats::default(),
            work: RefCell::default(),
            jumps: dynamics.jumps().into_iter().filter(|t| *t > 0.0).chain([f64::INFINITY]).collect(),
        };
        run.h = run.first_step();
        run
    }

    /// A step that moves the fastest token by [`FIRST_STEP`] of the kernel width.
    fn first_step(&self) -> f64 {
        let speed = self.step.max_speed();
        let h = FIRST_STEP * self.dynamics.length_scale() / speed;
        if h.is_finite() { h } else { self.t_end.max(f64::MIN_POSITIVE) }
    }

    fn remaining(&self) -> f64 {
        (Dd::from(self.t_end) - self.t).to_f64()
    }

    /// Time to the next jump of the weights, which no step crosses.
    fn to_jump(&self) -> f64 {
        (Dd::from(self.jumps[0]) - self.t).to_f64()
    }

    /// At a jump: the new weights from here on.
    fn jump(&mut self) {
        self.t = Dd::from(self.jumps.remove(0));
        self.step.restart(self.dynamics, self.t.to_f64(), &self.live);
    }

    /// Steps until something ends the run.
    fn advance(&mut self, observers: &mut [&mut dyn Observer]) -> Outcome {
        let mut shrunk = false;
        let mut broken = 0;
        loop {
            let now = self.t.to_f64();
            if let Some(stop) = &self.stop {
                return Outcome::Event { index: stop.index, name: stop.name.clone(), t: stop.t };
            }
            if self.remaining() <= 0.0 {
                return Outcome::Reached;
            }
            if self.options.stop_at_one_cluster && self.is_within(self.options.merge_radius) {
                return Outcome::OneCluster { t: now };
            }
            if self.is_within((AT_REST * self.options.rtol * self.dynamics.length_scale()).max(2.0 * FLOOR)) {
                return Outcome::Reached;
            }
            if self.options.cancel.is_some_and(|c| c.load(Ordering::Relaxed)) {
                return Outcome::Interrupted { t: now };
            }
            if self.stats.steps + self.stats.rejected >= self.options.max_steps {
                return Outcome::MaxSteps { t: now };
            }
            let h = self.h.min(self.remaining()).min(self.to_jump());
            self.step.until = self.jumps[0].next_down();
            let error = self.step.attempt(self.dynamics, h);
            let displacement = self.step.displacement();
            let tolerance = (self.options.rtol * self.dynamics.length_scale() * displacement.min(1.0)).max(FLOOR);
            let ratio = error / tolerance;
            if ratio.is_nan() || displacement.is_nan() {
                broken += 1;
                self.stats.rejected += 1;
                // Eight refusals in a row, or a step that hardly moves: the singularity is here.
                if broken > 8 || h * self.step.max_speed() < 1e3 * FLOOR {
                    return Outcome::NonFinite { t: now, token: self.original_token(self.step.broken_token().unwrap_or(0)) };
                }
                self.h = 0.1 * h;
                continue;
            }
            broken = 0;
            let growth = growth(ratio, self.options.integrator.order);
            if ratio > 1.0 {
                self.stats.rejected += 1;
                self.h = h * growth.min(0.9);
                shrunk = true;
                if self.h * self.step.max_speed() < 1e-3 * FLOOR {
                    return Outcome::StepTooSmall { t: now, h };
                }
                continue;
            }
            self.stats.steps += 1;
            let wanted = h * if shrunk { growth.min(1.0) } else { growth };
            shrunk = false;
            self.accept(h, observers);
            // A step cut short by the end time or a sample says nothing against the step that was planned.
            self.h = if h < self.h { self.h.max(wanted) } else { wanted };
        }
    }

    /// Books an accepted step: events, samples, coalescence.
    fn accept(&mut self, h: f64, observers: &mut [&mut dyn Observer]) {
        let theta = self.locate(h);
        let end = if theta < 1.0 { self.t + Dd::from(theta * h) } else { self.t + Dd::from(h) };
        self.sample(h, end, theta, observers);
        if theta < 1.0 {
            self.step.prepare_dense(self.dynamics);
            self.step.interpolate(theta, &mut self.live);
            self.step.restart(self.dynamics, end.to_f64(), &self.live);
            // The step was cut: events that had happened by its full end have not happened yet.
            let values = self.options.events.iter().zip(&self.event_values);
            let values = values.map(|((e, _), v)| if *v >= 0.0 { e.value(&self.live) } else { *v }).collect();
            self.event_values = values;
        } else {
            self.live.numbers_mut().copy_from_slice(&self.step.end);
            self.step.advance(end.to_f64());
        }
        let jumps = theta >= 1.0 && h >= self.to_jump();
        self.t = end;
        if theta >= 1.0 && h >= self.remaining() + h {
            self.t = Dd::from(self.t_end);
        }
        if jumps {
            self.jump();
        }
        self.coalesce_now();
        self.observe(observers, self.t.to_f64(), false);
    }

    /// The fraction of the step at which the first merge or event happens, 1 if none does; records the events.
    fn locate(&mut self, h: f64) -> f64 {
        self.end.numbers_mut().copy_from_slice(&self.step.end);
        let mut theta = 1.0f64;
        if self.merge_chord > 0.0 && !self.close.find(&self.end, self.merge_chord).is_empty() {
            let pairs = &self.close.pairs;
            self.step.prepare_dense(self.dynamics);
            let mut x = self.live.clone();
            let gap = |theta: f64| {
                self.step.interpolate(theta, &mut x);
                let chord = |&(i, j): &(usize, usize)| crate::sphere::geometry::chord2(x.row(i), x.row(j)).sqrt();
                pairs.iter().map(chord).fold(f64::INFINITY, f64::min) - self.merge_chord
            };
            theta = bracketed_root(gap, 0.0, 1.0, 1e-15).unwrap_or(1.0);
        }
        let mut found = Vec::new();
        for (k, (event, _)) in self.options.events.iter().enumerate() {
            let before = self.event_values[k];
            let after = event.value(&self.end);
            if before < 0.0 && after >= 0.0 {
                self.step.prepare_dense(self.dynamics);
                let mut x = self.live.clone();
                let at = bracketed_root(
                    |theta| {
                        self.step.interpolate(theta, &mut x);
                        event.value(&x)
                    },
                    0.0,
                    1.0,
                    1e-12,
                );
                found.push((at.unwrap_or(1.0), k));
            }
            self.event_values[k] = after;
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (at, k) in found {
            if at > theta {
                // A merge or a stop comes first; the event is found again in a later step.
                self.event_values[k] = -1.0;
                continue;
            }
            let (event, action) = &self.options.events[k];
            let hit = Hit { index: k, name: event.name(), t: (self.t + Dd::from(at * h)).to_f64() };
            if *action == Action::Stop {
                theta = at;
                self.stop.get_or_insert_with(|| hit.clone());
            }
            self.hits.push(hit);
        }
        theta
    }

    /// Samples the observers whose times lie inside the step, up to its used end.
    fn sample(&mut self, h: f64, end: Dd, theta: f64, observers: &mut [&mut dyn Observer]) {
        let now = self.t.to_f64();
        let until = end.to_f64();
        for observer in observers.iter_mut() {
            while let Some(time) = observer.next_time().filter(|s| *s <= until) {
                let at = ((Dd::from(time) - self.t).to_f64() / h).clamp(0.0, theta);
                self.step.prepare_dense(self.dynamics);
                let mut x = self.live.clone();
                self.step.interpolate(at, &mut x);
                observer.observe(&Frame { t: time.max(now), tokens: &x, labels: &self.labels, dynamics: self.dynamics, work: &self.work });
            }
        }
    }

    /// Shows the present state to observers of every step, and to those due exactly now when `first`.
    fn observe(&mut self, observers: &mut [&mut dyn Observer], t: f64, first: bool) {
        for observer in observers.iter_mut() {
            let due = first && observer.next_time().is_some_and(|s| s <= t);
            if due || observer.every_step() {
                observer.observe(&Frame { t, tokens: &self.live, labels: &self.labels, dynamics: self.dynamics, work: &self.work });
            }
        }
    }

    /// True for one token that does not move; for dynamics without coalescence when all tokens are within the radius of the first, in caps that
    /// are invariant.
    fn is_within(&self, radius: f64) -> bool {
        let (n, facts) = (self.live.n(), self.dynamics.facts());
        if !facts.cone_invariant || n == 1 {
            return facts.cone_invariant;
        }
        let chord = 2.0 * (0.5 * radius).sin();
        let near = |i: usize| crate::sphere::geometry::chord2(self.live.row(0), self.live.row(i)) <= chord * chord;
        !facts.common_field && chord > 0.0 && (1..n).all(near)
    }

    fn coalesce_now(&mut self) {
        if self.merge_chord <= 0.0 || self.live.n() == 1 {
            return;
        }
        // The located merge point may lie above the radius by the width of the root bracket.
        if self.close.find(&self.live, self.merge_chord * (1.0 + 1e-6)).is_empty() {
            return;
        }
        let (tokens, map) = merge(&self.live, &self.close.pairs);
        self.labels.iter_mut().for_each(|l| *l = map[*l]);
        let mut sizes = vec![0usize; tokens.n()];
        map.iter().for_each(|&s| sizes[s] += 1);
        for s in (0..tokens.n()).filter(|&s| sizes[s] > 1) {
            let members = (0..self.labels.len()).filter(|&i| self.labels[i] == s).collect();
            self.merges.push(Merge { t: self.t.to_f64(), members, mass: tokens.masses()[s] });
        }
        self.live = tokens;
        self.end = self.live.clone();
        let (evaluations, work) = (self.step.evaluations, std::mem::take(&mut self.step.work));
        self.step = Step::new(self.options.integrator, self.dynamics, self.t.to_f64(), &self.live);
        self.step.evaluations += evaluations;
        self.step.work = work;
    }

    /// The first initial token of a live row.
    fn original_token(&self, live: usize) -> usize {
        self.labels.iter().position(|&l| l == live).unwrap_or(0)
    }

    fn finish(mut self, outcome: Outcome, observers: &mut [&mut dyn Observer]) -> Solution {
        let t = if outcome == Outcome::Reached { self.t_end } else { self.t.to_f64() };
        if outcome == Outcome::Reached || (matches!(outcome, Outcome::OneCluster { .. }) && self.live.n() == 1) {
            // A single token does not move: the remaining samples are the present state.
            for observer in observers.iter_mut() {
                while let Some(time) = observer.next_time().filter(|s| *s <= self.t_end) {
                    observer.observe(&Frame {
                        t: time,
                        tokens: &self.live,
                        labels: &self.labels,
                        dynamics: self.dynamics,
                        work: &self.work,
                    });
                }
            }
        }
        self.stats.evaluations = self.step.evaluations;
        Solution { outcome, t, clusters: self.live, labels: self.labels, merges: self.merges, hits: self.hits, stats: self.stats }
    }
}
