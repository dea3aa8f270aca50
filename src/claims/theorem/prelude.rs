//! What nearly every claim uses: `use crate::theorem::prelude::*;`.

pub use super::rounding::{TINY, sizes, weight_change, worst_share};
pub use super::{Also, Betas, Case, Claim, Context, Control, Domain, Finding, Kind, Masses, Proof, Sizes, Status};
pub use crate::attention::kernel::{Attention, Weights, Workspace};
pub use crate::attention::normalisation::Rescaled;
pub use crate::attention::{Dynamics, Energy, EnergyScale, Head, RowWeights, Spec, TimeScale, dynamics, hardmax::Hardmax, layer::Layer};
pub use crate::continuity::{Medium, circle::Circle, density::Density};
pub use crate::error::{Error, Result};
pub use crate::flow::{Options, solve};
pub use crate::num::stats::{mean_and_error, nan_max};
pub use crate::num::vector::{self, axpy, divide, max_abs, max_difference, max_norm, norm, scale};
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

/// A horizon that no run meets: the flow ends at one cluster long before.
pub const FOREVER: f64 = 1e300;

/// A dynamics by name with identity matrices.
pub fn plain(name: &str, beta: f64, n: usize) -> Result<Dynamics> {
    dynamics::build(name, false, &Spec::new(beta, n))
}
