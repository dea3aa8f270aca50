//! Predictions of the papers: closed forms and reduced equations.

pub mod bipartite;
pub mod boolean;
pub mod collapse;
pub mod convergence_criteria;
pub mod equiangular;
mod equiangular_time;
pub mod gaussian;
pub mod growth;
pub mod interaction;
pub mod kac_rice;
pub mod long_context;
pub mod noise;
pub mod noise_step;
pub mod noisy_pair;
pub mod normalised;
pub mod parking;
pub mod partitions;
pub mod phase_slip;
pub mod random_layers;
pub mod random_weights;
pub mod rank_collapse;
pub mod rotary;
pub mod spectra;
pub mod third_derivative;
pub mod threshold;
pub mod two_cluster;
pub mod uniform;
pub mod wendel;

use crate::attention::RowWeights;
use crate::error::Error;

/// The error for weights without a closed form.
#[doc(hidden)]
pub fn no_formula_error(found: RowWeights) -> Error {
    Error::parameter("dynamics", found.name(), "sa or usa, for which there is a formula")
}
