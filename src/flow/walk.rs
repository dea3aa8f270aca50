//! Paths with noise: Strang steps, half the drift, the noise, half the drift.

use super::dopri5::DOPRI5;
use super::observable::{Frame, Observer};
use super::outcome::Outcome;
use super::tableau::Step;
use crate::attention::{Dynamics, noise::Noise};
use crate::error::{Error, Result, show};
use crate::num::stream::Stream;
use crate::sphere::Tokens;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

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
    if !(t_end.is_finite() && t_end >= 0.0) {
        return Err(Error::parameter("t-end", t_end, "a finite time >= 0"));
    }
    if !(walk.step > 0.0 && t_end / walk.step <= MOST) {
        return Err(Error::parameter("step", show(walk.step), format!("a positive step of at least {:e} for this end time", t_end / MOST)));
    }
    dynamics.kernel(start)?;
    let count = (t_end / walk.step - 1e-9).ceil().max(0.0) as u64;
    let (mut x, labels, work) = (start.clone(), (0..start.n()).collect::<Vec<_>>(), RefCell::default());
    let mut drift = Step::new(&DOPRI5, dynamics, 0.0, &x);
    for k in 0..=count {
        let t = if k == count { t_end } else { k as f64 * walk.step };
        for observer in observers.iter_mut() {
            let due = |o: &dyn Observer| o.next_time().is_some_and(|s| s <= t * (1.0 + 1e-12));
            if due(*observer) || observer.every_step() {
                observer.observe(&Frame { t, tokens: &x, labels: &labels, dynamics, work: &work, merge_radius: 0.0 });
            }
        }
        if let Some(token) = x.numbers().iter().position(|v| !v.is_finite()) {
            return Ok((x, Outcome::NonFinite { t, token: (token / start.d()).min(start.n() - 1) }));
        }
        if walk.cancel.is_some_and(|c| c.load(Ordering::Relaxed)) {
            return Ok((x, Outcome::Interrupted { t }));
        }
        if k < count {
            let h = walk.step.min(t_end - t);
            half(&mut drift, dynamics, t, 0.5 * h, &mut x);
            walk.noise.shake(&mut x, h, &mut Stream::new(walk.seed, &["noise", &k.to_string()]));
            half(&mut drift, dynamics, t + 0.5 * h, 0.5 * h, &mut x);
        }
    }
    Ok((x, Outcome::Reached))
}

/// One step of the drift.
fn half(step: &mut Step, dynamics: &Dynamics, t: f64, h: f64, x: &mut Tokens) {
    step.restart(dynamics, t, x);
    step.attempt(dynamics, h);
    x.numbers_mut().copy_from_slice(&step.end);
}
