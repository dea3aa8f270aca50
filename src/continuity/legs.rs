//! The one loop over time of densities: leg after leg, each no longer than the state can bear, refining where it must.

use super::{End, Evolved};
use crate::error::Result;

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
    let mut now = 0.0;
    while now < t {
        match leg(state, t - now)? {
            Leg::Moved(next, length) => {
                state = next;
                now = if length < t - now { now + length } else { t };
                if !watch(now, &state) && now < t {
                    return Ok(Evolved::new(state, now, End::Interrupted));
                }
            }
            Leg::Finer(next) => state = next,
            Leg::UnderResolved(last) => return Ok(Evolved::new(last, now, End::UnderResolved)),
        }
    }
    Ok(Evolved::new(state, now, End::Reached))
}
