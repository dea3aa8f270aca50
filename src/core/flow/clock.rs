//! The clock of a system, and the rule by which its steps are judged.

use super::outcome::{Outcome, Stats};
use super::pause::Pause;
use crate::error::Result;
use crate::num::dd::Dd;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rounding floor of the step tolerance: below it the estimate is noise.
pub const FLOOR: f64 = 8.0 * f64::EPSILON;

/// First steps move the fastest token by this share of the kernel width.
pub const FIRST_STEP: f64 = 0.01;

/// Refusals in a row after which a step that is not finite ends the run.
pub const BROKEN: u32 = 8;

/// A rest of this share of a step joins the last one: the end time of 1e9 steps of one length is rounded by that much.
const JOINED: f64 = 1e-6;

/// The time of a system and its next step.
#[derive(Clone, Debug)]
pub struct Clock {
    /// Now: a double-double, so that small steps late are not lost.
    pub t: Dd,
    pub t_end: f64,
    /// The planned step; infinite where the system decides.
    pub h: f64,
    /// Times at which weights jump, ascending; no step crosses one.
    jumps: Vec<f64>,
    /// The last step was refused; so many in a row were not finite.
    shrunk: bool,
    broken: u32,
    pub stats: Stats,
    /// Set when it has stopped.
    pub outcome: Option<Outcome>,
}

/// What a good step needs to be: a tolerance for systems that estimate their errors.
#[derive(Clone, Copy, Debug)]
pub struct StepRule {
    /// Local error per unit displacement.
    pub rtol: f64,
    /// Its unit, the length over which weights change; `None`: errors come in units of what is
    /// allowed.
    pub width: Option<f64>,
    /// Budget of attempted steps.
    pub max_steps: u64,
}

impl StepRule {
    /// For steps of given length, or errors in units of what is allowed.
    pub const FREE: Self = Self { rtol: 1.0, width: None, max_steps: u64::MAX };

    /// The tolerance of a step that moves the fastest token by `displacement`.
    fn tolerance(&self, displacement: f64) -> f64 {
        self.width.map_or(1.0, |width| (self.rtol * width * displacement.min(1.0)).max(FLOOR))
    }
}

/// What the rule says of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Judgement {
    Good,
    /// The error is too large: a shorter one is planned.
    Refused,
    /// It is not finite: a much shorter one is planned.
    Lost,
}

impl Clock {
    /// At t = 0.
    pub fn new(t_end: f64, h: f64, jumps: &[f64]) -> Self {
        let jumps = jumps.iter().copied().filter(|t| *t > 0.0).chain([f64::INFINITY]).collect();
        Self { t: Dd::default(), t_end, h, jumps, shrunk: false, broken: 0, stats: Stats::default(), outcome: None }
    }

    /// Writes what it must know to go on into a pause.
    pub fn keep(&self, stepper: u64, pause: &mut Pause) {
        let (hi, lo) = self.t.parts();
        (pause.t, pause.h) = ([hi.to_bits(), lo.to_bits()], self.h.to_bits());
        (pause.shrunk, pause.broken) = (self.shrunk, self.broken);
        let Stats { steps, rejected, evaluations, implicit } = self.stats;
        pause.stats = [steps, rejected, evaluations + stepper, implicit];
    }

    /// Goes on from a pause with a stepper that has made so many evaluations already.
    pub fn resume(&mut self, pause: &Pause, stepper: u64) {
        let [hi, lo] = pause.t.map(f64::from_bits);
        (self.t, self.h) = (Dd::from(hi) + Dd::from(lo), f64::from_bits(pause.h));
        (self.shrunk, self.broken, self.stats) = (pause.shrunk, pause.broken, pause.stats(stepper));
        self.jumps.retain(|t| *t > hi);
    }

    pub fn now(&self) -> f64 {
        self.t.to_f64()
    }

    pub fn remaining(&self) -> f64 {
        self.until(self.t_end)
    }

    /// The time of the next jump, infinite when there is none.
    pub fn next_jump(&self) -> f64 {
        self.jumps[0]
    }

    /// From now to this time, which may be infinite.
    fn until(&self, time: f64) -> f64 {
        if time.is_infinite() { time } else { (Dd::from(time) - self.t).to_f64() }
    }

    /// The length of the next step.
    pub fn step(&self) -> f64 {
        let left = self.remaining();
        let h = if left - self.h < JOINED * self.h { left } else { self.h };
        h.min(self.until(self.jumps[0]))
    }

    /// The end of a step of this length; exact at the end time.
    pub fn after(&self, h: f64) -> Dd {
        if h >= self.remaining() { Dd::from(self.t_end) } else { self.t + Dd::from(h) }
    }

    /// Goes to the end of a step, at a jump exactly; true where the weights have jumped.
    pub fn advance(&mut self, h: f64, whole: bool) -> bool {
        let jumped = whole && h >= self.until(self.jumps[0]);
        self.t = if jumped { Dd::from(self.jumps.remove(0)) } else { self.after(h) };
        jumped
    }

    /// Whether to try another step; sets the outcome where the end time, the caller (`ended`), an
    /// interruption or the budget says no.
    pub fn goes_on(&mut self, rule: &StepRule, cancel: Option<&AtomicBool>, ended: impl FnOnce() -> Option<Outcome>) -> bool {
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
            (self.stats.steps + self.stats.rejected >= rule.max_steps).then_some(Outcome::MaxSteps { t })
        };
        if self.outcome.is_none() {
            self.outcome = over();
        }
        self.outcome.is_none()
    }

    /// Steps of given length until the end time or an interruption: `step` gets the times of both
    /// ends and the length.
    pub fn march(&mut self, cancel: Option<&AtomicBool>, mut step: impl FnMut(f64, f64, f64) -> Result<()>) -> Result<()> {
        while self.goes_on(&StepRule::FREE, cancel, || None) {
            let h = self.step();
            step(self.now(), self.after(h).to_f64(), h)?;
            self.advance(h, true);
            self.stats.steps += 1;
        }
        Ok(())
    }

    /// Judges a step of length `h` by its error and displacement and plans the next one; without an order every finite one is good.
    pub fn judge(&mut self, rule: &StepRule, order: Option<u32>, h: f64, error: f64, displacement: f64) -> Judgement {
        let ratio = error / rule.tolerance(displacement);
        if ratio.is_nan() || displacement.is_nan() {
            self.stats.rejected += 1;
            // Steps of given length cannot be shorter.
            self.broken += if order.is_some() { 1 } else { BROKEN + 1 };
            self.h = 0.1 * h;
            return Judgement::Lost;
        }
        self.broken = 0;
        let Some(order) = order else {
            self.stats.steps += 1;
            return Judgement::Good;
        };
        let growth = if ratio == 0.0 { 10.0 } else { (0.9 * ratio.powf(-1.0 / f64::from(order))).clamp(0.1, 10.0) };
        if ratio > 1.0 {
            self.stats.rejected += 1;
            self.h = h * growth.min(0.9);
            self.shrunk = true;
            return Judgement::Refused;
        }
        self.stats.steps += 1;
        // After a refusal no longer than this one; the end time or a jump that cut the step short says nothing against the plan.
        let wanted = h * if self.shrunk { growth.min(1.0) } else { growth };
        self.h = if h < self.h { self.h.max(wanted) } else { wanted };
        self.shrunk = false;
        Judgement::Good
    }

    /// What ends the run when no step will do: `speed` is the largest at the start of the step of length `h` that was not good.
    pub fn failure(&self, verdict: Judgement, h: f64, speed: f64) -> Option<Outcome> {
        let t = self.now();
        match verdict {
            // So many refusals in a row, or a step that hardly moves: the singularity is here.
            Judgement::Lost if self.broken > BROKEN || h * speed < 1e3 * FLOOR => Some(Outcome::NonFinite { t, token: 0 }),
            Judgement::Refused if self.h * speed < 1e-3 * FLOOR => Some(Outcome::StepTooSmall { t, h }),
            _ => None,
        }
    }

    /// Begins anew with a shorter step after [`Clock::failure`].
    pub fn retry(&mut self) {
        self.broken = 0;
    }
}
