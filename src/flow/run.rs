//! The one loop over time.

use super::coalesce::{ClosePairs, Merge, merge};
use super::control::{FIRST_STEP, FLOOR, Options, next, shorter, tolerance};
use super::event::{Action, Hit};
use super::mover::Mover;
use super::observable::{Frame, Observer};
use super::outcome::{Outcome, Solution, Stats};
use super::rest::{Residual, Rest};
use crate::attention::{Dynamics, kernel::Workspace};
use crate::num::{dd::Dd, roots::bracketed_root};
use crate::sphere::Tokens;
use std::cell::RefCell;
use std::sync::atomic::Ordering;

/// Tokens that do not coalesce are at rest within this share of the error that a step of unit length may have: what is left of their ways is lost in it.
const AT_REST: f64 = 1e-3;

/// A run on its way.
pub(super) struct Run<'a> {
    dynamics: &'a Dynamics,
    options: &'a Options<'a>,
    t: Dd,
    t_end: f64,
    live: Tokens,
    labels: Vec<usize>,
    step: Mover<'a>,
    rest: Rest,
    at_rest: Option<Residual>,
    /// The last step was refused; so many in a row were not finite.
    shrunk: bool,
    broken: u32,
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
    pub fn new(dynamics: &'a Dynamics, start: &Tokens, t_end: f64, options: &'a Options<'a>) -> Self {
        let step = Mover::new(options.integrator, options.implicit, dynamics, 0.0, start);
        let merge_chord = if dynamics.facts().common_field { 2.0 * (0.5 * options.merge_radius).sin() } else { 0.0 };
        let mut run = Self {
            dynamics,
            options,
            t: Dd::default(),
            t_end,
            live: start.clone(),
            labels: (0..start.n()).collect(),
            step,
            rest: Rest::default(),
            at_rest: None,
            shrunk: false,
            broken: 0,
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
    pub fn advance(&mut self, observers: &mut [&mut dyn Observer]) -> Outcome {
        loop {
            if let Some(outcome) = self.ended() {
                return outcome;
            }
            let h = self.h.min(self.remaining()).min(self.to_jump());
            self.step.until(self.jumps[0].next_down());
            let error = self.step.attempt(self.dynamics, h);
            let displacement = self.step.displacement();
            let ratio = error / tolerance(self.options.rtol, self.dynamics.length_scale(), displacement);
            if ratio.is_nan() || displacement.is_nan() || ratio > 1.0 {
                if let Some(outcome) = self.refuse(h, ratio, displacement.is_nan()) {
                    return outcome;
                }
                continue;
            }
            self.broken = 0;
            self.stats.steps += 1;
            self.stats.implicit += u64::from(self.step.is_implicit());
            let planned = next(h, self.h, ratio, self.step.order(), self.shrunk);
            self.shrunk = false;
            self.accept(h, observers);
            self.h = self.step.reconsider(self.dynamics, self.t.to_f64(), &self.live, planned, displacement);
            if !self.step.is_implicit() && self.rest.is_due(h, self.remaining(), displacement) {
                self.at_rest = self.rest.examine(self.dynamics, &self.live, self.step.velocity(), self.options.rtol);
                self.stats.evaluations += self.rest.evaluations();
            }
        }
    }

    /// What ends the run before another step.
    fn ended(&self) -> Option<Outcome> {
        let t = self.t.to_f64();
        let rest = (AT_REST * self.options.rtol * self.dynamics.length_scale()).max(2.0 * FLOOR);
        if let Some(stop) = &self.stop {
            Some(Outcome::Event { index: stop.index, name: stop.name.clone(), t: stop.t })
        } else if self.remaining() <= 0.0 {
            Some(Outcome::Reached)
        } else if self.options.stop_at_one_cluster && self.is_within(self.options.merge_radius) {
            Some(Outcome::OneCluster { t })
        } else if self.is_within(rest) {
            Some(Outcome::Reached)
        } else if let Some(residual) = self.at_rest {
            Some(Outcome::Stationary { t, residual })
        } else if self.options.cancel.is_some_and(|c| c.load(Ordering::Relaxed)) {
            Some(Outcome::Interrupted { t })
        } else if self.stats.steps + self.stats.rejected >= self.options.max_steps {
            Some(Outcome::MaxSteps { t })
        } else {
            None
        }
    }

    /// Books a step that is not good and plans a shorter one; what ends the run when none will do.
    fn refuse(&mut self, h: f64, ratio: f64, lost: bool) -> Option<Outcome> {
        self.stats.rejected += 1;
        if ratio.is_nan() || lost {
            self.broken += 1;
            // Eight refusals in a row, or a step that hardly moves: the singularity is here.
            if self.broken > 8 || h * self.step.max_speed() < 1e3 * FLOOR {
                if self.step.give_up(self.dynamics, self.t.to_f64(), &self.live) {
                    (self.broken, self.h) = (0, 0.1 * h);
                    return None;
                }
                let token = self.original_token(self.step.broken_token().unwrap_or(0));
                return Some(Outcome::NonFinite { t: self.t.to_f64(), token });
            }
            self.h = 0.1 * h;
            return None;
        }
        self.broken = 0;
        self.h = shorter(h, ratio, self.step.order());
        self.shrunk = true;
        let stuck = self.h * self.step.max_speed() < 1e-3 * FLOOR && !self.step.give_up(self.dynamics, self.t.to_f64(), &self.live);
        stuck.then(|| Outcome::StepTooSmall { t: self.t.to_f64(), h })
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
            self.live.numbers_mut().copy_from_slice(self.step.end());
            self.step.advance(self.dynamics, end.to_f64());
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
        self.end.numbers_mut().copy_from_slice(self.step.end());
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
                observer.observe(&Frame {
                    t: time.max(now),
                    tokens: &x,
                    labels: &self.labels,
                    dynamics: self.dynamics,
                    merge_radius: self.options.merge_radius,
                    work: &self.work,
                });
            }
        }
    }

    /// Shows the present state to observers of every step, and to those due exactly now when `first`.
    pub fn observe(&mut self, observers: &mut [&mut dyn Observer], t: f64, first: bool) {
        for observer in observers.iter_mut() {
            let due = first && observer.next_time().is_some_and(|s| s <= t);
            if due || observer.every_step() {
                observer.observe(&Frame {
                    t,
                    tokens: &self.live,
                    labels: &self.labels,
                    dynamics: self.dynamics,
                    merge_radius: self.options.merge_radius,
                    work: &self.work,
                });
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

    pub fn coalesce_now(&mut self) {
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
        self.step.replace(self.dynamics, self.options.integrator, self.t.to_f64(), &self.live);
    }

    /// The first initial token of a live row.
    fn original_token(&self, live: usize) -> usize {
        self.labels.iter().position(|&l| l == live).unwrap_or(0)
    }

    /// The samples to come of a state that will not change, and the solution.
    pub fn finish(mut self, outcome: Outcome, observers: &mut [&mut dyn Observer]) -> Solution {
        let stays = matches!(outcome, Outcome::Reached | Outcome::Stationary { .. });
        let t = if stays { self.t_end } else { self.t.to_f64() };
        if stays || (matches!(outcome, Outcome::OneCluster { .. }) && self.live.n() == 1) {
            for observer in observers.iter_mut() {
                while let Some(time) = observer.next_time().filter(|s| *s <= self.t_end) {
                    observer.observe(&Frame {
                        t: time,
                        tokens: &self.live,
                        labels: &self.labels,
                        dynamics: self.dynamics,
                        merge_radius: self.options.merge_radius,
                        work: &self.work,
                    });
                }
            }
        }
        self.stats.evaluations += self.step.evaluations();
        Solution { outcome, t, clusters: self.live, labels: self.labels, merges: self.merges, hits: self.hits, stats: self.stats }
    }
}
