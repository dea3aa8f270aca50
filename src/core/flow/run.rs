//! A run of tokens: the loop over time, with mergers, events and observers. It goes on in turns:
//! between them its state can be seen, or the work left to others.

use super::clock::{FIRST_STEP, FLOOR};
use super::coalesce::{Merge, Merging, merge};
use super::control::Options;
use super::event::{Action, Event, Hit};
use super::observable::{Frame, Observer};
use super::ode_system::{OdeSystem, Steps, max_speed};
use super::outcome::{Outcome, Solution, Stats};
use super::pause::{Pause, bits, numbers};
use super::rest::{Residual, Rest};
use super::stepper::Segment;
use super::token_system::TokenSystem;
use crate::attention::{
    Dynamics,
    kernel::{Workspace, in_a_row},
};
use crate::error::Result;
use crate::num::{dd::Dd, roots::bracketed_root};
use crate::sphere::{Tokens, geometry::chord2};
use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

/// Tokens that do not coalesce are at rest within this share of the error that a step of unit length may have: what is left of their ways is lost in it.
const AT_REST: f64 = 1e-3;

/// A sample is due at the first step without dense output whose end is not before it, up to this rounding of the time.
pub(super) const ROUNDED: f64 = 1e-12;

/// Tokens on their way from 0 to the end time; made by [`begin`](super::begin) and [`begin_walk`](super::begin_walk).
///
/// ```
/// use metastable::{attention::{dynamics, Spec}, flow::{Options, begin, solve}, sphere::Tokens};
/// let sa = dynamics::build("sa", false, &Spec::new(4.0, 3))?;
/// let x = Tokens::from_angles(&[0.0, 1.0, 2.5])?;
/// let options = Options::default();
/// let (mut none, mut steps) = ([], 0);
/// let mut run = begin(&sa, &x, 10.0, &options, &mut none)?;
/// while run.go(5)?.is_none() {
///     steps += 5;
/// }
/// // Turns change nothing.
/// let whole = solve(&sa, &x, 10.0, &options, &mut [])?;
/// assert_eq!(run.finish().clusters, whole.clusters);
/// assert!(steps > 0);
/// # Ok::<(), metastable::error::Error>(())
/// ```
pub struct Run<'a, 'o, 'p> {
    system: TokenSystem<'a>,
    steps: Steps<'a>,
    options: &'a Options<'a>,
    cancel: Option<&'a AtomicBool>,
    live: Tokens,
    /// The end of the step in work.
    end: Tokens,
    scene: Scene<'a>,
    observers: &'o mut [&'p mut dyn Observer],
    rest: Rest,
    at_rest: Option<Residual>,
    merging: Option<Merging>,
    merges: Vec<Merge>,
    hits: Vec<Hit>,
    event_values: Vec<f64>,
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

    /// Whether one token stays where it is: nothing pushes it, and it has no radius.
    fn one_stays(&self, x: &Tokens) -> bool {
        self.dynamics.facts().cone_invariant && x.space().own() == 0
    }
}

/// What happens inside a step: its share of the step, and the place of the event in the list (`None`: tokens merge).
type Happening = (f64, Option<usize>);

impl<'a, 'o, 'p> Run<'a, 'o, 'p> {
    /// A run of tokens by a stepper, at time 0.
    pub(super) fn new(
        dynamics: &'a Dynamics,
        start: &Tokens,
        steps: Steps<'a>,
        options: &'a Options<'a>,
        cancel: Option<&'a AtomicBool>,
        observers: &'o mut [&'p mut dyn Observer],
    ) -> Result<Self> {
        let scene = Scene { dynamics, labels: (0..start.n()).collect(), merge_radius: options.merge_radius, work: RefCell::default() };
        let mut run = Self {
            system: TokenSystem::new(dynamics, start),
            steps,
            options,
            cancel,
            live: start.clone(),
            end: start.clone(),
            scene,
            observers,
            rest: Rest::default(),
            at_rest: None,
            merging: if dynamics.facts().common_field { Merging::within(options.merge_radius) } else { None },
            merges: Vec::new(),
            hits: Vec::new(),
            event_values: options.events.iter().map(|(e, _)| e.value(start)).collect(),
        };
        run.restart()?;
        Ok(run)
    }

    /// Plans a first step that moves the fastest token by [`FIRST_STEP`] of the kernel width; one to
    /// the end time where nothing moves.
    pub(super) fn plan_first_step(&mut self) -> Result<()> {
        let mut rates = self.steps.stepper.rates().to_vec();
        if rates.is_empty() {
            rates.resize(self.live.numbers().len(), 0.0);
            self.system.rates(0.0, self.live.numbers(), &mut rates)?;
        }
        let clock = &mut self.steps.clock;
        let h = FIRST_STEP * self.scene.dynamics.length_scale() / max_speed(&rates, &self.system);
        clock.h = if h.is_finite() { h } else { clock.t_end.max(f64::MIN_POSITIVE) };
        Ok(())
    }

    /// Shows the start to the observers and merges what is together there; or goes on from the
    /// pause of the options.
    ///
    /// **Errors** the pause of another run.
    pub(super) fn begin(&mut self) -> Result<()> {
        if let Some(pause) = self.options.resume {
            return self.resume(pause);
        }
        self.observe(0.0);
        self.coalesce(0.0)
    }

    /// At most so many attempted steps; how the run ended, when it has. Turns change no number of a run.
    ///
    /// **Errors** what a system says of itself.
    pub fn go(&mut self, steps: u64) -> Result<Option<&Outcome>> {
        let shape = self.live.clone();
        in_a_row(&shape, || -> Result<()> {
            let mut left = steps;
            while self.goes_on() && left > 0 {
                left -= 1;
                match self.steps.attempt(&mut self.system, self.live.numbers(), self.end.numbers_mut())? {
                    Some((h, displacement)) => self.accept(h, displacement)?,
                    None => self.name_token(),
                }
            }
            Ok(())
        })?;
        Ok(self.steps.clock.outcome.as_ref())
    }

    /// Whether to try another step.
    fn goes_on(&mut self) -> bool {
        let Self { steps: Steps { clock, rule, stepper }, options, live, at_rest, scene, .. } = self;
        let t = clock.now();
        clock.goes_on(rule, self.cancel, || {
            stepper.order()?;
            let rest = (AT_REST * options.rtol * scene.dynamics.length_scale()).max(2.0 * FLOOR);
            if options.stop_at_one_cluster && is_within(live, options.merge_radius) {
                return Some(Outcome::OneCluster { t });
            }
            let together = live.n() == 1 || !scene.dynamics.facts().common_field;
            if scene.one_stays(live) && together && is_within(live, rest) {
                return Some(Outcome::Reached);
            }
            at_rest.map(|residual| Outcome::Stationary { t, residual })
        })
    }

    /// Names the token of a number that is not finite: the first initial one of its row.
    fn name_token(&mut self) {
        let coordinates = self.live.coordinates().len();
        if let Some(Outcome::NonFinite { token, .. }) = &mut self.steps.clock.outcome {
            let index = *token;
            let row = if index < coordinates { index / self.live.d() } else { (index - coordinates) / self.live.space().own() };
            *token = self.scene.labels.iter().position(|&l| l == row).unwrap_or(0);
        }
    }

    /// Takes a step: events, samples within it, the new state.
    fn accept(&mut self, h: f64, displacement: f64) -> Result<()> {
        let implicit = self.steps.stepper.is_implicit();
        self.steps.clock.stats.implicit += u64::from(implicit);
        let theta = self.locate(h);
        self.sample(h, theta)?;
        self.advance(h, theta)?;
        let t = self.t();
        self.coalesce(t)?;
        self.observe(t);
        let Self { system, steps: Steps { clock, stepper, .. }, live, .. } = self;
        stepper.reconsider(system, t, live.numbers(), clock.h, displacement)?;
        let watched = stepper.order().is_some() && !stepper.is_implicit() && !stepper.rates().is_empty();
        if watched && self.rest.is_due(h, clock.remaining(), displacement) {
            self.at_rest = self.rest.examine(self.scene.dynamics, live, stepper.rates(), self.options.rtol);
            clock.stats.evaluations += self.rest.evaluations();
        }
        self.keep();
        Ok(())
    }

    /// The steps start anew at the present state.
    fn restart(&mut self) -> Result<()> {
        let Self { system, steps: Steps { clock, stepper, .. }, live, .. } = self;
        system.latest = clock.next_jump().next_down();
        stepper.restart(system, clock.now(), live.numbers())
    }

    /// Puts the tokens at the share `theta` of the step into `x`.
    fn interpolate(&mut self, theta: f64, x: &mut Tokens) -> Result<()> {
        let Self { system, steps, live, end, .. } = self;
        let step = Segment { t: steps.clock.now(), start: live.numbers(), end: end.numbers() };
        steps.stepper.interpolate(system, step, theta, x.numbers_mut())
    }

    /// The share of the step of length `h` that is used: up to the first merge or stop; records the events until then.
    fn locate(&mut self, h: f64) -> f64 {
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
        let (clock, mut theta) = (&mut self.steps.clock, 1.0f64);
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
        if !self.steps.stepper.is_dense() {
            return 1.0;
        }
        let mut x = self.live.clone();
        let value = |theta: f64| {
            if self.interpolate(theta, &mut x).is_err() {
                return f64::NAN;
            }
            match (event, &self.merging) {
                (Some(k), _) => self.options.events[k].0.inside(&x),
                (None, Some(merging)) => merging.inside(&x),
                (None, None) => -1.0,
            }
        };
        bracketed_root(value, 0.0, 1.0, precision).unwrap_or(1.0)
    }

    /// Samples the observers whose times lie inside the step, up to its used end.
    fn sample(&mut self, h: f64, theta: f64) -> Result<()> {
        if !self.steps.stepper.is_dense() {
            return Ok(());
        }
        let clock = &self.steps.clock;
        let (start, now) = (clock.t, clock.now());
        let end = if theta < 1.0 { (start + Dd::from(theta * h)).to_f64() } else { clock.after(h).to_f64() };
        for k in 0..self.observers.len() {
            while let Some(time) = self.observers[k].next_time().filter(|s| *s <= end) {
                let at = ((Dd::from(time) - start).to_f64() / h).clamp(0.0, theta);
                let mut x = self.live.clone();
                self.interpolate(at, &mut x)?;
                self.observers[k].observe(&self.scene.frame(time.max(now), &x));
            }
        }
        Ok(())
    }

    /// Shows the present state to observers of every step, and to those that are due by now and were not served inside the step.
    fn observe(&mut self, t: f64) {
        let by = if self.steps.stepper.is_dense() { t } else { t * (1.0 + ROUNDED) };
        for observer in self.observers.iter_mut() {
            let due = observer.next_time().is_some_and(|s| s <= by);
            if due || observer.every_step() {
                observer.observe(&self.scene.frame(t, &self.live));
            }
        }
    }

    /// Keeps the run as it is at the end of a step.
    fn keep(&self) {
        let Steps { clock, stepper, .. } = &self.steps;
        let Some(keeper) = self.options.keeper.filter(|k| k.due() && clock.outcome.is_none() && self.at_rest.is_none()) else { return };
        let mut pause = Pause::of(&self.live, &self.scene.labels, &self.merges, &self.hits);
        clock.keep(stepper.evaluations(), &mut pause);
        pause.events = bits(&self.event_values);
        pause.rest = self.rest.memory();
        pause.stepper = bits(&stepper.memory());
        pause.observers = self.observers.iter().map(|o| o.memory()).collect();
        keeper.keep(&pause);
    }

    /// Goes on from a pause.
    fn resume(&mut self, pause: &Pause) -> Result<()> {
        self.live = pause.tokens(&self.live)?;
        self.end = self.live.clone();
        self.system.replace(&self.live);
        (self.scene.labels, self.merges, self.hits) = (pause.labels.clone(), pause.merges(), pause.hits());
        (self.event_values, self.rest) = (numbers(&pause.events), Rest::recall(pause.rest));
        let Steps { clock, stepper, .. } = &mut self.steps;
        // The jumps before the pause are behind.
        self.system.latest = f64::INFINITY;
        stepper.recall(&numbers(&pause.stepper), &mut self.system, pause.time(), self.live.numbers())?;
        clock.resume(pause, stepper.evaluations());
        self.system.latest = clock.next_jump().next_down();
        self.observers.iter_mut().zip(&pause.observers).for_each(|(o, memory)| o.recall(memory));
        Ok(())
    }

    /// Goes to the share `theta` of the step.
    fn advance(&mut self, h: f64, theta: f64) -> Result<()> {
        if theta < 1.0 {
            let mut x = self.live.clone();
            self.interpolate(theta, &mut x)?;
            self.live = x;
            self.steps.clock.advance(theta * h, false);
            // The step was cut: events that had happened by its full end have not happened yet.
            let values = self.options.events.iter().zip(&self.event_values);
            self.event_values = values.map(|((e, _), v)| if *v >= 0.0 { e.value(&self.live) } else { *v }).collect();
            return self.restart();
        }
        std::mem::swap(&mut self.live, &mut self.end);
        let jumped = self.steps.clock.advance(h, true);
        let Self { system, steps: Steps { clock, stepper, .. }, live, .. } = self;
        stepper.accept(system, clock.now(), live.numbers())?;
        if jumped { self.restart() } else { Ok(()) }
    }

    /// Tokens within the merge radius become one, and so do clusters that have come within it by that.
    fn coalesce(&mut self, t: f64) -> Result<()> {
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
        if !merged {
            return Ok(());
        }
        self.end = self.live.clone();
        self.system.replace(&self.live);
        self.restart()
    }

    /// The time reached.
    pub fn t(&self) -> f64 {
        self.steps.clock.now()
    }

    /// The surviving tokens with their summed masses.
    pub fn tokens(&self) -> &Tokens {
        &self.live
    }

    /// For every initial token, the index of its survivor.
    pub fn labels(&self) -> &[usize] {
        &self.scene.labels
    }

    /// Work done.
    pub fn stats(&self) -> Stats {
        let stats = self.steps.clock.stats;
        Stats { evaluations: stats.evaluations + self.steps.stepper.evaluations(), ..stats }
    }

    /// The solution, of a run that was left as interrupted; shows observers the samples to come of a
    /// state that will not change.
    pub fn finish(self) -> Solution {
        let (now, stats) = (self.t(), self.stats());
        let Steps { clock, stepper, .. } = self.steps;
        let outcome = clock.outcome.unwrap_or(Outcome::Interrupted { t: now });
        let stays = stepper.order().is_some() && outcome.lasts();
        let t = if stays { clock.t_end } else { now };
        if stays || (matches!(outcome, Outcome::OneCluster { .. }) && self.live.n() == 1 && self.scene.one_stays(&self.live)) {
            for observer in self.observers.iter_mut() {
                while let Some(time) = observer.next_time().filter(|s| *s <= clock.t_end) {
                    observer.observe(&self.scene.frame(time, &self.live));
                }
            }
        }
        let merging_ignored = self.options.merge_radius > 0.0 && !self.scene.dynamics.facts().common_field;
        let labels = self.scene.labels;
        Solution { outcome, t, clusters: self.live, labels, merges: self.merges, hits: self.hits, stats, merging_ignored }
    }
}

/// Whether all tokens are within a geodesic radius of the first.
fn is_within(x: &Tokens, radius: f64) -> bool {
    let chord = 2.0 * (0.5 * radius).sin();
    x.n() == 1 || (chord > 0.0 && (1..x.n()).all(|i| chord2(x.row(0), x.row(i)) <= chord * chord))
}
