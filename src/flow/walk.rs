//! Paths with noise: Strang steps, half the drift, the noise, half the drift.

use super::clock::{Clock, StepRule};
use super::control::Options;
use super::dopri5::DOPRI5;
use super::explicit::Step;
use super::observable::Observer;
use super::outcome::Outcome;
use super::particles::Particles;
use super::run::Run;
use super::stepper::Stepper;
use crate::attention::{Dynamics, noise::Noise};
use crate::error::{Error, Result, show};
use crate::num::stream::Stream;
use crate::sphere::Tokens;
use std::sync::atomic::AtomicBool;

/// How a path is walked.
pub struct Walk<'a> {
    /// What shakes the tokens.
    pub noise: &'a dyn Noise,
    /// Length of a step; the last one is shorter.
    pub step: f64,
    /// Seed: step k draws from a stream of its own.
    pub seed: u64,
    /// Checked before every step.
    pub cancel: Option<&'a AtomicBool>,
}

/// The most steps: beyond, time is lost in its rounding.
const MOST: f64 = 1e9;

impl Walk<'_> {
    /// The options of a path with noise: its tokens never become one.
    pub fn options() -> Options<'static> {
        Options { merge_radius: 0.0, ..Options::default() }
    }
}

/// Walks `dynamics` with noise over `[0, t_end]`; observers see the state at the end of the step that reaches their times.
///
/// **Accuracy** weak order 2 in the step with [`Isotropic`](crate::attention::noise::Isotropic) noise (each half drift is one step of order 5); a path is
/// that of its seed and step, not of a Brownian motion that other steps share. **Cost** 12 velocities and n d normal numbers per step.
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
    if !(t_end.is_finite() && t_end >= 0.0) {
        return Err(Error::parameter("t-end", t_end, "a finite time >= 0"));
    }
    if !(walk.step > 0.0 && t_end / walk.step <= MOST) {
        return Err(Error::parameter("step", show(walk.step), format!("a positive step of at least {:e} for this end time", t_end / MOST)));
    }
    dynamics.kernel(start)?;
    let drift = Step::new(&DOPRI5, dynamics, 0.0, start);
    let strang = Strang { drift, noise: walk.noise, seed: walk.seed, done: 0, t: 0.0, x: start.clone() };
    let particles = Particles::new(dynamics, start, Box::new(strang), options, observers);
    Ok(Run::new(particles, Clock::new(t_end, walk.step, &[]), StepRule::FREE, walk.cancel))
}

/// Half the drift, the noise, half the drift.
struct Strang<'a> {
    drift: Step,
    noise: &'a dyn Noise,
    seed: u64,
    /// Steps done.
    done: u64,
    t: f64,
    x: Tokens,
}

impl Strang<'_> {
    /// One step of the drift.
    fn half(&mut self, dynamics: &Dynamics, t: f64, h: f64) {
        self.drift.restart(dynamics, t, &self.x);
        self.drift.attempt(dynamics, h);
        self.x.numbers_mut().copy_from_slice(self.drift.end());
    }
}

impl Stepper for Strang<'_> {
    fn order(&self) -> Option<u32> {
        None
    }

    fn restart(&mut self, _: &Dynamics, t: f64, x: &Tokens) {
        (self.t, self.x) = (t, x.clone());
    }

    fn attempt(&mut self, dynamics: &Dynamics, h: f64) -> f64 {
        self.half(dynamics, self.t, 0.5 * h);
        self.noise.shake(&mut self.x, h, &mut Stream::new(self.seed, &["noise", &self.done.to_string()]));
        self.half(dynamics, self.t + 0.5 * h, 0.5 * h);
        self.done += 1;
        if self.x.numbers().iter().all(|v| v.is_finite()) { 0.0 } else { f64::NAN }
    }

    fn end(&self) -> &[f64] {
        self.x.numbers()
    }

    fn velocity(&self) -> &[f64] {
        &[]
    }

    fn advance(&mut self, _: &Dynamics, t: f64, _: &Tokens) {
        self.t = t;
    }

    fn evaluations(&self) -> u64 {
        self.drift.evaluations()
    }

    /// The noise of a step is that of its number.
    fn memory(&self) -> Option<Vec<f64>> {
        Some(vec![self.done as f64])
    }

    fn recall(&mut self, memory: &[f64]) {
        self.done = memory.first().map_or(0, |d| *d as u64);
    }
}
