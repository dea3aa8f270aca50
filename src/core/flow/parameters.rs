//! The parameters of adaptive integration: flags, keys of experiments, keywords.

use super::{Options, integrator};
use crate::attention::kernel::{EXACT_ACCURACY, KernelChoice};
use crate::error::Result;
use crate::num::simd::Isa;
use crate::operation::{Given, Parameters, any, at_least, within};
use crate::parameters;

parameters! {
    /// How a run is integrated.
    #[derive(Clone, Debug)]
    pub struct Integration {
        /// Local error per unit of displacement, in kernel widths.
        rtol: f64, within(1e-15, 0.1).or("1e-10");
        /// Geodesic distance at which two tokens merge into one; 0: never.
        merge_radius: f64, within(0.0, 1.5).or("1e-10");
        /// dop853 (order 8) or dopri5 (order 5).
        integrator: String, any().or("dop853").form("NAME").check(known);
        /// Largest number of steps.
        max_steps: u64, at_least(1.0).or("1000000");
        /// Stop when a single cluster is left.
        stop_at_one_cluster: bool;
    }
}

/// **Errors** an unknown integrator.
fn known(name: &str) -> Result<()> {
    integrator(name).map(drop)
}

impl Default for Integration {
    fn default() -> Self {
        let Options { rtol, merge_radius, max_steps, stop_at_one_cluster, .. } = Options::default();
        let usual = Self {
            rtol,
            merge_radius,
            integrator: "dop853".to_owned(),
            max_steps,
            stop_at_one_cluster,
        };
        Self::of(&Given::default()).unwrap_or(usual)
    }
}

impl Integration {
    /// The options of a run.
    ///
    /// **Errors** an unknown integrator.
    pub fn options<'a>(&self) -> Result<Options<'a>> {
        Ok(Options {
            integrator: integrator(&self.integrator)?,
            rtol: self.rtol,
            merge_radius: self.merge_radius,
            max_steps: self.max_steps,
            stop_at_one_cluster: self.stop_at_one_cluster,
            ..Options::default()
        })
    }
}

parameters! {
    /// How velocities are evaluated.
    #[derive(Clone, Debug)]
    pub struct Evaluation {
        /// Algorithm of the kernel sums (`list kernels`), or auto. If the named algorithm cannot
        /// reach the default accuracy, its own accuracy is used and printed; with --accuracy this
        /// is an error.
        kernel: String, any().form("NAME").or("auto").check(kernel);
        /// Relative accuracy of each velocity. Above 1e-13, auto may choose a faster algorithm.
        /// Default 1e-13; `solve`: rtol / 100 times the kernel width; with noise 1e-9.
        accuracy: Option<f64>, within(EXACT_ACCURACY, LEAST_ACCURACY);
        /// Instruction set: auto, portable, avx2 or avx512.
        simd: String, any().form("NAME").or("auto").hidden().check(instruction_set);
    }
}

/// Largest relative error of a velocity that may be asked for.
pub const LEAST_ACCURACY: f64 = 0.1;

/// **Errors** a text that is no kernel.
fn kernel(text: &str) -> Result<()> {
    KernelChoice::parse(text).map(drop)
}

/// **Errors** a text that is no instruction set of this processor.
fn instruction_set(text: &str) -> Result<()> {
    Isa::parse(text).map(drop)
}
