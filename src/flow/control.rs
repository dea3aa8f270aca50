//! Options of a run, and the rule by which its steps are judged.

use super::event::{Action, Event};
use super::integrator::integrator;
use super::mover::Implicit;
use super::tableau::Tableau;
use crate::error::{Error, Result};
use std::sync::atomic::AtomicBool;

/// Options of [`super::solve`].
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

/// The tolerance of a step that moves the fastest token by `displacement`, for weights that change over `width`.
pub(super) fn tolerance(rtol: f64, width: f64, displacement: f64) -> f64 {
    (rtol * width * displacement.min(1.0)).max(FLOOR)
}

/// The factor from a step whose error is `ratio` times its tolerance to the next.
fn growth(ratio: f64, order: u32) -> f64 {
    if ratio == 0.0 { 10.0 } else { (0.9 * ratio.powf(-1.0 / f64::from(order))).clamp(0.1, 10.0) }
}

/// The step after one of length `h` that was refused.
pub(super) fn shorter(h: f64, ratio: f64, order: u32) -> f64 {
    h * growth(ratio, order).min(0.9)
}

/// The step after an accepted one of length `h`, of `planned` that the end time or a jump may have cut short, which says nothing against the plan; no longer
/// than it after a refusal.
pub(super) fn next(h: f64, planned: f64, ratio: f64, order: u32, shrunk: bool) -> f64 {
    let growth = growth(ratio, order);
    let wanted = h * if shrunk { growth.min(1.0) } else { growth };
    if h < planned { planned.max(wanted) } else { wanted }
}
