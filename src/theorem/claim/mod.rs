//! The claims, one file each. A new claim is a new file with an `ENTRY` and its line here.

use super::{Also, Betas, Case, Claim, Context, Control, Domain, Finding, Kind, Masses, Proof, Sizes, Status};
use crate::attention::{Dynamics, Spec, dynamics};
use crate::error::Result;

pub mod angular_momentum;
pub mod cap_overlap;
pub mod cap_overlap_printed;
pub mod circle_modes;
pub mod cluster_positions;
pub mod cluster_positions_iid;
pub mod dobrushin;
pub mod entropy_slopes;
pub mod entropy_slopes_folklore;
pub mod layers_and_equation;
pub mod local_limit;
pub mod local_limit_folklore;
pub mod mean_field_collapse;
pub mod mean_field_collapse_folklore;
pub mod mean_field_rate;
pub mod mode_bracket;
pub mod mode_endpoint_printed;
pub mod mode_growth;
pub mod mode_growth_printed;
pub mod mode_samples_printed;
pub mod particle_growth;
pub mod quantile_rate;
pub mod sa_entropy;
pub mod sphere_modes;
pub mod two_atoms;
pub mod usa_entropy;
pub mod wendel;

/// All claims, by file name.
pub static ALL: &[&Claim] = include!(concat!(env!("OUT_DIR"), "/claims.rs"));

/// A dynamics by name with identity matrices.
fn plain(name: &str, beta: f64, n: usize) -> Result<Box<dyn Dynamics>> {
    dynamics::build(name, false, &Spec::new(beta, n))
}
