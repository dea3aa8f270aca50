//! Densities in the loop over time: leg after leg, each no longer than the state can bear, refining where it must.

use super::{End, Evolved};
use crate::error::{Error, Result};
use crate::flow::{Clock, Outcome, StepRule, System, Tried, Turn, drive};

/// What came of one leg.
pub(super) enum Leg<S> {
    /// The state after a time.
    Moved(S, f64),
    /// The same state with a finer resolution, at the same time.
    Finer(S),
    /// The same state, which no resolution allowed can carry on.
    UnderResolved(S),
}

/// A leg of this length, or what is left; a rest of rounding joins the last one.
pub(super) fn clipped(leg: f64, left: f64, t: f64) -> f64 {
    if left - leg < 1e-12 * t { left } else { leg }
}

/// Moves a state by time `t`; `leg` gets the state and the time left, `watch` sees the state after every leg that moved it and says whether to go on.
pub(super) fn by_legs<S>(
    state: S,
    t: f64,
    leg: impl FnMut(S, f64) -> Result<Leg<S>>,
    watch: impl FnMut(f64, &S) -> bool,
) -> Result<Evolved<S>> {
    if t.is_nan() {
        return Err(Error::parameter("t", t, "a time"));
    }
    let mut legs = Legs { state: Some(state), leg, watch };
    // Legs are as long as the state can bear: up to all the time left.
    let mut clock = Clock::new(t, f64::INFINITY, &[]);
    drive(&mut legs, std::slice::from_mut(&mut clock), &StepRule::FREE, None)?;
    let end = match clock.outcome {
        Some(Outcome::Reached) => End::Reached,
        Some(Outcome::UnderResolved { .. }) => End::UnderResolved,
        _ => End::Interrupted,
    };
    let state = legs.state.ok_or_else(|| Error::Numerical { what: "the density was lost".into() })?;
    Ok(Evolved::new(state, clock.now(), end))
}

/// A density in the loop.
struct Legs<S, L, W> {
    /// Always there but within a leg.
    state: Option<S>,
    leg: L,
    watch: W,
}

impl<S, L: FnMut(S, f64) -> Result<Leg<S>>, W: FnMut(f64, &S) -> bool> System for Legs<S, L, W> {
    fn attempt(&mut self, clocks: &[Clock], turns: &mut [Turn]) -> Result<()> {
        for turn in turns {
            let Some(state) = self.state.take() else { continue };
            let (state, tried) = match (self.leg)(state, turn.h)? {
                Leg::Moved(next, length) => {
                    turn.h = length;
                    (next, Tried::Moved { error: 0.0, displacement: 1.0 })
                }
                Leg::Finer(next) => (next, Tried::Changed),
                Leg::UnderResolved(last) => (last, Tried::Ended(Outcome::UnderResolved { t: clocks[turn.clock].now() })),
            };
            (self.state, turn.tried) = (Some(state), tried);
        }
        Ok(())
    }

    fn accept(&mut self, clocks: &mut [Clock], turns: &[Turn]) -> Result<()> {
        for turn in turns.iter().filter(|turn| turn.good) {
            let clock = &mut clocks[turn.clock];
            clock.advance(turn.h, true);
            let (t, go) = (clock.now(), self.state.as_ref().is_some_and(|state| (self.watch)(clock.now(), state)));
            if !go && clock.remaining() > 0.0 {
                clock.outcome = Some(Outcome::Interrupted { t });
            }
        }
        Ok(())
    }
}
