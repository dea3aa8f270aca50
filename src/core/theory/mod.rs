//! Closed forms and reduced equations that the papers predict.

pub mod bipartite;
pub mod boolean;
pub mod certain;
mod clock;
pub mod collapse;
pub mod equiangular;
pub mod gaussian;
pub mod growth;
pub mod kac_rice;
pub mod long_context;
pub mod noise;
pub mod noise_step;
pub mod normalised;
pub mod parking;
pub mod random_layers;
pub mod random_weights;
pub mod rank_collapse;
pub mod rotary;
pub mod spectra;
pub mod threshold;
pub mod two_cluster;
pub mod uniform;
pub mod wendel;

use crate::attention::RowWeights;
use crate::error::Error;

/// There is no formula for these weights.
#[doc(hidden)]
pub fn only_sa_and_usa(found: RowWeights) -> Error {
    Error::parameter("dynamics", found.name(), "sa or usa, for which there is a formula")
}
