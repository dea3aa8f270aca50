//! Options of a run.

use super::checkpoint::{CheckpointSink, RunCheckpoint};
use super::event::{Event, EventAction};
use super::stepper::Integrator;
use super::stiff_switch::ImplicitSteps;
use crate::error::{Error, Result};
use std::sync::atomic::AtomicBool;

/// Options of [`super::solve`].
pub struct Options<'a> {
    /// The method: a registered [`integrator`](super::integrator) or your own.
    pub integrator: &'a dyn Integrator,
    /// Tolerance: local error per unit displacement, in units of the kernel width
    /// `min(1, beta^{-1/2})`.
    pub rtol: f64,
    /// Geodesic distance at which tokens merge; 0 for never. Tokens merge only under dynamics with
    /// a [common field](crate::attention::Properties::common_field), which causal dynamics and your
    /// own sublayers that do not claim it lack. For other dynamics the radius only defines the
    /// cluster of `stop_at_one_cluster`, and
    /// [`Solution::merging_ignored`](super::Solution::merging_ignored) is set.
    pub merge_radius: f64,
    /// When implicit steps are used.
    pub implicit: ImplicitSteps,
    /// Largest number of attempted steps.
    pub max_steps: u64,
    /// End the run as soon as one cluster is left; if tokens do not merge, as soon as all are
    /// within the merge radius of the first.
    pub stop_at_one_cluster: bool,
    /// Events, each with the action when it happens.
    pub events: Vec<(Box<dyn Event>, EventAction)>,
    /// The run stops when this becomes true; read before every step.
    pub cancel: Option<&'a AtomicBool>,
    /// Saves checkpoints of the run.
    pub checkpoint_sink: Option<&'a dyn CheckpointSink>,
    /// Resume from this checkpoint. The start and all options must be those of the original run.
    pub resume: Option<&'a RunCheckpoint>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            integrator: &super::dop853::DOP853,
            rtol: 1e-10,
            merge_radius: 1e-10,
            implicit: ImplicitSteps::Auto,
            max_steps: 200_000,
            stop_at_one_cluster: false,
            events: Vec::new(),
            cancel: None,
            checkpoint_sink: None,
            resume: None,
        }
    }
}

impl Options<'_> {
    /// Checks the values.
    ///
    /// **Errors** a tolerance outside [1e-15, 0.1], a merge radius outside `[0, pi/2]`.
    pub fn validated(self) -> Result<Self> {
        if !(1e-15..=0.1).contains(&self.rtol) {
            return Err(Error::parameter("rtol", self.rtol, "a number in [1e-15, 0.1]"));
        }
        crate::error::in_range(
            "merge_radius",
            self.merge_radius,
            0.0,
            std::f64::consts::FRAC_PI_2,
        )?;
        Ok(self)
    }
}
