//! The claims, one file each. A new claim is a new file with an `ENTRY` and its line here.

use super::{Also, Betas, Case, Claim, Context, Control, Domain, Finding, Kind, Masses, Proof, Sizes, Status};
use crate::attention::{Dynamics, Spec, dynamics};
use crate::error::Result;

pub mod angular_momentum;
pub mod cap_overlap;
pub mod cap_overlap_printed;
pub mod wendel;

/// All claims, by file name.
pub static ALL: &[&Claim] = include!(concat!(env!("OUT_DIR"), "/claims.rs"));

/// A dynamics by name with identity matrices.
fn plain(name: &str, beta: f64, n: usize) -> Result<Box<dyn Dynamics>> {
    dynamics::build(name, false, &Spec::new(beta, n))
}
