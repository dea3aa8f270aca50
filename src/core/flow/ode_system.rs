//! Integration of systems of ordinary differential equations with adaptive steps.

use super::clock::{Clock, Judgement, StepRule};
use super::dop853::DOP853;
use super::explicit::RungeKutta;
use super::mover::Mover;
use super::outcome::{Outcome, Stats};
use super::rows::{blocks, largest_row};
use super::stepper::{Segment, Stepper};
pub use super::system::OdeSystem;
use super::tableau::Tableau;
use crate::error::{Error, Result};
use crate::num::dd::Dd;

/// Options of [`integrate`].
#[derive(Clone, Copy, Debug)]
pub struct OdeOptions {
    /// The method.
    pub tableau: &'static Tableau,
    /// Error of a step that is allowed in a block, relative to the norm of the block ...
    pub rtol: f64,
    /// ... and added to that.
    pub atol: f64,
    /// First step to try; `None`: a hundredth of the time in which the rates would change the state
    /// by its own size.
    pub first_step: Option<f64>,
    /// Longest step.
    pub max_step: f64,
    /// Budget of attempted steps.
    pub max_steps: u64,
}

impl OdeOptions {
    /// Dop853 with these tolerances, steps of any length, at most a million of them.
    pub fn new(rtol: f64, atol: f64) -> Self {
        Self { tableau: &DOP853, rtol, atol, first_step: None, max_step: f64::INFINITY, max_steps: 1_000_000 }
    }
}

/// What to do after a step that passed the error test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepAction {
    /// Take it and go on.
    Continue,
    /// Take it and stop: [`Outcome::Interrupted`].
    Stop,
    /// Undo it and stop where it started, [`Outcome::UnderResolved`]: the caller refines the system
    /// and integrates on from there.
    Reject,
}

/// A step that passed the error test.
pub struct OdeStep<'s> {
    stepper: &'s mut dyn Stepper,
    system: &'s mut dyn OdeSystem,
    /// Time where it starts.
    pub t: f64,
    /// Its length.
    pub h: f64,
    /// Time where it ends, exactly the end time for the last one.
    pub t_end: f64,
    /// The state where it starts.
    pub start: &'s [f64],
    /// The state where it ends.
    pub end: &'s [f64],
}

impl OdeStep<'_> {
    /// Writes the state at `t + theta h`, `0 <= theta <= 1`, by the dense output of the method
    /// (order 7 for Dop853). **Cost** three more rates, once per step. **Errors** those of the rates.
    pub fn interpolate(&mut self, theta: f64, out: &mut [f64]) -> Result<()> {
        let step = Segment { t: self.t, start: self.start, end: self.end };
        self.stepper.interpolate(self.system, step, theta, out)
    }
}

/// Where and how an integration ended.
#[derive(Clone, Debug)]
pub struct Integrated {
    /// The time to which the state belongs.
    pub t: f64,
    /// How it ended: [`Outcome::Reached`], `Interrupted` and `UnderResolved` as asked for by
    /// [`StepAction`], or `MaxSteps`, `StepTooSmall`, `NonFinite`.
    pub outcome: Outcome,
    /// The step planned next: what to try first when going on.
    pub next_step: f64,
    /// Work done.
    pub stats: Stats,
}

impl Integrated {
    /// The work done. **Errors** an end before the end time that nobody asked for.
    pub fn reached(self) -> Result<Stats> {
        match self.outcome {
            Outcome::Reached => Ok(self.stats),
            other => Err(Error::Numerical { what: format!("the integrator stopped: {other}") }),
        }
    }
}

/// Integrates a system from `t0` to `t1 >= t0`; `y` is the state at the start and becomes the one
/// that was reached. `on_step` sees every step that passed the error test and says what to do.
///
/// **Accuracy** the error of a step is at most `rtol |y| + atol` in every block, by the estimate of
/// the method. **Cost** 12 rates per step of Dop853, no copy of the state but those of the stages.
/// **Errors** those of the rates, a time that is not a number.
///
/// ```
/// use metastable::flow::{OdeOptions, OdeSystem, StepAction, integrate};
/// struct Oscillator;
/// impl OdeSystem for Oscillator {
///     fn rates(&mut self, _: f64, y: &[f64], dy: &mut [f64]) -> metastable::error::Result<()> {
///         (dy[0], dy[1]) = (y[1], -y[0]);
///         Ok(())
///     }
/// }
/// let (mut y, options) = ([0.0, 1.0], OdeOptions::new(1e-12, 1e-12));
/// integrate(&mut Oscillator, 0.0, &mut y, 1.0, &options, |_| Ok(StepAction::Continue))?.reached()?;
/// assert!((y[0] - 1f64.sin()).abs() < 1e-11);
/// # Ok::<(), metastable::error::Error>(())
/// ```
pub fn integrate(
    system: &mut dyn OdeSystem,
    t0: f64,
    y: &mut [f64],
    t1: f64,
    options: &OdeOptions,
    mut on_step: impl FnMut(&mut OdeStep) -> Result<StepAction>,
) -> Result<Integrated> {
    if t0.is_nan() || t1.is_nan() {
        return Err(Error::parameter("t", t1, "a time"));
    }
    let mut stepper = RungeKutta::new(options.tableau, Some((options.rtol, options.atol)));
    stepper.restart(system, t0, y)?;
    let mut clock = Clock::new(t1, options.first_step.unwrap_or_else(|| stepper.first_step(system, y, t1 - t0)), &[]);
    clock.t = Dd::from(t0);
    let mut steps =
        Steps { clock, rule: StepRule { max_steps: options.max_steps, ..StepRule::FREE }, stepper: Mover::only(Box::new(stepper)) };
    let mut end = vec![0.0; y.len()];
    while steps.clock.goes_on(&steps.rule, None, || None) {
        steps.clock.h = steps.clock.h.min(options.max_step);
        let Some((h, _)) = steps.attempt(system, y, &mut end)? else { continue };
        let Steps { clock, stepper, .. } = &mut steps;
        let (t, t_end) = (clock.now(), clock.after(h).to_f64());
        let mut step = OdeStep { stepper: &mut **stepper, system, t, h, t_end, start: y, end: &end };
        match on_step(&mut step)? {
            StepAction::Reject => {
                clock.outcome = Some(Outcome::UnderResolved { t });
                break;
            }
            StepAction::Stop if t_end < t1 => clock.outcome = Some(Outcome::Interrupted { t: t_end }),
            _ => {}
        }
        y.copy_from_slice(&end);
        clock.advance(h, true);
        stepper.accept(system, t_end, y)?;
    }
    let Steps { mut clock, stepper, .. } = steps;
    clock.stats.evaluations = stepper.evaluations();
    let (t, outcome) = (clock.now(), clock.outcome.unwrap_or(Outcome::Reached));
    Ok(Integrated { t, outcome, next_step: clock.h, stats: clock.stats })
}

/// A stepper and the clock by which its steps are judged: what the loops over time of densities and
/// of tokens share.
pub(super) struct Steps<'a> {
    pub clock: Clock,
    pub rule: StepRule,
    pub stepper: Mover<'a>,
}

impl Steps<'_> {
    /// Tries the next step from `y`. Its length and the largest displacement of a block if it is
    /// good; otherwise a shorter one is planned, or the outcome is set: `NonFinite` then names the
    /// index of a number.
    pub fn attempt(&mut self, system: &mut dyn OdeSystem, y: &[f64], end: &mut [f64]) -> Result<Option<(f64, f64)>> {
        let Self { clock, rule, stepper } = self;
        let (t, h) = (clock.now(), clock.step());
        let error = stepper.step(system, t, y, h, end)?;
        let displacement = stepper.displacement(system, y, end);
        let verdict = clock.judge(rule, stepper.order(), h, error, displacement);
        if verdict == Judgement::Good {
            return Ok(Some((h, displacement)));
        }
        // Tokens have length 1; other states are measured by their largest number.
        let size = if rule.width.is_some() { 1.0 } else { y.iter().fold(0.0f64, |m, v| m.max(v.abs())) };
        let speed = if stepper.rates().is_empty() { f64::INFINITY } else { max_speed(stepper.rates(), system) / size };
        let Some(mut failure) = clock.failure(verdict, h, speed) else { return Ok(None) };
        if stepper.give_up(system, t, y)? {
            clock.retry();
            return Ok(None);
        }
        if let Outcome::NonFinite { token, .. } = &mut failure {
            *token = stepper.first_nonfinite(end).unwrap_or(0);
        }
        clock.outcome = Some(failure);
        Ok(None)
    }
}

/// Largest norm of a block of rates.
pub(super) fn max_speed(rates: &[f64], system: &dyn OdeSystem) -> f64 {
    largest_row(rates.len(), blocks(system, rates.len()), |c| rates[c])
}
