//! Densities in the loop over time: leg after leg, each no longer than the state can bear, refining where it must.

use super::{End, Evolved};
use crate::error::{Error, Result};
use crate::flow::{Clock, Outcome, StepRule};

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
    mut state: S,
    t: f64,
    mut leg: impl FnMut(S, f64) -> Result<Leg<S>>,
    mut watch: impl FnMut(f64, &S) -> bool,
) -> Result<Evolved<S>> {
    if t.is_nan() {
        return Err(Error::parameter("t", t, "a time"));
    }
    // Legs are as long as the state can bear: up to all the time left.
    let mut clock = Clock::new(t, f64::INFINITY, &[]);
    while clock.goes_on(&StepRule::FREE, None, || None) {
        match leg(state, clock.step())? {
            Leg::Moved(next, length) => {
                clock.advance(length, true);
                state = next;
                if !watch(clock.now(), &state) && clock.remaining() > 0.0 {
                    clock.outcome = Some(Outcome::Interrupted { t: clock.now() });
                }
            }
            Leg::Finer(next) => state = next,
            Leg::UnderResolved(last) => {
                clock.outcome = Some(Outcome::UnderResolved { t: clock.now() });
                state = last;
            }
        }
    }
    let end = match clock.outcome {
        Some(Outcome::Reached) => End::Reached,
        Some(Outcome::UnderResolved { .. }) => End::UnderResolved,
        _ => End::Interrupted,
    };
    Ok(Evolved::new(state, clock.now(), end))
}
