//! A run of tokens: the loop over time, with merges, events and observers. A run can be advanced a
//! few steps at a time, and its state can be read in between.

use super::checkpoint::{RunCheckpoint, bits, numbers};
use super::event::{Event, EventAction, EventHit};
use super::integrate::{ControlledStepper, OdeSystem, max_speed};
use super::merging::{Merge, MergeEvent, merge};
use super::observable::{Frame, Observer};
use super::options::Options;
use super::outcome::{Outcome, Solution, Stats};
use super::steady_state::{Residual, SteadyStateDetector};
use super::step_control::{ERROR_FLOOR, FIRST_DISPLACEMENT};
use super::stepper::StepAttempt;
use super::token_system::TokenSystem;
use crate::attention::{
    Dynamics,
    kernel::{Workspace, with_repeated_evaluations},
};
use crate::error::Result;
use crate::num::{dd::Dd, roots::bracketed_root};
use crate::sphere::{Tokens, geometry::chord2};
use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

/// Tokens that do not merge count as one cluster at rest when their distance is below this fraction
/// of the error that a step of unit length may have: their remaining motion is smaller than that
/// error.
const REST_FRACTION: f64 = 1e-3;

/// Relative rounding of the time at which a sample is due, for steppers without dense output.
pub(super) const TIME_ROUNDING: f64 = 1e-12;

/// A run of tokens from time 0 to the end time; made by [`start_run`](super::start_run) and
/// [`start_sde`](super::start_sde).
///
/// ```
/// use metastable::flow::{Options, solve, start_run};
/// use metastable::{attention::{dynamics, Spec}, sphere::Tokens};
/// let sa = dynamics::build("sa", false, &Spec::new(4.0, 3))?;
/// let x = Tokens::from_angles(&[0.0, 1.0, 2.5])?;
/// let options = Options::default();
/// let (mut none, mut steps) = ([], 0);
/// let mut run = start_run(&sa, &x, 10.0, &options, &mut none)?;
/// while run.advance(5)?.is_none() {
///     steps += 5;
/// }
/// // Splitting a run into several calls does not change its results.
/// let whole = solve(&sa, &x, 10.0, &options, &mut [])?;
/// assert_eq!(run.finish().clusters, whole.clusters);
/// assert!(steps > 0);
/// # Ok::<(), metastable::error::Error>(())
/// ```
pub struct Run<'a, 'o, 'p> {
    system: TokenSystem<'a>,
    stepping: ControlledStepper<'a>,
    options: &'a Options<'a>,
    cancel: Option<&'a AtomicBool>,
    live: Tokens,
    /// The end of the attempted step.
    end: Tokens,
    context: ObserverContext<'a>,
    observers: &'o mut [&'p mut dyn Observer],
    detector: SteadyStateDetector,
    steady_state: Option<Residual>,
    merge_event: Option<MergeEvent>,
    merges: Vec<Merge>,
    hits: Vec<EventHit>,
    event_values: Vec<f64>,
}

/// What observers see besides the tokens.
struct ObserverContext<'a> {
    dynamics: &'a Dynamics,
    labels: Vec<usize>,
    merge_radius: f64,
    work: RefCell<Workspace>,
}

impl ObserverContext<'_> {
    fn frame<'f>(&'f self, t: f64, tokens: &'f Tokens) -> Frame<'f> {
        let Self { dynamics, labels, merge_radius, work } = self;
        Frame { t, tokens, labels, dynamics, merge_radius: *merge_radius, work }
    }

    /// Whether a single token is at rest: nothing moves it, and its space has no radius.
    fn single_token_is_at_rest(&self, x: &Tokens) -> bool {
        self.dynamics.properties().cone_invariant && x.space().extra_per_token() == 0
    }
}

/// An event inside a step: the fraction of the step at which it happens, and its index in the list
/// of events (`None`: tokens merge).
type StepEvent = (f64, Option<usize>);

impl<'a, 'o, 'p> Run<'a, 'o, 'p> {
    /// A run at time 0 with a given stepper.
    pub(super) fn new(
        dynamics: &'a Dynamics,
        start: &Tokens,
        stepping: ControlledStepper<'a>,
        options: &'a Options<'a>,
        cancel: Option<&'a AtomicBool>,
        observers: &'o mut [&'p mut dyn Observer],
    ) -> Result<Self> {
        let context = ObserverContext {
            dynamics,
            labels: (0..start.n()).collect(),
            merge_radius: options.merge_radius,
            work: RefCell::default(),
        };
        let mut run = Self {
            system: TokenSystem::new(dynamics, start),
            stepping,
            options,
            cancel,
            live: start.clone(),
            end: start.clone(),
            context,
            observers,
            detector: SteadyStateDetector::default(),
            steady_state: None,
            merge_event: if dynamics.properties().common_field {
                MergeEvent::new(options.merge_radius)
            } else {
                None
            },
            merges: Vec::new(),
            hits: Vec::new(),
            event_values: options.events.iter().map(|(e, _)| e.value(start)).collect(),
        };
        run.restart()?;
        Ok(run)
    }

    /// Plans a first step that moves the fastest token by [`FIRST_DISPLACEMENT`] kernel widths, or
    /// a step to the end time if nothing moves.
    pub(super) fn plan_first_step(&mut self) -> Result<()> {
        let mut rates = self.stepping.stepper.rates().to_vec();
        if rates.is_empty() {
            rates.resize(self.live.numbers().len(), 0.0);
            self.system.rates(0.0, self.live.numbers(), &mut rates)?;
        }
        let controller = &mut self.stepping.controller;
        let h = FIRST_DISPLACEMENT * self.context.dynamics.length_scale()
            / max_speed(&rates, &self.system);
        controller.h = if h.is_finite() { h } else { controller.t_end.max(f64::MIN_POSITIVE) };
        Ok(())
    }

    /// Shows the start to the observers and merges close tokens; or resumes from the checkpoint in
    /// the options.
    ///
    /// **Errors** a checkpoint of another run.
    pub(super) fn start_or_resume(&mut self) -> Result<()> {
        if let Some(checkpoint) = self.options.resume {
            return self.resume(checkpoint);
        }
        self.show_observers(0.0);
        self.merge_close_tokens(0.0)
    }

    /// Attempts at most `steps` steps and returns the outcome if the run has ended. Splitting a run
    /// into several calls does not change its results.
    ///
    /// **Errors** those of the system.
    pub fn advance(&mut self, steps: u64) -> Result<Option<&Outcome>> {
        let shape = self.live.clone();
        with_repeated_evaluations(&shape, || -> Result<()> {
            let mut left = steps;
            while self.should_continue() && left > 0 {
                left -= 1;
                match self.stepping.attempt(
                    &mut self.system,
                    self.live.numbers(),
                    self.end.numbers_mut(),
                )? {
                    Some((h, displacement)) => self.accept_step(h, displacement)?,
                    None => self.name_nonfinite_token(),
                }
            }
            Ok(())
        })?;
        Ok(self.stepping.controller.outcome.as_ref())
    }

    /// Whether to attempt another step.
    fn should_continue(&mut self) -> bool {
        let Self {
            stepping: ControlledStepper { controller, error_control, stepper },
            options,
            live,
            steady_state,
            context,
            ..
        } = self;
        let t = controller.now();
        controller.should_continue(error_control, self.cancel, || {
            stepper.order()?;
            let rest = (REST_FRACTION * options.rtol * context.dynamics.length_scale())
                .max(2.0 * ERROR_FLOOR);
            if options.stop_at_one_cluster && is_within(live, options.merge_radius) {
                return Some(Outcome::OneCluster { t });
            }
            let together = live.n() == 1 || !context.dynamics.properties().common_field;
            if context.single_token_is_at_rest(live) && together && is_within(live, rest) {
                return Some(Outcome::Reached);
            }
            steady_state.map(|residual| Outcome::Stationary { t, residual })
        })
    }

    /// Replaces the index of the non-finite number by that of its token, the first initial token of
    /// its row.
    fn name_nonfinite_token(&mut self) {
        let coordinates = self.live.coordinates().len();
        if let Some(Outcome::NonFinite { token, .. }) = &mut self.stepping.controller.outcome {
            let index = *token;
            let row = if index < coordinates {
                index / self.live.d()
            } else {
                (index - coordinates) / self.live.space().extra_per_token()
            };
            *token = self.context.labels.iter().position(|&l| l == row).unwrap_or(0);
        }
    }

    /// Accepts a step: locates events, takes samples within the step, and sets the new state.
    fn accept_step(&mut self, h: f64, displacement: f64) -> Result<()> {
        let implicit = self.stepping.stepper.is_implicit();
        self.stepping.controller.stats.implicit += u64::from(implicit);
        let theta = self.locate_events(h);
        self.sample_step(h, theta)?;
        self.commit_step(h, theta)?;
        let t = self.t();
        self.merge_close_tokens(t)?;
        self.show_observers(t);
        let Self { system, stepping: ControlledStepper { controller, stepper, .. }, live, .. } =
            self;
        stepper.switch_method(system, t, live.numbers(), controller.h, displacement)?;
        let watched =
            stepper.order().is_some() && !stepper.is_implicit() && !stepper.rates().is_empty();
        if watched && self.detector.needs_examination(h, controller.remaining(), displacement) {
            self.steady_state = self.detector.examine(
                self.context.dynamics,
                live,
                stepper.rates(),
                self.options.rtol,
            );
            controller.stats.evaluations += self.detector.evaluations();
        }
        self.save_checkpoint();
        Ok(())
    }

    /// Restarts the stepper at the present state.
    fn restart(&mut self) -> Result<()> {
        let Self { system, stepping: ControlledStepper { controller, stepper, .. }, live, .. } =
            self;
        system.latest = controller.next_jump().next_down();
        stepper.restart(system, controller.now(), live.numbers())
    }

    /// Writes the state at the fraction `theta` of the step into `x`.
    fn interpolate(&mut self, theta: f64, x: &mut Tokens) -> Result<()> {
        let Self { system, stepping, live, end, .. } = self;
        let step =
            StepAttempt { t: stepping.controller.now(), start: live.numbers(), end: end.numbers() };
        stepping.stepper.interpolate(system, step, theta, x.numbers_mut())
    }

    /// The fraction of the step of length `h` that is used: up to the first merge or stop. Records
    /// the events before it.
    fn locate_events(&mut self, h: f64) -> f64 {
        let mut found: Vec<StepEvent> = Vec::new();
        if self.merge_event.as_ref().is_some_and(|m| m.value(&self.end) >= 0.0) {
            found.push((self.locate_root(None, 1e-15), None));
        }
        for k in 0..self.event_values.len() {
            let before = std::mem::replace(
                &mut self.event_values[k],
                self.options.events[k].0.value(&self.end),
            );
            if before < 0.0 && self.event_values[k] >= 0.0 {
                found.push((self.locate_root(Some(k), 1e-12), Some(k)));
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (controller, mut theta) = (&mut self.stepping.controller, 1.0f64);
        for (at, event) in found {
            let Some(k) = event else {
                theta = theta.min(at);
                continue;
            };
            if at > theta {
                // A merge or a stop comes first; a later step finds this event again.
                self.event_values[k] = -1.0;
                continue;
            }
            let (event, action) = &self.options.events[k];
            let hit = EventHit {
                index: k,
                name: event.name(),
                t: (controller.t + Dd::from(at * h)).to_f64(),
            };
            if *action == EventAction::Stop {
                theta = at;
                controller.outcome.get_or_insert_with(|| Outcome::Event {
                    index: k,
                    name: hit.name.clone(),
                    t: hit.t,
                });
            }
            self.hits.push(hit);
        }
        theta
    }

    /// The fraction of the step at which an event, or the merge (`None`), has its root.
    fn locate_root(&mut self, event: Option<usize>, precision: f64) -> f64 {
        if !self.stepping.stepper.is_dense() {
            return 1.0;
        }
        let mut x = self.live.clone();
        let value = |theta: f64| {
            if self.interpolate(theta, &mut x).is_err() {
                return f64::NAN;
            }
            match (event, &self.merge_event) {
                (Some(k), _) => self.options.events[k].0.value_inside_step(&x),
                (None, Some(merge_event)) => merge_event.value_inside_step(&x),
                (None, None) => -1.0,
            }
        };
        bracketed_root(value, 0.0, 1.0, precision).unwrap_or(1.0)
    }

    /// Shows interpolated states to the observers whose sample times lie inside the used part of
    /// the step.
    fn sample_step(&mut self, h: f64, theta: f64) -> Result<()> {
        if !self.stepping.stepper.is_dense() {
            return Ok(());
        }
        let controller = &self.stepping.controller;
        let (start, now) = (controller.t, controller.now());
        let end = if theta < 1.0 {
            (start + Dd::from(theta * h)).to_f64()
        } else {
            controller.end_of_step(h).to_f64()
        };
        for k in 0..self.observers.len() {
            while let Some(time) = self.observers[k].next_time().filter(|s| *s <= end) {
                let at = ((Dd::from(time) - start).to_f64() / h).clamp(0.0, theta);
                let mut x = self.live.clone();
                self.interpolate(at, &mut x)?;
                self.observers[k].observe(&self.context.frame(time.max(now), &x));
            }
        }
        Ok(())
    }

    /// Shows the present state to observers of every step, and to those with a due sample time that
    /// was not served inside the step.
    fn show_observers(&mut self, t: f64) {
        let by = if self.stepping.stepper.is_dense() { t } else { t * (1.0 + TIME_ROUNDING) };
        for observer in self.observers.iter_mut() {
            let due = observer.next_time().is_some_and(|s| s <= by);
            if due || observer.every_step() {
                observer.observe(&self.context.frame(t, &self.live));
            }
        }
    }

    /// Saves a checkpoint at the end of a step.
    fn save_checkpoint(&self) {
        let ControlledStepper { controller, stepper, .. } = &self.stepping;
        let Some(sink) = self
            .options
            .checkpoint_sink
            .filter(|s| s.due() && controller.outcome.is_none() && self.steady_state.is_none())
        else {
            return;
        };
        let mut checkpoint =
            RunCheckpoint::new(&self.live, &self.context.labels, &self.merges, &self.hits);
        controller.save(stepper.evaluations(), &mut checkpoint);
        checkpoint.events = bits(&self.event_values);
        checkpoint.steady_state = self.detector.save_state();
        checkpoint.stepper = bits(&stepper.save_state());
        checkpoint.observers = self.observers.iter().map(|o| o.save_state()).collect();
        sink.save(&checkpoint);
    }

    /// Resumes from a checkpoint.
    fn resume(&mut self, checkpoint: &RunCheckpoint) -> Result<()> {
        self.live = checkpoint.tokens(&self.live)?;
        self.end = self.live.clone();
        self.system.replace(&self.live);
        (self.context.labels, self.merges, self.hits) =
            (checkpoint.labels.clone(), checkpoint.merges(), checkpoint.hits());
        (self.event_values, self.detector) = (
            numbers(&checkpoint.events),
            SteadyStateDetector::restore_state(checkpoint.steady_state),
        );
        let ControlledStepper { controller, stepper, .. } = &mut self.stepping;
        // The jumps before the checkpoint have happened.
        self.system.latest = f64::INFINITY;
        stepper.restore_state(
            &numbers(&checkpoint.stepper),
            &mut self.system,
            checkpoint.time(),
            self.live.numbers(),
        )?;
        controller.restore(checkpoint, stepper.evaluations());
        self.system.latest = controller.next_jump().next_down();
        self.observers
            .iter_mut()
            .zip(&checkpoint.observers)
            .for_each(|(o, state)| o.restore_state(state));
        Ok(())
    }

    /// Moves the state to the fraction `theta` of the step.
    fn commit_step(&mut self, h: f64, theta: f64) -> Result<()> {
        if theta < 1.0 {
            let mut x = self.live.clone();
            self.interpolate(theta, &mut x)?;
            self.live = x;
            self.stepping.controller.advance(theta * h, false);
            // The step was cut: events between the cut and its full end have not happened yet.
            let values = self.options.events.iter().zip(&self.event_values);
            self.event_values = values
                .map(|((e, _), v)| if *v >= 0.0 { e.value(&self.live) } else { *v })
                .collect();
            return self.restart();
        }
        std::mem::swap(&mut self.live, &mut self.end);
        let jumped = self.stepping.controller.advance(h, true);
        let Self { system, stepping: ControlledStepper { controller, stepper, .. }, live, .. } =
            self;
        stepper.accept(system, controller.now(), live.numbers())?;
        if jumped { self.restart() } else { Ok(()) }
    }

    /// Merges tokens within the merge radius, repeatedly, until no two clusters are within it.
    fn merge_close_tokens(&mut self, t: f64) -> Result<()> {
        let mut merged = false;
        while let Some(merge_event) = self.merge_event.as_ref().filter(|_| self.live.n() > 1) {
            let pairs = merge_event.pairs(&self.live);
            if pairs.is_empty() {
                break;
            }
            let (tokens, map) = merge(&self.live, &pairs);
            self.context.labels.iter_mut().for_each(|l| *l = map[*l]);
            let mut sizes = vec![0usize; tokens.n()];
            map.iter().for_each(|&s| sizes[s] += 1);
            for s in (0..tokens.n()).filter(|&s| sizes[s] > 1) {
                let members = (0..self.context.labels.len())
                    .filter(|&i| self.context.labels[i] == s)
                    .collect();
                self.merges.push(Merge { t, members, mass: tokens.masses()[s] });
            }
            (self.live, merged) = (tokens, true);
        }
        if !merged {
            return Ok(());
        }
        self.end = self.live.clone();
        self.system.replace(&self.live);
        self.restart()
    }

    /// The time reached.
    pub fn t(&self) -> f64 {
        self.stepping.controller.now()
    }

    /// The remaining tokens with their summed masses.
    pub fn tokens(&self) -> &Tokens {
        &self.live
    }

    /// For every initial token, the index of the remaining token that contains it.
    pub fn labels(&self) -> &[usize] {
        &self.context.labels
    }

    /// Work done.
    pub fn stats(&self) -> Stats {
        let stats = self.stepping.controller.stats;
        Stats { evaluations: stats.evaluations + self.stepping.stepper.evaluations(), ..stats }
    }

    /// The solution; a run that has not ended counts as interrupted. If the state cannot change any
    /// more, observers see it at all their remaining sample times.
    pub fn finish(self) -> Solution {
        let (now, stats) = (self.t(), self.stats());
        let ControlledStepper { controller, stepper, .. } = self.stepping;
        let outcome = controller.outcome.unwrap_or(Outcome::Interrupted { t: now });
        let stays = stepper.order().is_some() && outcome.end_state_is_known();
        let t = if stays { controller.t_end } else { now };
        if stays
            || (matches!(outcome, Outcome::OneCluster { .. })
                && self.live.n() == 1
                && self.context.single_token_is_at_rest(&self.live))
        {
            for observer in self.observers.iter_mut() {
                while let Some(time) = observer.next_time().filter(|s| *s <= controller.t_end) {
                    observer.observe(&self.context.frame(time, &self.live));
                }
            }
        }
        let merging_ignored =
            self.options.merge_radius > 0.0 && !self.context.dynamics.properties().common_field;
        let labels = self.context.labels;
        Solution {
            outcome,
            t,
            clusters: self.live,
            labels,
            merges: self.merges,
            hits: self.hits,
            stats,
            merging_ignored,
        }
    }
}

/// Whether all tokens are within a geodesic radius of the first.
fn is_within(x: &Tokens, radius: f64) -> bool {
    let chord = 2.0 * (0.5 * radius).sin();
    x.n() == 1 || (chord > 0.0 && (1..x.n()).all(|i| chord2(x.row(0), x.row(i)) <= chord * chord))
}
