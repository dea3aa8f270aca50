//! Closed forms and reduced equations that the papers predict.

mod clock;
pub mod collapse;
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
