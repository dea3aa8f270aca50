//! Integration of systems of ordinary differential equations with adaptive steps.

use super::block_norms::{blocks, max_block_norm};
use super::dop853::DOP853;
use super::explicit::RungeKutta;
use super::outcome::{Outcome, Stats};
use super::step_control::{ErrorControl, StepController, StepVerdict};
use super::stepper::{StepAttempt, Stepper};
use super::stiff_switch::AutoSwitch;
pub use super::system::OdeSystem;
use super::tableau::Tableau;
use crate::error::{Error, Result};
use crate::num::dd::Dd;

/// Options of [`integrate`].
#[derive(Clone, Copy, Debug)]
pub struct OdeOptions {
    /// The method.
    pub tableau: &'static Tableau,
    /// Allowed error of a step in a block, relative to the norm of the block ...
    pub rtol: f64,
    /// ... plus this absolute error.
    pub atol: f64,
    /// Length of the first step; `None`: a hundredth of the time in which the rates would change
    /// the state by its own size.
    pub first_step: Option<f64>,
    /// Largest length of a step.
    pub max_step: f64,
    /// Largest number of attempted steps.
    pub max_steps: u64,
}

impl OdeOptions {
    /// DOP853 with these tolerances, steps of any length, at most a million of them.
    pub fn new(rtol: f64, atol: f64) -> Self {
        Self {
            tableau: &DOP853,
            rtol,
            atol,
            first_step: None,
            max_step: f64::INFINITY,
            max_steps: 1_000_000,
        }
    }
}

/// What to do after a step that passed the error test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepAction {
    /// Accept the step and continue.
    Continue,
    /// Accept the step and stop: [`Outcome::Interrupted`].
    Stop,
    /// Reject the step and stop at its start, [`Outcome::UnderResolved`]: the caller refines the
    /// system and continues from there.
    Reject,
}

/// A step that passed the error test.
pub struct OdeStep<'s> {
    stepper: &'s mut dyn Stepper,
    system: &'s mut dyn OdeSystem,
    /// Time at the start of the step.
    pub t: f64,
    /// Length of the step.
    pub h: f64,
    /// Time at the end of the step; exactly the end time for the last step.
    pub t_end: f64,
    /// State at the start of the step.
    pub start: &'s [f64],
    /// State at the end of the step.
    pub end: &'s [f64],
}

impl OdeStep<'_> {
    /// Writes the state at `t + theta h`, `0 <= theta <= 1`, by the dense output of the method
    /// (order 7 for DOP853). **Cost** three evaluations of the rates, once per step. **Errors**
    /// those of the rates.
    pub fn interpolate(&mut self, theta: f64, out: &mut [f64]) -> Result<()> {
        let step = StepAttempt { t: self.t, start: self.start, end: self.end };
        self.stepper.interpolate(self.system, step, theta, out)
    }
}

/// The result of an integration.
#[derive(Clone, Debug)]
pub struct OdeSolution {
    /// The time to which the state belongs.
    pub t: f64,
    /// The outcome: [`Outcome::Reached`]; `Interrupted` or `UnderResolved` as requested by
    /// [`StepAction`]; or `MaxSteps`, `StepTooSmall`, `NonFinite`.
    pub outcome: Outcome,
    /// Length of the next planned step, as the first step of a continuation.
    pub next_step: f64,
    /// Work done.
    pub stats: Stats,
}

impl OdeSolution {
    /// The work done. **Errors** any outcome other than [`Outcome::Reached`].
    pub fn reached(self) -> Result<Stats> {
        match self.outcome {
            Outcome::Reached => Ok(self.stats),
            other => Err(Error::Numerical { what: format!("the integrator stopped: {other}") }),
        }
    }
}

/// Integrates a system from `t0` to `t1 >= t0`. `y` holds the state at the start and is overwritten
/// by the state reached. `on_step` sees every step that passed the error test and decides how to
/// continue.
///
/// **Accuracy** the estimated error of a step is at most `rtol |y| + atol` in every block. **Cost**
/// 12 evaluations of the rates per step of DOP853; no copy of the state except those of the stages.
/// **Errors** those of the rates, a NaN time.
///
/// ```
/// use metastable::flow::{OdeOptions, OdeStep, OdeSystem, StepAction, integrate};
/// struct Oscillator;
/// impl OdeSystem for Oscillator {
///     fn rates(&mut self, _: f64, y: &[f64], dy: &mut [f64]) -> metastable::error::Result<()> {
///         (dy[0], dy[1]) = (y[1], -y[0]);
///         Ok(())
///     }
/// }
/// let (mut y, options) = ([0.0, 1.0], OdeOptions::new(1e-12, 1e-12));
/// let go_on = |_: &mut OdeStep| Ok(StepAction::Continue);
/// integrate(&mut Oscillator, 0.0, &mut y, 1.0, &options, go_on)?.reached()?;
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
) -> Result<OdeSolution> {
    if t0.is_nan() || t1.is_nan() {
        return Err(Error::parameter("t", t1, "a time"));
    }
    let mut stepper = RungeKutta::new(options.tableau, Some((options.rtol, options.atol)));
    stepper.restart(system, t0, y)?;
    let mut controller = StepController::new(
        t1,
        options.first_step.unwrap_or_else(|| stepper.first_step(system, y, t1 - t0)),
        &[],
    );
    controller.t = Dd::from(t0);
    let mut steps = ControlledStepper {
        controller,
        error_control: ErrorControl { max_steps: options.max_steps, ..ErrorControl::NONE },
        stepper: AutoSwitch::explicit_only(Box::new(stepper)),
    };
    let mut end = vec![0.0; y.len()];
    while steps.controller.should_continue(&steps.error_control, None, || None) {
        steps.controller.h = steps.controller.h.min(options.max_step);
        let Some((h, _)) = steps.attempt(system, y, &mut end)? else { continue };
        let ControlledStepper { controller, stepper, .. } = &mut steps;
        let (t, t_end) = (controller.now(), controller.end_of_step(h).to_f64());
        let mut step =
            OdeStep { stepper: &mut **stepper, system, t, h, t_end, start: y, end: &end };
        match on_step(&mut step)? {
            StepAction::Reject => {
                controller.outcome = Some(Outcome::UnderResolved { t });
                break;
            }
            StepAction::Stop if t_end < t1 => {
                controller.outcome = Some(Outcome::Interrupted { t: t_end })
            }
            _ => {}
        }
        y.copy_from_slice(&end);
        controller.advance(h, true);
        stepper.accept(system, t_end, y)?;
    }
    let ControlledStepper { mut controller, stepper, .. } = steps;
    controller.stats.evaluations = stepper.evaluations();
    let (t, outcome) = (controller.now(), controller.outcome.unwrap_or(Outcome::Reached));
    Ok(OdeSolution { t, outcome, next_step: controller.h, stats: controller.stats })
}

/// A stepper with its step controller, used by the loops for tokens and for any system.
pub(super) struct ControlledStepper<'a> {
    pub controller: StepController,
    pub error_control: ErrorControl,
    pub stepper: AutoSwitch<'a>,
}

impl ControlledStepper<'_> {
    /// Attempts the next step from `y`. Returns its length and the largest displacement of a block
    /// if the step is accepted. Otherwise a shorter step is planned, or the outcome is set;
    /// `NonFinite` then holds the index of a number instead of a token.
    pub fn attempt(
        &mut self,
        system: &mut dyn OdeSystem,
        y: &[f64],
        end: &mut [f64],
    ) -> Result<Option<(f64, f64)>> {
        let Self { controller, error_control, stepper } = self;
        let (t, h) = (controller.now(), controller.next_step());
        let error = stepper.step(system, t, y, h, end)?;
        let displacement = stepper.displacement(system, y, end);
        let verdict = controller.judge(error_control, stepper.order(), h, error, displacement);
        if verdict == StepVerdict::Accepted {
            return Ok(Some((h, displacement)));
        }
        // Tokens have length 1; other states are measured by their largest number.
        let size = if error_control.width.is_some() {
            1.0
        } else {
            y.iter().fold(0.0f64, |m, v| m.max(v.abs()))
        };
        let speed = if stepper.rates().is_empty() {
            f64::INFINITY
        } else {
            max_speed(stepper.rates(), system) / size
        };
        let Some(mut failure) = controller.failure(verdict, h, speed) else { return Ok(None) };
        if stepper.fall_back(system, t, y)? {
            controller.reset_nonfinite_steps();
            return Ok(None);
        }
        if let Outcome::NonFinite { token, .. } = &mut failure {
            *token = stepper.first_nonfinite(end).unwrap_or(0);
        }
        controller.outcome = Some(failure);
        Ok(None)
    }
}

/// Largest norm of a block of rates.
pub(super) fn max_speed(rates: &[f64], system: &dyn OdeSystem) -> f64 {
    max_block_norm(rates.len(), blocks(system, rates.len()), |c| rates[c])
}
