//! The step controller: the time of a system, the test of its steps, and the length of the next
//! one.

use super::checkpoint::RunCheckpoint;
use super::outcome::{Outcome, Stats};
use crate::error::Result;
use crate::num::dd::Dd;
use std::sync::atomic::{AtomicBool, Ordering};

/// Smallest tolerance of a step: a smaller error estimate is rounding.
pub const ERROR_FLOOR: f64 = 8.0 * f64::EPSILON;

/// The first step moves the fastest token by this many kernel widths.
pub const FIRST_DISPLACEMENT: f64 = 0.01;

/// A run ends when more than this number of steps in a row are not finite.
pub const MAX_NONFINITE_STEPS: u32 = 8;

/// If less than this fraction of a step would remain, the last step is extended to the end time:
/// the time after 1e9 steps of one length is rounded by that much.
const MAX_STRETCH: f64 = 1e-6;

/// The time of a system and the length of its next step.
#[derive(Clone, Debug)]
pub struct StepController {
    /// The time reached, a double-double: small steps at large times are not lost.
    pub t: Dd,
    pub t_end: f64,
    /// Length of the planned step.
    pub h: f64,
    /// Times at which the dynamics jumps, ascending, then infinity; no step crosses one.
    jumps: Vec<f64>,
    /// Whether the last step was rejected.
    last_rejected: bool,
    /// Number of steps in a row that were not finite.
    nonfinite_steps: u32,
    pub stats: Stats,
    /// Why the integration has stopped, once it has.
    pub outcome: Option<Outcome>,
}

/// The tolerance of a step, for methods that estimate their error.
#[derive(Clone, Copy, Debug)]
pub struct ErrorControl {
    /// Local error per unit displacement.
    pub rtol: f64,
    /// Unit of the error: the length over which attention weights change. `None`: errors are given
    /// relative to the allowed error.
    pub width: Option<f64>,
    /// Budget of attempted steps.
    pub max_steps: u64,
}

impl ErrorControl {
    /// For steps of given length, or for errors that are relative to the allowed error.
    pub const NONE: Self = Self { rtol: 1.0, width: None, max_steps: u64::MAX };

    /// The tolerance of a step that moves the fastest token by `displacement`.
    fn tolerance(&self, displacement: f64) -> f64 {
        self.width.map_or(1.0, |width| (self.rtol * width * displacement.min(1.0)).max(ERROR_FLOOR))
    }
}

/// The result of the error test of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum StepVerdict {
    Accepted,
    /// The error is too large: a shorter step is planned.
    Rejected,
    /// The end of the step is not finite: a step of a tenth of the length is planned.
    NonFinite,
}

impl StepController {
    /// A controller at t = 0 whose first step has length `h`.
    pub fn new(t_end: f64, h: f64, jumps: &[f64]) -> Self {
        let jumps = jumps.iter().copied().filter(|t| *t > 0.0).chain([f64::INFINITY]).collect();
        Self {
            t: Dd::default(),
            t_end,
            h,
            jumps,
            last_rejected: false,
            nonfinite_steps: 0,
            stats: Stats::default(),
            outcome: None,
        }
    }

    /// Writes its state into a checkpoint; `stepper` is the number of evaluations by the stepper.
    pub fn save(&self, stepper: u64, checkpoint: &mut RunCheckpoint) {
        let (hi, lo) = self.t.parts();
        (checkpoint.t, checkpoint.h) = ([hi.to_bits(), lo.to_bits()], self.h.to_bits());
        (checkpoint.last_rejected, checkpoint.nonfinite_steps) =
            (self.last_rejected, self.nonfinite_steps);
        let Stats { steps, rejected, evaluations, implicit } = self.stats;
        checkpoint.stats = [steps, rejected, evaluations + stepper, implicit];
    }

    /// Restores the state of a checkpoint; `stepper` is the number of evaluations that the new
    /// stepper has already made.
    pub fn restore(&mut self, checkpoint: &RunCheckpoint, stepper: u64) {
        let [hi, lo] = checkpoint.t.map(f64::from_bits);
        (self.t, self.h) = (Dd::from(hi) + Dd::from(lo), f64::from_bits(checkpoint.h));
        (self.last_rejected, self.nonfinite_steps, self.stats) =
            (checkpoint.last_rejected, checkpoint.nonfinite_steps, checkpoint.stats(stepper));
        self.jumps.retain(|t| *t > hi);
    }

    pub fn now(&self) -> f64 {
        self.t.to_f64()
    }

    pub fn remaining(&self) -> f64 {
        self.time_to(self.t_end)
    }

    /// The time of the next jump, infinite when there is none.
    pub fn next_jump(&self) -> f64 {
        self.jumps[0]
    }

    /// The time left until `time`, which may be infinite.
    fn time_to(&self, time: f64) -> f64 {
        if time.is_infinite() { time } else { (Dd::from(time) - self.t).to_f64() }
    }

    /// The length of the next step.
    pub fn next_step(&self) -> f64 {
        let left = self.remaining();
        let h = if left - self.h < MAX_STRETCH * self.h { left } else { self.h };
        h.min(self.time_to(self.jumps[0]))
    }

    /// The time at the end of a step of length `h`; exact at the end time.
    pub fn end_of_step(&self, h: f64) -> Dd {
        if h >= self.remaining() { Dd::from(self.t_end) } else { self.t + Dd::from(h) }
    }

    /// Sets the time to the end of a step; exactly to the time of a jump if a full step (`whole`)
    /// ends there. True if it does.
    pub fn advance(&mut self, h: f64, whole: bool) -> bool {
        let jumped = whole && h >= self.time_to(self.jumps[0]);
        self.t = if jumped { Dd::from(self.jumps.remove(0)) } else { self.end_of_step(h) };
        jumped
    }

    /// Whether to attempt another step. Sets the outcome if the end time is reached, the caller
    /// ends the run (`ended`), the run is cancelled or the largest number of steps is reached.
    pub fn should_continue(
        &mut self,
        error_control: &ErrorControl,
        cancel: Option<&AtomicBool>,
        ended: impl FnOnce() -> Option<Outcome>,
    ) -> bool {
        let t = self.now();
        let over = || {
            if self.remaining() <= 0.0 {
                return Some(Outcome::Reached);
            }
            if let Some(outcome) = ended() {
                return Some(outcome);
            }
            if cancel.is_some_and(|c| c.load(Ordering::Relaxed)) {
                return Some(Outcome::Interrupted { t });
            }
            (self.stats.steps + self.stats.rejected >= error_control.max_steps)
                .then_some(Outcome::MaxSteps { t })
        };
        if self.outcome.is_none() {
            self.outcome = over();
        }
        self.outcome.is_none()
    }

    /// Makes steps of given length until the end time or an interruption. `step` gets the times of
    /// the start and the end of the step and its length.
    pub fn run_fixed_steps(
        &mut self,
        cancel: Option<&AtomicBool>,
        mut step: impl FnMut(f64, f64, f64) -> Result<()>,
    ) -> Result<()> {
        while self.should_continue(&ErrorControl::NONE, cancel, || None) {
            let h = self.next_step();
            step(self.now(), self.end_of_step(h).to_f64(), h)?;
            self.advance(h, true);
            self.stats.steps += 1;
        }
        Ok(())
    }

    /// Tests a step of length `h` by its error and displacement and plans the next step. Without an
    /// order every finite step is accepted.
    pub fn judge(
        &mut self,
        error_control: &ErrorControl,
        order: Option<u32>,
        h: f64,
        error: f64,
        displacement: f64,
    ) -> StepVerdict {
        let ratio = error / error_control.tolerance(displacement);
        if ratio.is_nan() || displacement.is_nan() {
            self.stats.rejected += 1;
            // Steps of given length cannot be shortened.
            self.nonfinite_steps += if order.is_some() { 1 } else { MAX_NONFINITE_STEPS + 1 };
            self.h = 0.1 * h;
            return StepVerdict::NonFinite;
        }
        self.nonfinite_steps = 0;
        let Some(order) = order else {
            self.stats.steps += 1;
            return StepVerdict::Accepted;
        };
        let growth = if ratio == 0.0 {
            10.0
        } else {
            (0.9 * ratio.powf(-1.0 / f64::from(order))).clamp(0.1, 10.0)
        };
        if ratio > 1.0 {
            self.stats.rejected += 1;
            self.h = h * growth.min(0.9);
            self.last_rejected = true;
            return StepVerdict::Rejected;
        }
        self.stats.steps += 1;
        // After a rejection the next step is not longer than this one. If the end time or a jump
        // cut this step short, the planned length stays valid.
        let wanted = h * if self.last_rejected { growth.min(1.0) } else { growth };
        self.h = if h < self.h { self.h.max(wanted) } else { wanted };
        self.last_rejected = false;
        StepVerdict::Accepted
    }

    /// The outcome if the run cannot continue after a step of length `h` that was not accepted;
    /// `speed` is the largest speed at its start.
    pub fn failure(&self, verdict: StepVerdict, h: f64, speed: f64) -> Option<Outcome> {
        let t = self.now();
        match verdict {
            // Too many steps in a row are not finite, or even a step that hardly moves anything is
            // not: the solution has a singularity here.
            StepVerdict::NonFinite
                if self.nonfinite_steps > MAX_NONFINITE_STEPS || h * speed < 1e3 * ERROR_FLOOR =>
            {
                Some(Outcome::NonFinite { t, token: 0 })
            }
            StepVerdict::Rejected if self.h * speed < 1e-3 * ERROR_FLOOR => {
                Some(Outcome::StepTooSmall { t, h })
            }
            _ => None,
        }
    }

    /// Continues after [`StepController::failure`].
    pub fn reset_nonfinite_steps(&mut self) {
        self.nonfinite_steps = 0;
    }
}
