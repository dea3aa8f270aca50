//! `solve`: its options, its promises and what it refuses.

use super::event::{Action, Event};
use super::integrator::integrator;
use super::mover::Implicit;
use super::observable::Observer;
use super::outcome::Solution;
use super::run::Run;
use super::tableau::Tableau;
use crate::attention::{
    Dynamics,
    kernel::{EXACT, in_a_row},
    kernel_width,
};
use crate::error::{Error, Result, show};
use crate::sphere::Tokens;
use std::sync::atomic::AtomicBool;

/// Options of [`solve`].
pub struct Options<'a> {
    /// The method.
    pub integrator: &'static Tableau,
    /// Local error per unit displacement, in units of the kernel width `min(1, beta^{-1/2})`.
    pub rtol: f64,
    /// Geodesic distance at which tokens coalesce; 0 never. Dynamics without a common field (causal ones) never coalesce: there it says only what
    /// `stop_at_one_cluster` calls one cluster.
    pub merge_radius: f64,
    /// When implicit steps are taken.
    pub implicit: Implicit,
    /// Budget of attempted steps.
    pub max_steps: u64,
    /// End as soon as one cluster is left; where tokens do not coalesce, as soon as all are within the merge radius of the first.
    pub stop_at_one_cluster: bool,
    /// Events with what to do when they happen.
    pub events: Vec<(Box<dyn Event>, Action)>,
    /// Checked before every step.
    pub cancel: Option<&'a AtomicBool>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            integrator: &super::dop853::DOP853,
            rtol: 1e-10,
            merge_radius: 1e-10,
            implicit: Implicit::Auto,
            max_steps: 200_000,
            stop_at_one_cluster: false,
            events: Vec::new(),
            cancel: None,
        }
    }
}

impl Options<'_> {
    /// Checks the numbers.
    ///
    /// **Errors** a tolerance outside (0, 0.1], a merge radius outside `[0, pi/2]`.
    pub fn validated(self) -> Result<Self> {
        if !(self.rtol > 0.0 && self.rtol <= 0.1) {
            return Err(Error::parameter("rtol", self.rtol, "a number in (0, 0.1]"));
        }
        crate::error::in_range("merge-radius", self.merge_radius, 0.0, std::f64::consts::FRAC_PI_2)?;
        integrator(self.integrator.name)?;
        Ok(self)
    }
}

/// Rounding floor of the step tolerance: below it the estimate is noise.
pub(super) const FLOOR: f64 = 8.0 * f64::EPSILON;

/// First steps move the fastest token by this share of the kernel width.
pub(super) const FIRST_STEP: f64 = 0.01;

/// The factor from a step whose error is `ratio` times its tolerance to the next.
pub(super) fn growth(ratio: f64, order: u32) -> f64 {
    if ratio == 0.0 { 10.0 } else { (0.9 * ratio.powf(-1.0 / f64::from(order))).clamp(0.1, 10.0) }
}

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
    if !(t_end.is_finite() && t_end >= 0.0) {
        return Err(Error::parameter("t-end", t_end, "a finite time >= 0"));
    }
    dynamics.kernel(start)?;
    if options.implicit == Implicit::Always && dynamics.triangular().is_none() {
        return Err(Error::parameter("implicit", "always", "a dynamics whose Jacobian is known to be triangular, or auto"));
    }
    check_noise(dynamics, options.rtol)?;
    let mut run = Run::new(dynamics, start, t_end, options);
    run.observe(observers, 0.0, true);
    run.coalesce_now();
    let outcome = in_a_row(start, || run.advance(observers));
    Ok(run.finish(outcome, observers))
}
