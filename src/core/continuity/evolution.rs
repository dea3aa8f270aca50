//! Evolution of densities: one integration over time, begun anew where a density is refined.

use super::{End, Evolved, Medium};
use crate::error::Result;
use crate::flow::{OdeOptions, OdeSystem, Outcome, StepAction, integrate};

/// A density that is a point of a system of ordinary differential equations.
pub(super) trait Evolving: Sized {
    /// The equations.
    type System: OdeSystem;
    /// The equations in a medium, at the resolution of this density.
    fn system(&self, medium: &Medium) -> Result<Self::System>;
    /// What the system moves.
    fn coordinates(&self) -> Vec<f64>;
    /// The density of the same resolution with these coordinates.
    fn at(&self, y: &[f64]) -> Result<Self>;
}

/// How exactly a density is moved, and when it is refined.
pub(super) trait Rule<S> {
    /// Relative and absolute error of a step, per coordinate.
    fn tolerances(&self) -> (f64, f64);

    /// Whether the density at the end of a step is resolved.
    fn resolves(&self, state: &S) -> bool {
        let _ = state;
        true
    }

    /// The same density, finer, where a step from it led to one that is not resolved, or to none;
    /// none where this one is as fine as it may be.
    fn refined(&self, state: &S, lost: Option<S>) -> Option<S> {
        let _ = (state, lost);
        None
    }
}

/// The tolerances of a density that is never refined.
impl<S> Rule<S> for (f64, f64) {
    fn tolerances(&self) -> (f64, f64) {
        *self
    }
}

/// Moves a density by time `t`; `watch` sees it after every step and says whether to go on.
///
/// **Returns** the last resolved density. **Errors** those of the system, steps that fail.
pub(super) fn evolve<S: Evolving>(
    mut state: S,
    medium: &Medium,
    t: f64,
    rule: &impl Rule<S>,
    mut watch: impl FnMut(f64, &S) -> bool,
) -> Result<Evolved<S>> {
    let (mut now, (rtol, atol)) = (0.0, rule.tolerances());
    let mut options = OdeOptions::new(rtol, atol);
    loop {
        let (mut system, mut y, mut lost) = (state.system(medium)?, state.coordinates(), None);
        let ended = integrate(&mut system, now, &mut y, t, &options, |step| {
            let next = state.at(step.end)?;
            if !rule.resolves(&next) {
                lost = Some(next);
                return Ok(StepAction::Reject);
            }
            Ok(if watch(step.t_end, &next) { StepAction::Continue } else { StepAction::Stop })
        })?;
        (now, state) = (ended.t, state.at(&y)?);
        let end = match ended.outcome {
            Outcome::Reached => End::Reached,
            Outcome::Interrupted { .. } => End::Interrupted,
            _ => {
                let resolved = lost.is_none();
                if let Some(finer) = rule.refined(&state, lost) {
                    (state, options.first_step) = (finer, Some(ended.next_step));
                    continue;
                }
                if resolved {
                    ended.reached()?;
                }
                End::UnderResolved
            }
        };
        return Ok(Evolved::new(state, now, end));
    }
}
