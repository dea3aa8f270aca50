//! Imports that nearly every claim needs: `use crate::theorem::prelude::*;`.

pub use super::rounding::{TINY, absolute, max_relative_deviation, weight_change};
pub use super::shared::{PAIRS, SYMMETRY_TOLERANCE, normals, sine, unit_matrix, weight};
pub use super::{
    Betas, Case, Claim, Condition, Context, Control, Domain, Finding, Kind, Masses, Proof, Sizes,
    Status,
};
pub use crate::attention::kernel::{Attention, Weights, Workspace};
pub use crate::attention::normalisation::Rescaled;
pub use crate::attention::{
    Dynamics, Energy, EnergyScale, Head, RowWeights, Spec, TimeScale, dynamics, hardmax::Hardmax,
    layer::Layer,
};
pub use crate::continuity::{MeasureDynamics, circle::Circle, density::Density};
pub use crate::error::{Error, Result};
pub use crate::flow::{Options, solve};
pub use crate::num::deviation::{largest, max_difference};
pub use crate::num::stats::{mean_and_error, nan_max, nan_min};
pub use crate::num::vector::{self, axpy, divide, max_abs, max_norm, norm, scale};
pub use crate::num::{
    dense::{identity, mul, symmetric_eigenvalues},
    pairs,
    stream::Stream,
    sum::dot,
};
pub use crate::sphere::{
    Tokens,
    geometry::{chord2, dist, retract},
    law::Law,
};
pub use std::{
    f64::consts::{PI, TAU},
    sync::Arc,
};

/// An end time that no run reaches: every flow is at one cluster before.
pub const FOREVER: f64 = 1e300;

/// A registered dynamics with Q = K = V = I.
pub fn build_dynamics(name: &str, beta: f64, n: usize) -> Result<Dynamics> {
    dynamics::build(name, false, &Spec::new(beta, n))
}
