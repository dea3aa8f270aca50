//! Stochastic differential equations: tokens with noise, by Strang steps (half the drift, the
//! noise, half the drift) or Lie steps (the drift, then the noise).

use super::dopri5::DOPRI5;
use super::explicit::RungeKutta;
use super::integrate::{ControlledStepper, OdeSystem};
use super::observable::Observer;
use super::options::Options;
use super::outcome::Outcome;
use super::run::Run;
use super::step_control::{ErrorControl, StepController};
use super::stepper::Stepper;
use super::stiff_switch::AutoSwitch;
use crate::attention::{Dynamics, noise::Noise};
use crate::error::{Error, Result, format_number};
use crate::num::brownian::Brownian;
use crate::sphere::Tokens;
use std::sync::atomic::AtomicBool;

/// How a step is split into drift and noise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Splitting {
    /// Half the drift, the noise, half the drift.
    #[default]
    Strang,
    /// The drift, then the noise; weak order 1.
    Lie,
}

/// Noise and time step of [`solve_sde`].
#[derive(Clone, Copy)]
pub struct SdeOptions<'a> {
    /// The noise on the tokens.
    pub noise: &'a dyn Noise,
    /// Length of a step; the last step may be shorter.
    pub step: f64,
    /// Seed of the Brownian motion. Half the step length refines the same Brownian path.
    pub seed: u64,
    /// The splitting of a step.
    pub splitting: Splitting,
    /// The run stops when this becomes true; read before every step.
    pub cancel: Option<&'a AtomicBool>,
}

/// Largest number of steps: with more of them time would be lost in its rounding.
const MAX_STEPS: f64 = 1e9;

/// Relative accuracy of velocities in runs with noise. The law of the tokens has an error of the
/// square of the step, and `1e18` samples would be needed to resolve this accuracy.
pub const SDE_VELOCITY_ACCURACY: f64 = 1e-9;

/// Relative tolerance for calling a step a full step: the end time is rounded.
const FULL_STEP_TOLERANCE: f64 = 1e-5;

/// Integrates `dynamics` with noise over `[0, t_end]`. Observers see the state at the end of the
/// step that reaches their sample time.
///
/// **Accuracy** weak order 2 in the step with [`Isotropic`](crate::attention::noise::Isotropic)
/// noise and Strang steps (each half drift is one step of order 5); strong order 1/2, and 1 with
/// [`CircleNoise`](crate::attention::noise::CircleNoise). The steps h, h/2, h/4, ... of one seed
/// follow one Brownian motion. **Cost** 12 velocities (Lie: 6) and 2 n d normal numbers per step.
/// **Errors** a step length that is not positive or that needs more than 1e9 steps, a bad `t_end`,
/// tokens of another space, a kernel that does not support the dynamics.
pub fn solve_sde(
    dynamics: &Dynamics,
    start: &Tokens,
    t_end: f64,
    sde: &SdeOptions,
    observers: &mut [&mut dyn Observer],
) -> Result<(Tokens, Outcome)> {
    let options = SdeOptions::run_options();
    let mut run = start_sde(dynamics, start, t_end, sde, &options, observers)?;
    run.advance(u64::MAX)?;
    let end = run.finish();
    Ok((end.clusters, end.outcome))
}

impl SdeOptions<'_> {
    /// The options of a run with noise: tokens never merge.
    pub fn run_options() -> Options<'static> {
        Options { merge_radius: 0.0, ..Options::default() }
    }
}

/// Starts the run of [`solve_sde`] without advancing it; `options` are
/// [`SdeOptions::run_options`].
///
/// **Errors** as [`solve_sde`].
pub fn start_sde<'a, 'o, 'p>(
    dynamics: &'a Dynamics,
    start: &Tokens,
    t_end: f64,
    sde: &SdeOptions<'a>,
    options: &'a Options<'a>,
    observers: &'o mut [&'p mut dyn Observer],
) -> Result<Run<'a, 'o, 'p>> {
    check_sde(dynamics, start, t_end, sde)?;
    let drift = RungeKutta::new(&DOPRI5, None);
    let motion = Brownian::new(sde.seed, sde.step, start.coordinates().len());
    let (step, splitting) = (sde.step, sde.splitting);
    let strang = SplittingStepper {
        drift,
        noise: sde.noise,
        motion,
        step,
        splitting,
        steps_done: 0,
        x: start.clone(),
    };
    let steps = ControlledStepper {
        controller: StepController::new(t_end, sde.step, &[]),
        error_control: ErrorControl::NONE,
        stepper: AutoSwitch::explicit_only(Box::new(strang)),
    };
    let mut run = Run::new(dynamics, start, steps, options, sde.cancel, observers)?;
    run.start_or_resume()?;
    Ok(run)
}

/// Checks the arguments. **Errors** as [`solve_sde`].
pub(super) fn check_sde(
    dynamics: &Dynamics,
    start: &Tokens,
    t_end: f64,
    sde: &SdeOptions,
) -> Result<()> {
    if !(t_end.is_finite() && t_end >= 0.0) {
        return Err(Error::parameter("t_end", t_end, "a finite time >= 0"));
    }
    if !(sde.step > 0.0 && t_end / sde.step <= MAX_STEPS) {
        return Err(Error::parameter(
            "step",
            format_number(sde.step),
            format!("a positive step of at least {:e} for this end time", t_end / MAX_STEPS),
        ));
    }
    dynamics.kernel(start).map(|_| ())
}

/// The normal numbers of step k, whose length is `fraction` times that of a full step: the last
/// step may be shorter. A fraction that differs from 1 by rounding only counts as 1.
pub(super) fn brownian_increment(motion: &mut Brownian, k: u64, fraction: f64) -> &[f64] {
    if fraction < 1.0 - FULL_STEP_TOLERANCE {
        motion.partial_increment(k, fraction)
    } else {
        motion.step(k)
    }
}

/// A Strang or Lie step.
struct SplittingStepper<'a> {
    drift: RungeKutta,
    noise: &'a dyn Noise,
    motion: Brownian,
    /// Length of a full step.
    step: f64,
    splitting: Splitting,
    /// Number of steps done.
    steps_done: u64,
    /// Tokens to which the noise is applied.
    x: Tokens,
}

impl Stepper for SplittingStepper<'_> {
    fn step(
        &mut self,
        system: &mut dyn OdeSystem,
        t: f64,
        y: &[f64],
        h: f64,
        end: &mut [f64],
    ) -> Result<f64> {
        end.copy_from_slice(y);
        let first = if self.splitting == Splitting::Lie { h } else { 0.5 * h };
        self.drift.step_unchecked(system, t, first, end)?;
        self.x.numbers_mut().copy_from_slice(end);
        self.noise.apply(
            &mut self.x,
            h,
            brownian_increment(&mut self.motion, self.steps_done, h / self.step),
        );
        end.copy_from_slice(self.x.numbers());
        if self.splitting == Splitting::Strang {
            self.drift.step_unchecked(system, t + 0.5 * h, 0.5 * h, end)?;
        }
        self.steps_done += 1;
        Ok(if end.iter().all(|v| v.is_finite()) { 0.0 } else { f64::NAN })
    }

    fn evaluations(&self) -> u64 {
        self.drift.evaluations
    }
}
