//! Tokens in the loop: steps, events (merging among them), samples.

use super::clock::{Clock, FIRST_STEP, FLOOR};
use super::coalesce::{Merge, Merging, merge};
use super::control::Options;
use super::drive::{System, Tried, Turn};
use super::event::{Action, Event, Hit};
use super::observable::{Frame, Observer};
use super::outcome::{Outcome, Solution};
use super::pause::{Pause, bits, numbers};
use super::rest::{Residual, Rest};
use super::stepper::Stepper;
use crate::attention::{Dynamics, kernel::Workspace};
use crate::error::Result;
use crate::num::{dd::Dd, roots::bracketed_root};
use crate::sphere::{Tokens, geometry::chord2};
use std::cell::RefCell;

/// Tokens that do not coalesce are at rest within this share of the error that a step of unit length may have: what is left of their ways is lost in it.
const AT_REST: f64 = 1e-3;

/// A sample is due at the first step without dense output whose end is not before it, up to this rounding of the time.
pub(super) const ROUNDED: f64 = 1e-12;

/// Tokens on their way.
pub(super) struct Particles<'a, 'o, 'p> {
    pub dynamics: &'a Dynamics,
    pub options: &'a Options<'a>,
    pub live: Tokens,
    scene: Scene<'a>,
    stepper: Box<dyn Stepper + 'a>,
    observers: &'o mut [&'p mut dyn Observer],
    rest: Rest,
    at_rest: Option<Residual>,
    merging: Option<Merging>,
    merges: Vec<Merge>,
    hits: Vec<Hit>,
    event_values: Vec<f64>,
    /// The end of the step in work.
    end: Tokens,
}

/// What observers see besides tokens.
struct Scene<'a> {
    dynamics: &'a Dynamics,
    labels: Vec<usize>,
    merge_radius: f64,
    work: RefCell<Workspace>,
}

impl Scene<'_> {
    fn frame<'f>(&'f self, t: f64, tokens: &'f Tokens) -> Frame<'f> {
        let Self { dynamics, labels, merge_radius, work } = self;
        Frame { t, tokens, labels, dynamics, merge_radius: *merge_radius, work }
    }
}

/// What happens inside a step: its share of the step, and the place of the event in the list (`None`: tokens merge).
type Happening = (f64, Option<usize>);

impl<'a, 'o, 'p> Particles<'a, 'o, 'p> {
    pub fn new(
        dynamics: &'a Dynamics,
        start: &Tokens,
        stepper: Box<dyn Stepper + 'a>,
        options: &'a Options<'a>,
        observers: &'o mut [&'p mut dyn Observer],
    ) -> Self {
        Self {
            dynamics,
            options,
            live: start.clone(),
            scene: Scene { dynamics, labels: (0..start.n()).collect(), merge_radius: options.merge_radius, work: RefCell::default() },
            stepper,
            observers,
            rest: Rest::default(),
            at_rest: None,
            merging: if dynamics.facts().common_field { Merging::within(options.merge_radius) } else { None },
            merges: Vec::new(),
            hits: Vec::new(),
            event_values: options.events.iter().map(|(e, _)| e.value(start)).collect(),
            end: start.clone(),
        }
    }

    /// For every initial token, its row.
    pub fn labels(&self) -> &[usize] {
        &self.scene.labels
    }

    /// A step that moves the fastest token by [`FIRST_STEP`] of the kernel width.
    pub fn first_step(&self, t_end: f64) -> f64 {
        let h = FIRST_STEP * self.dynamics.length_scale() / self.stepper.max_speed(&self.live);
        if h.is_finite() { h } else { t_end.max(f64::MIN_POSITIVE) }
    }

    /// The share of the step of length `h` that is used: up to the first merge or stop; records the events until then.
    fn locate(&mut self, clock: &mut Clock, h: f64) -> f64 {
        self.end.numbers_mut().copy_from_slice(self.stepper.end());
        let mut found: Vec<Happening> = Vec::new();
        if self.merging.as_ref().is_some_and(|m| m.value(&self.end) >= 0.0) {
            found.push((self.root(None, 1e-15), None));
        }
        for k in 0..self.event_values.len() {
            let before = std::mem::replace(&mut self.event_values[k], self.options.events[k].0.value(&self.end));
            if before < 0.0 && self.event_values[k] >= 0.0 {
                found.push((self.root(Some(k), 1e-12), Some(k)));
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut theta = 1.0f64;
        for (at, event) in found {
            let Some(k) = event else {
                theta = theta.min(at);
                continue;
            };
            if at > theta {
                // A merge or a stop comes first; the event is found again in a later step.
                self.event_values[k] = -1.0;
                continue;
            }
            let (event, action) = &self.options.events[k];
            let hit = Hit { index: k, name: event.name(), t: (clock.t + Dd::from(at * h)).to_f64() };
            if *action == Action::Stop {
                theta = at;
                clock.outcome.get_or_insert_with(|| Outcome::Event { index: k, name: hit.name.clone(), t: hit.t });
            }
            self.hits.push(hit);
        }
        theta
    }

    /// Where in the step an event, or the merger, has its root.
    fn root(&mut self, event: Option<usize>, precision: f64) -> f64 {
        if !self.stepper.is_dense() {
            return 1.0;
        }
        let mut x = self.live.clone();
        let Self { dynamics, options, merging, stepper, .. } = self;
        let value = |theta: f64| {
            stepper.interpolate(dynamics, theta, &mut x);
            match (event, &merging) {
                (Some(k), _) => options.events[k].0.inside(&x),
                (None, Some(merging)) => merging.inside(&x),
                (None, None) => -1.0,
            }
        };
        bracketed_root(value, 0.0, 1.0, precision).unwrap_or(1.0)
    }

    /// Samples the observers whose times lie inside the step, up to its used end.
    fn sample(&mut self, clock: &Clock, h: f64, theta: f64) {
        if !self.stepper.is_dense() {
            return;
        }
        let now = clock.now();
        let end = if theta < 1.0 { (clock.t + Dd::from(theta * h)).to_f64() } else { clock.after(h).to_f64() };
        for observer in self.observers.iter_mut() {
            while let Some(time) = observer.next_time().filter(|s| *s <= end) {
                let at = ((Dd::from(time) - clock.t).to_f64() / h).clamp(0.0, theta);
                let mut x = self.live.clone();
                self.stepper.interpolate(self.dynamics, at, &mut x);
                observer.observe(&self.scene.frame(time.max(now), &x));
            }
        }
    }

    /// Shows the present state to observers of every step, and to those that are due by now and were not served inside the step.
    pub fn observe(&mut self, t: f64) {
        let by = if self.stepper.is_dense() { t } else { t * (1.0 + ROUNDED) };
        for observer in self.observers.iter_mut() {
            let due = observer.next_time().is_some_and(|s| s <= by);
            if due || observer.every_step() {
                observer.observe(&self.scene.frame(t, &self.live));
            }
        }
    }

    /// Keeps the run as it is at the end of a step.
    fn keep(&self, clock: &Clock) {
        let Some(keeper) = self.options.keeper.filter(|k| k.due() && clock.outcome.is_none() && self.at_rest.is_none()) else { return };
        let mut pause = Pause::of(&self.live, &self.scene.labels, &self.merges, &self.hits);
        clock.keep(self.stepper.evaluations(), &mut pause);
        pause.events = bits(&self.event_values);
        pause.rest = self.rest.memory();
        pause.stepper = bits(&self.stepper.memory());
        pause.observers = self.observers.iter().map(|o| o.memory()).collect();
        keeper.keep(&pause);
    }

    /// Goes on from a pause.
    ///
    /// **Errors** the pause of another run.
    pub fn resume(&mut self, clock: &mut Clock, pause: &Pause) -> Result<()> {
        self.live = pause.tokens(&self.live)?;
        self.end = self.live.clone();
        (self.scene.labels, self.merges, self.hits) = (pause.labels.clone(), pause.merges(), pause.hits());
        (self.event_values, self.rest) = (numbers(&pause.events), Rest::recall(pause.rest));
        self.stepper.recall(&numbers(&pause.stepper), self.dynamics, pause.time(), &self.live);
        clock.resume(pause, self.stepper.evaluations());
        self.observers.iter_mut().zip(&pause.observers).for_each(|(o, memory)| o.recall(memory));
        Ok(())
    }

    /// Goes to the share `theta` of the step.
    fn go(&mut self, clock: &mut Clock, h: f64, theta: f64) {
        if theta < 1.0 {
            self.stepper.interpolate(self.dynamics, theta, &mut self.live);
            clock.advance(theta * h, false);
            self.stepper.restart(self.dynamics, clock.now(), &self.live);
            // The step was cut: events that had happened by its full end have not happened yet.
            let values = self.options.events.iter().zip(&self.event_values);
            self.event_values = values.map(|((e, _), v)| if *v >= 0.0 { e.value(&self.live) } else { *v }).collect();
            return;
        }
        self.live.numbers_mut().copy_from_slice(self.stepper.end());
        let jumped = clock.advance(h, true);
        self.stepper.advance(self.dynamics, clock.now(), &self.live);
        if jumped {
            self.stepper.restart(self.dynamics, clock.now(), &self.live);
        }
    }

    /// Whether all tokens are within the radius of the first.
    fn is_within(&self, radius: f64) -> bool {
        let chord = 2.0 * (0.5 * radius).sin();
        let near = |i: usize| chord2(self.live.row(0), self.live.row(i)) <= chord * chord;
        self.live.n() == 1 || (chord > 0.0 && (1..self.live.n()).all(near))
    }

    /// Whether one token stays where it is: nothing pushes it, and it has no radius.
    fn one_stays(&self) -> bool {
        self.dynamics.facts().cone_invariant && self.live.space().own() == 0
    }

    /// Whether all are together and stay.
    fn is_over(&self, radius: f64) -> bool {
        self.one_stays() && (self.live.n() == 1 || !self.dynamics.facts().common_field) && self.is_within(radius)
    }

    /// Tokens within the merge radius become one, and so do clusters that have come within it by that.
    pub fn coalesce(&mut self, t: f64) {
        let mut merged = false;
        while let Some(merging) = self.merging.as_ref().filter(|_| self.live.n() > 1) {
            let pairs = merging.pairs(&self.live);
            if pairs.is_empty() {
                break;
            }
            let (tokens, map) = merge(&self.live, &pairs);
            self.scene.labels.iter_mut().for_each(|l| *l = map[*l]);
            let mut sizes = vec![0usize; tokens.n()];
            map.iter().for_each(|&s| sizes[s] += 1);
            for s in (0..tokens.n()).filter(|&s| sizes[s] > 1) {
                let members = (0..self.scene.labels.len()).filter(|&i| self.scene.labels[i] == s).collect();
                self.merges.push(Merge { t, members, mass: tokens.masses()[s] });
            }
            (self.live, merged) = (tokens, true);
        }
        if merged {
            self.end = self.live.clone();
            self.stepper.restart(self.dynamics, t, &self.live);
        }
    }

    /// The samples to come of a state that will not change, and the solution.
    pub fn finish(self, clock: Clock) -> Solution {
        let now = clock.now();
        let outcome = clock.outcome.unwrap_or(Outcome::Interrupted { t: now });
        let stays = self.stepper.order().is_some() && outcome.lasts();
        let t = if stays { clock.t_end } else { now };
        if stays || (matches!(outcome, Outcome::OneCluster { .. }) && self.live.n() == 1 && self.one_stays()) {
            for observer in self.observers.iter_mut() {
                while let Some(time) = observer.next_time().filter(|s| *s <= clock.t_end) {
                    observer.observe(&self.scene.frame(time, &self.live));
                }
            }
        }
        let mut stats = clock.stats;
        stats.evaluations += self.stepper.evaluations();
        let merging_ignored = self.options.merge_radius > 0.0 && !self.dynamics.facts().common_field;
        let labels = self.scene.labels;
        Solution { outcome, t, clusters: self.live, labels, merges: self.merges, hits: self.hits, stats, merging_ignored }
    }
}

impl System for Particles<'_, '_, '_> {
    fn ended(&mut self, clock: &Clock) -> Option<Outcome> {
        self.stepper.order()?;
        let t = clock.now();
        let rest = (AT_REST * self.options.rtol * self.dynamics.length_scale()).max(2.0 * FLOOR);
        if self.options.stop_at_one_cluster && self.is_within(self.options.merge_radius) {
            Some(Outcome::OneCluster { t })
        } else if self.is_over(rest) {
            Some(Outcome::Reached)
        } else {
            self.at_rest.map(|residual| Outcome::Stationary { t, residual })
        }
    }

    fn order(&self) -> Option<u32> {
        self.stepper.order()
    }

    fn attempt(&mut self, clocks: &[Clock], turns: &mut [Turn]) -> Result<()> {
        for turn in turns {
            self.stepper.until(clocks[turn.clock].next_jump().next_down());
            let error = self.stepper.attempt(self.dynamics, turn.h);
            turn.tried = Tried::Moved { error, displacement: self.stepper.displacement(&self.live) };
        }
        Ok(())
    }

    fn accept(&mut self, clocks: &mut [Clock], turns: &[Turn]) -> Result<()> {
        for turn in turns.iter().filter(|turn| turn.good) {
            let (clock, h) = (&mut clocks[turn.clock], turn.h);
            let Tried::Moved { displacement, .. } = turn.tried else { continue };
            clock.stats.implicit += u64::from(self.stepper.is_implicit());
            let theta = self.locate(clock, h);
            self.sample(clock, h, theta);
            self.go(clock, h, theta);
            let t = clock.now();
            self.coalesce(t);
            self.observe(t);
            clock.h = self.stepper.reconsider(self.dynamics, t, &self.live, clock.h, displacement);
            let watched = self.stepper.order().is_some() && !self.stepper.is_implicit();
            if watched && self.rest.is_due(h, clock.remaining(), displacement) {
                self.at_rest = self.rest.examine(self.dynamics, &self.live, self.stepper.velocity(), self.options.rtol);
                clock.stats.evaluations += self.rest.evaluations();
            }
            self.keep(clock);
        }
        Ok(())
    }

    fn speed(&self, _: &Turn) -> f64 {
        self.stepper.max_speed(&self.live)
    }

    fn fail(&mut self, clock: &mut Clock, failure: Outcome) -> Option<Outcome> {
        if self.stepper.give_up(self.dynamics, clock.now(), &self.live) {
            clock.retry();
            return None;
        }
        let Outcome::NonFinite { t, .. } = failure else { return Some(failure) };
        let live = self.stepper.broken_token(&self.live).unwrap_or(0);
        // The first initial token of that row.
        Some(Outcome::NonFinite { t, token: self.scene.labels.iter().position(|&l| l == live).unwrap_or(0) })
    }
}
