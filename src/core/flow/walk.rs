//! Paths with noise: Strang steps (half the drift, the noise, half the drift) or Lie steps (the drift, then the noise).

use super::clock::{Clock, StepRule};
use super::control::Options;
use super::dopri5::DOPRI5;
use super::explicit::RungeKutta;
use super::mover::Mover;
use super::observable::Observer;
use super::ode_system::{OdeSystem, Steps};
use super::outcome::Outcome;
use super::run::Run;
use super::stepper::Stepper;
use crate::attention::{Dynamics, noise::Noise};
use crate::error::{Error, Result, show};
use crate::num::brownian::Brownian;
use crate::sphere::Tokens;
use std::sync::atomic::AtomicBool;

/// How a step is made of drift and noise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Splitting {
    /// Half the drift, the noise, half the drift.
    #[default]
    Strang,
    /// The drift, then the noise: weak order 1.
    Lie,
}

/// How a path is walked.
#[derive(Clone, Copy)]
pub struct Walk<'a> {
    /// What shakes the tokens.
    pub noise: &'a dyn Noise,
    /// Length of a step; the last one is shorter.
    pub step: f64,
    /// Seed of the Brownian motion; half the step refines the same one.
    pub seed: u64,
    /// What a step is made of.
    pub splitting: Splitting,
    /// Checked before every step.
    pub cancel: Option<&'a AtomicBool>,
}

/// The most steps: beyond, time is lost in its rounding.
const MOST: f64 = 1e9;

/// The relative accuracy of velocities that paths with noise ask for: their law errs by the square of the step and is seen through samples, of which `1e18` would resolve this.
pub const WALK_ACCURACY: f64 = 1e-9;

/// Steps are whole to this share: the end time is rounded.
const WHOLE: f64 = 1e-5;

/// Walks `dynamics` with noise over `[0, t_end]`; observers see the state at the end of the step that reaches their times.
///
/// **Accuracy** weak order 2 in the step with [`Isotropic`](crate::attention::noise::Isotropic) noise and Strang steps (each half drift is one step of order 5); strong order 1/2, and 1 with
/// [`Turning`](crate::attention::noise::Turning): the steps h, h/2, h/4, ... of one seed follow one Brownian motion. **Cost** 12 velocities (Lie: 6) and 2 n d normal numbers per step.
/// **Errors** a step that is not positive or that needs more than 1e9 steps, a bad `t_end`, tokens of another space, an algorithm that refuses.
pub fn walk(
    dynamics: &Dynamics,
    start: &Tokens,
    t_end: f64,
    walk: &Walk,
    observers: &mut [&mut dyn Observer],
) -> Result<(Tokens, Outcome)> {
    let options = Walk::options();
    let mut run = begin_walk(dynamics, start, t_end, walk, &options, observers)?;
    run.go(u64::MAX)?;
    let end = run.finish();
    Ok((end.clusters, end.outcome))
}

impl Walk<'_> {
    /// The options of a path with noise: its tokens never become one.
    pub fn options() -> Options<'static> {
        Options { merge_radius: 0.0, ..Options::default() }
    }
}

/// The path of [`walk`], to go on in turns, with [`Walk::options`].
///
/// **Errors** as [`walk`].
pub fn begin_walk<'a, 'o, 'p>(
    dynamics: &'a Dynamics,
    start: &Tokens,
    t_end: f64,
    walk: &Walk<'a>,
    options: &'a Options<'a>,
    observers: &'o mut [&'p mut dyn Observer],
) -> Result<Run<'a, 'o, 'p>> {
    checked(dynamics, start, t_end, walk)?;
    let drift = RungeKutta::new(&DOPRI5, None);
    let motion = Brownian::new(walk.seed, walk.step, start.coordinates().len());
    let (step, splitting) = (walk.step, walk.splitting);
    let strang = Strang { drift, noise: walk.noise, motion, step, splitting, done: 0, x: start.clone() };
    let steps = Steps { clock: Clock::new(t_end, walk.step, &[]), rule: StepRule::FREE, stepper: Mover::only(Box::new(strang)) };
    let mut run = Run::new(dynamics, start, steps, options, walk.cancel, observers)?;
    run.begin()?;
    Ok(run)
}

/// **Errors** as [`walk`].
pub(super) fn checked(dynamics: &Dynamics, start: &Tokens, t_end: f64, walk: &Walk) -> Result<()> {
    if !(t_end.is_finite() && t_end >= 0.0) {
        return Err(Error::parameter("t-end", t_end, "a finite time >= 0"));
    }
    if !(walk.step > 0.0 && t_end / walk.step <= MOST) {
        return Err(Error::parameter("step", show(walk.step), format!("a positive step of at least {:e} for this end time", t_end / MOST)));
    }
    dynamics.kernel(start).map(|_| ())
}

/// The normal numbers of step k, of which only a share may be left: the last one may be shorter, what rounding took from it does not count.
pub(super) fn increment(motion: &mut Brownian, k: u64, share: f64) -> &[f64] {
    if share < 1.0 - WHOLE { motion.part(k, share) } else { motion.step(k) }
}

/// Half the drift, the noise, half the drift.
struct Strang<'a> {
    drift: RungeKutta,
    noise: &'a dyn Noise,
    motion: Brownian,
    /// Length of a whole step.
    step: f64,
    splitting: Splitting,
    /// Steps done.
    done: u64,
    /// What the noise moves.
    x: Tokens,
}

impl Stepper for Strang<'_> {
    fn step(&mut self, system: &mut dyn OdeSystem, t: f64, y: &[f64], h: f64, end: &mut [f64]) -> Result<f64> {
        end.copy_from_slice(y);
        let first = if self.splitting == Splitting::Lie { h } else { 0.5 * h };
        self.drift.pass(system, t, first, end)?;
        self.x.numbers_mut().copy_from_slice(end);
        self.noise.shake(&mut self.x, h, increment(&mut self.motion, self.done, h / self.step));
        end.copy_from_slice(self.x.numbers());
        if self.splitting == Splitting::Strang {
            self.drift.pass(system, t + 0.5 * h, 0.5 * h, end)?;
        }
        self.done += 1;
        Ok(if end.iter().all(|v| v.is_finite()) { 0.0 } else { f64::NAN })
    }

    fn evaluations(&self) -> u64 {
        self.drift.evaluations
    }
}
