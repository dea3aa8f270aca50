//! Closed forms and reduced equations that the papers predict.

mod clock;
pub mod collapse;
pub mod dwell;
pub mod equiangular;
pub mod growth;
pub mod kac_rice;
pub mod noise;
pub mod parking;
pub mod spectra;
pub mod threshold;
pub mod two_cluster;
pub mod uniform;
pub mod wendel;

use crate::attention::RowWeights;
use crate::error::Error;

/// There is no formula for these weights.
fn only_sa_and_usa(found: RowWeights) -> Error {
    Error::parameter("dynamics", found.name(), "sa or usa, for which there is a formula")
}
