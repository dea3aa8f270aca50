//! THE loop over time: tokens, many tokens in lanes, layers, noise and densities go through it.

use super::clock::{Clock, Judgement, StepRule};
use super::outcome::Outcome;
use crate::error::Result;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the loop moves: one system, or several side by side, each with a clock of its own.
pub(crate) trait System {
    /// The clocks whose systems step next: all that go, unless there is no room for so many side by side.
    fn turns(&mut self, clocks: &mut [Clock], turns: &mut Vec<Turn>) {
        turns.extend((0..clocks.len()).filter(|k| clocks[*k].outcome.is_none()).map(Turn::of));
    }

    /// What ends the run before another step, besides time, budget and interruptions.
    fn ended(&mut self, clock: &Clock) -> Option<Outcome> {
        let _ = clock;
        None
    }

    /// Order of the estimates of errors, if there are any.
    fn order(&self) -> Option<u32> {
        None
    }

    /// Tries the steps of all turns, of lengths [`Turn::h`] or shorter, from the present states, which stay.
    fn attempt(&mut self, clocks: &[Clock], turns: &mut [Turn]) -> Result<()>;

    /// Takes the steps that are [good](Turn::good): samples within them, events, the new states; sets their clocks.
    fn accept(&mut self, clocks: &mut [Clock], turns: &[Turn]) -> Result<()>;

    /// Largest speed where the step of this turn starts; infinite where nobody asks.
    fn speed(&self, turn: &Turn) -> f64 {
        let _ = turn;
        f64::INFINITY
    }

    /// A way out of a failure; what ends the run otherwise.
    fn fail(&mut self, clock: &mut Clock, failure: Outcome) -> Option<Outcome> {
        let _ = clock;
        Some(failure)
    }
}

/// A step of one system.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    /// Index of its clock.
    pub clock: usize,
    pub h: f64,
    pub tried: Tried,
    pub good: bool,
}

/// What came of an attempt.
#[derive(Clone, Debug)]
pub(crate) enum Tried {
    /// It can be taken if its error is small enough.
    Moved { error: f64, displacement: f64 },
    /// The system became another one (finer) at the same time; the step is to be tried again.
    Changed,
    /// No step goes on from here.
    Ended(Outcome),
}

impl Turn {
    /// A step of the system of a clock, still to be tried.
    pub fn of(clock: usize) -> Self {
        Self { clock, h: 0.0, tried: Tried::Changed, good: false }
    }
}

/// Steps until every clock has its outcome.
pub(crate) fn drive(system: &mut impl System, clocks: &mut [Clock], rule: &StepRule, cancel: Option<&AtomicBool>) -> Result<()> {
    let mut turns = Vec::new();
    loop {
        for clock in clocks.iter_mut().filter(|c| c.outcome.is_none()) {
            clock.outcome = over(system, clock, rule, cancel);
        }
        turns.clear();
        system.turns(clocks, &mut turns);
        if turns.is_empty() {
            return Ok(());
        }
        turns.iter_mut().for_each(|turn| turn.h = clocks[turn.clock].step());
        system.attempt(clocks, &mut turns)?;
        for turn in &mut turns {
            judge(system, &mut clocks[turn.clock], turn, rule);
        }
        system.accept(clocks, &turns)?;
    }
}

/// What ends a run before another step.
fn over(system: &mut impl System, clock: &Clock, rule: &StepRule, cancel: Option<&AtomicBool>) -> Option<Outcome> {
    let t = clock.now();
    if clock.remaining() <= 0.0 {
        return Some(Outcome::Reached);
    }
    if let Some(outcome) = system.ended(clock) {
        return Some(outcome);
    }
    if cancel.is_some_and(|c| c.load(Ordering::Relaxed)) {
        return Some(Outcome::Interrupted { t });
    }
    (clock.stats.steps + clock.stats.rejected >= rule.max_steps).then_some(Outcome::MaxSteps { t })
}

/// Judges an attempt and plans the next.
fn judge(system: &mut impl System, clock: &mut Clock, turn: &mut Turn, rule: &StepRule) {
    match std::mem::replace(&mut turn.tried, Tried::Changed) {
        Tried::Moved { error, displacement } => {
            let verdict = clock.judge(rule, system.order(), turn.h, error, displacement);
            turn.good = verdict == Judgement::Good;
            turn.tried = Tried::Moved { error, displacement };
            if turn.good {
                return;
            }
            if let Some(failure) = clock.failure(verdict, turn.h, system.speed(turn)) {
                clock.outcome = system.fail(clock, failure);
            }
        }
        Tried::Changed => turn.good = false,
        Tried::Ended(outcome) => (turn.good, clock.outcome) = (false, Some(outcome)),
    }
}
