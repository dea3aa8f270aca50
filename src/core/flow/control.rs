//! Options of a run.

use super::event::{Action, Event};
use super::mover::Implicit;
use super::pause::{Keeper, Pause};
use super::stepper::Integrator;
use crate::error::{Error, Result};
use std::sync::atomic::AtomicBool;

/// Options of [`super::solve`].
pub struct Options<'a> {
    /// The method: a registered [`integrator`](super::integrator) or one's own.
    pub integrator: &'a dyn Integrator,
    /// Local error per unit displacement, in units of the kernel width `min(1, beta^{-1/2})`.
    pub rtol: f64,
    /// Geodesic distance at which tokens coalesce; 0 never. Dynamics without a [common
    /// field](crate::attention::Facts::common_field) (causal ones, sublayers of one's own that do
    /// not claim it) never coalesce: there it says only what `stop_at_one_cluster` calls one
    /// cluster, and [`Solution::merging_ignored`](super::Solution::merging_ignored) is set.
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
    /// Keeps the run now and then.
    pub keeper: Option<&'a dyn Keeper>,
    /// Goes on from here, with the start and all options of the run that was kept.
    pub resume: Option<&'a Pause>,
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
            keeper: None,
            resume: None,
        }
    }
}

impl Options<'_> {
    /// Checks the numbers.
    ///
    /// **Errors** a tolerance outside [1e-15, 0.1], a merge radius outside `[0, pi/2]`.
    pub fn validated(self) -> Result<Self> {
        if !(1e-15..=0.1).contains(&self.rtol) {
            return Err(Error::parameter("rtol", self.rtol, "a number in [1e-15, 0.1]"));
        }
        crate::error::in_range("merge-radius", self.merge_radius, 0.0, std::f64::consts::FRAC_PI_2)?;
        Ok(self)
    }
}
