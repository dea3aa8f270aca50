//! `solve`: integration of tokens, and the checks of its arguments.

use super::integrate::ControlledStepper;
use super::observable::Observer;
use super::options::Options;
use super::outcome::Solution;
use super::run::Run;
use super::step_control::{ErrorControl, StepController};
use super::stiff_switch::{AutoSwitch, ImplicitSteps};
use crate::attention::{Dynamics, kernel::EXACT_ACCURACY, kernel_width};
use crate::error::{Error, Result, format_number};
use crate::sphere::Tokens;

/// Relative accuracy of velocities for [`solve`] with this tolerance: their error is at most a
/// hundredth of the tolerance.
pub fn velocity_accuracy(rtol: f64, beta: f64) -> f64 {
    (0.01 * rtol * kernel_width(beta)).max(EXACT_ACCURACY)
}

/// Largest relative error of velocities, in units of the tolerance of a step of unit length, at
/// which the error estimate still works: the coefficients of the estimators have lengths up to 2.3.
const MAX_VELOCITY_ERROR: f64 = 0.1;

/// **Errors** a tolerance below the noise of the velocities: the error estimate would not decrease
/// any further, however short the steps.
fn check_noise(dynamics: &Dynamics, rtol: f64) -> Result<()> {
    let (accuracy, width) = (dynamics.accuracy(), dynamics.length_scale());
    if accuracy <= (MAX_VELOCITY_ERROR * rtol * width).max(EXACT_ACCURACY) {
        return Ok(());
    }
    let (least, most) = (
        accuracy / (MAX_VELOCITY_ERROR * width),
        (MAX_VELOCITY_ERROR * rtol * width).max(EXACT_ACCURACY),
    );
    let expected = format!(
        "at least {least:.1e} with velocities accurate to {accuracy:.1e}, or velocities accurate to {most:.1e}"
    );
    Err(Error::parameter("rtol", format_number(rtol), expected))
}

/// Integrates `dynamics` from `start` over `[0, t_end]`.
///
/// The step controller keeps the local error below `rtol * width * min(1, displacement)`, an error
/// per unit of displacement: a perturbation of 1e-9 that grows for e^60 units of time is followed
/// with relative accuracy. Time is a double-double, and steps may span hundreds of orders of
/// magnitude. Merges and events are located by root finding on dense output.
///
/// If the dynamics knows that its Jacobian is block triangular ([`Dynamics::triangular_jacobian`])
/// and stability limits the explicit steps, implicit steps (Rodas5P, order 5) take over under the
/// same error test: tokens that follow their leader do not keep the steps short. A steady state
/// ends the run as [`super::Outcome::Stationary`].
///
/// **Cost** 12 velocities per step (DOP853), 9 and a linearisation per implicit step. **Errors** a
/// bad `t_end` or option, a tolerance below the noise of the velocities (see
/// [`velocity_accuracy`]), a kernel that does not support the dynamics. If the integration cannot
/// continue, the outcome says why, and the solution holds the partial results.
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
pub fn solve(
    dynamics: &Dynamics,
    start: &Tokens,
    t_end: f64,
    options: &Options,
    observers: &mut [&mut dyn Observer],
) -> Result<Solution> {
    let mut run = start_run(dynamics, start, t_end, options, observers)?;
    run.advance(u64::MAX)?;
    Ok(run.finish())
}

/// Starts the run of [`solve`] without advancing it.
///
/// **Errors** as [`solve`].
pub fn start_run<'a, 'o, 'p>(
    dynamics: &'a Dynamics,
    start: &Tokens,
    t_end: f64,
    options: &'a Options<'a>,
    observers: &'o mut [&'p mut dyn Observer],
) -> Result<Run<'a, 'o, 'p>> {
    if !(t_end.is_finite() && t_end >= 0.0) {
        return Err(Error::parameter("t_end", t_end, "a finite time >= 0"));
    }
    dynamics.kernel(start)?;
    if options.implicit == ImplicitSteps::Always && dynamics.triangular_jacobian().is_none() {
        return Err(Error::parameter(
            "implicit",
            "always",
            "a dynamics whose Jacobian is known to be triangular, or auto",
        ));
    }
    check_noise(dynamics, options.rtol)?;
    let error_control = ErrorControl {
        rtol: options.rtol,
        width: Some(dynamics.length_scale()),
        max_steps: options.max_steps,
    };
    let stepper = AutoSwitch::new(options.integrator.stepper(), options.implicit, dynamics, start);
    let steps = ControlledStepper {
        controller: StepController::new(t_end, 0.0, &dynamics.jumps()),
        error_control,
        stepper,
    };
    let mut run = Run::new(dynamics, start, steps, options, options.cancel, observers)?;
    run.plan_first_step()?;
    run.start_or_resume()?;
    Ok(run)
}
