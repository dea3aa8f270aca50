//! `solve`: its promises and what it refuses.

use super::clock::{Clock, StepRule};
use super::control::Options;
use super::mover::{Implicit, Mover};
use super::observable::Observer;
use super::ode_system::Steps;
use super::outcome::Solution;
use super::run::Run;
use crate::attention::{Dynamics, kernel::EXACT, kernel_width};
use crate::error::{Error, Result, show};
use crate::sphere::Tokens;

/// The relative accuracy of velocities at which [`solve`] takes nothing of them for an error of its own: a hundredth of its tolerance.
pub fn velocity_accuracy(rtol: f64, beta: f64) -> f64 {
    (0.01 * rtol * kernel_width(beta)).max(EXACT)
}

/// The largest relative error of velocities, in units of the tolerance of a step of unit length, that its error estimate can bear: coefficients of the
/// estimators have lengths up to 2.3.
const BEARABLE: f64 = 0.1;

/// **Errors** a tolerance below the noise of the velocities: the estimate of the error would fall no further however short the steps.
fn check_noise(dynamics: &Dynamics, rtol: f64) -> Result<()> {
    let (accuracy, width) = (dynamics.accuracy(), dynamics.length_scale());
    if accuracy <= (BEARABLE * rtol * width).max(EXACT) {
        return Ok(());
    }
    let (least, most) = (accuracy / (BEARABLE * width), (BEARABLE * rtol * width).max(EXACT));
    let expected = format!("at least {least:.1e} with velocities accurate to {accuracy:.1e}, or velocities accurate to {most:.1e}");
    Err(Error::parameter("rtol", show(rtol), expected))
}

/// Integrates `dynamics` from `start` over `[0, t_end]`.
///
/// The step keeps the local error below `rtol * width * min(1, displacement)`: an error per unit of displacement, so that a perturbation of
/// 1e-9 that grows for e^60 units of time is followed with relative accuracy. Time is a double-double and steps may
/// span hundreds of orders of magnitude. Merges and events are located by root finding on dense output.
///
/// Where a dynamics knows that its Jacobian is block triangular ([`Dynamics::triangular`]) and stability keeps explicit steps short, implicit
/// steps (Rodas5P, order 5) take over under the same error test, so that tokens which follow their leader never hold up the clock. A state at
/// rest, where nothing will move any more, ends the run as [`super::Outcome::Stationary`].
///
/// **Cost** 12 velocities per step (DOP853), 9 and a linearisation per implicit one. **Errors** a bad `t_end` or option, a tolerance below the noise of the velocities (see
/// [`velocity_accuracy`]), an algorithm of the kernel sums that refuses; honest bad ends are outcomes, with partial results.
///
/// ```
/// use metastable::{attention::{dynamics, Spec}, flow::{solve, Options}, sphere::Tokens};
/// let usa = dynamics::build("usa", false, &Spec::new(0.0, 2)).unwrap();
/// let x = Tokens::from_angles(&[0.0, 2.0]).unwrap();
/// let end = solve(&usa, &x, 1.0, &Options::default(), &mut []).unwrap();
/// // beta = 0, two tokens: tan(theta/2) decays like e^{-t}
/// let theta = end.clusters.angles()[1] - end.clusters.angles()[0];
/// assert!(((theta / 2.0).tan() - 1f64.tan() * (-1f64).exp()).abs() < 1e-10);
/// ```
pub fn solve(dynamics: &Dynamics, start: &Tokens, t_end: f64, options: &Options, observers: &mut [&mut dyn Observer]) -> Result<Solution> {
    let mut run = begin(dynamics, start, t_end, options, observers)?;
    run.go(u64::MAX)?;
    Ok(run.finish())
}

/// The run of [`solve`], to go on in turns.
///
/// **Errors** as [`solve`].
pub fn begin<'a, 'o, 'p>(
    dynamics: &'a Dynamics,
    start: &Tokens,
    t_end: f64,
    options: &'a Options<'a>,
    observers: &'o mut [&'p mut dyn Observer],
) -> Result<Run<'a, 'o, 'p>> {
    if !(t_end.is_finite() && t_end >= 0.0) {
        return Err(Error::parameter("t-end", t_end, "a finite time >= 0"));
    }
    dynamics.kernel(start)?;
    if options.implicit == Implicit::Always && dynamics.triangular().is_none() {
        return Err(Error::parameter("implicit", "always", "a dynamics whose Jacobian is known to be triangular, or auto"));
    }
    check_noise(dynamics, options.rtol)?;
    let rule = StepRule { rtol: options.rtol, width: Some(dynamics.length_scale()), max_steps: options.max_steps };
    let stepper = Mover::begin(options.integrator.stepper(), options.implicit, dynamics, start);
    let steps = Steps { clock: Clock::new(t_end, 0.0, &dynamics.jumps()), rule, stepper };
    let mut run = Run::new(dynamics, start, steps, options, options.cancel, observers)?;
    run.plan_first_step()?;
    run.begin()?;
    Ok(run)
}
