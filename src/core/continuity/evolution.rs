//! Evolution of densities in time; the integration restarts when a density is refined.

use super::{Evolution, EvolutionEnd, MeasureDynamics};
use crate::error::Result;
use crate::flow::{OdeOptions, OdeSystem, Outcome, StepAction, integrate};

/// A density whose coordinates solve a system of ordinary differential equations.
pub(super) trait DensityState: Sized {
    /// The system of equations.
    type System: OdeSystem;
    /// The system for these dynamics, at the resolution of this density.
    fn system(&self, dynamics: &MeasureDynamics) -> Result<Self::System>;
    /// The coordinates, as the state of the system.
    fn coordinates(&self) -> Vec<f64>;
    /// The density of the same resolution with the coordinates `y`.
    fn with_coordinates(&self, y: &[f64]) -> Result<Self>;

    /// The rates of change of the coordinates.
    fn rates_of_change(&self, dynamics: &MeasureDynamics) -> Result<Vec<f64>> {
        let y = self.coordinates();
        let mut rates = vec![0.0; y.len()];
        self.system(dynamics)?.rates(0.0, &y, &mut rates)?;
        Ok(rates)
    }
}

/// The tolerances of an evolution, and when to refine the density.
pub(super) trait RefinementRule<S> {
    /// Relative and absolute tolerance of a step, per coordinate.
    fn tolerances(&self) -> (f64, f64);

    /// Whether the density at the end of a step is resolved.
    fn resolves(&self, state: &S) -> bool {
        let _ = state;
        true
    }

    /// This density at a finer resolution, after a step from it failed or led to an `unresolved`
    /// density. `None` if the resolution is the largest allowed.
    fn refine(&self, state: &S, unresolved: Option<S>) -> Option<S> {
        let _ = (state, unresolved);
        None
    }
}

/// The tolerances alone: the density is never refined.
impl<S> RefinementRule<S> for (f64, f64) {
    fn tolerances(&self) -> (f64, f64) {
        *self
    }
}

/// Evolves a density by time `t`. `watch` sees it after every step and returns whether to continue.
///
/// **Returns** the last resolved density. **Errors** those of the system, failed steps.
pub(super) fn evolve<S: DensityState>(
    mut state: S,
    dynamics: &MeasureDynamics,
    t: f64,
    rule: &impl RefinementRule<S>,
    mut watch: impl FnMut(f64, &S) -> bool,
) -> Result<Evolution<S>> {
    let (mut now, (rtol, atol)) = (0.0, rule.tolerances());
    let mut options = OdeOptions::new(rtol, atol);
    loop {
        let (mut system, mut y, mut unresolved) =
            (state.system(dynamics)?, state.coordinates(), None);
        let ended = integrate(&mut system, now, &mut y, t, &options, |step| {
            let next = state.with_coordinates(step.end)?;
            if !rule.resolves(&next) {
                unresolved = Some(next);
                return Ok(StepAction::Reject);
            }
            Ok(if watch(step.t_end, &next) { StepAction::Continue } else { StepAction::Stop })
        })?;
        (now, state) = (ended.t, state.with_coordinates(&y)?);
        let end = match ended.outcome {
            Outcome::Reached => EvolutionEnd::Reached,
            Outcome::Interrupted { .. } => EvolutionEnd::Interrupted,
            _ => {
                let resolved = unresolved.is_none();
                if let Some(finer) = rule.refine(&state, unresolved) {
                    (state, options.first_step) = (finer, Some(ended.next_step));
                    continue;
                }
                if resolved {
                    ended.reached()?;
                }
                EvolutionEnd::UnderResolved
            }
        };
        return Ok(Evolution::new(state, now, end));
    }
}
