//! The claims, one file each. A new claim is a new file with an `ENTRY` and its line here.

use super::{Also, Betas, Case, Claim, Context, Control, Domain, Finding, Kind, Masses, Proof, Sizes, Status};
use crate::attention::{Dynamics, Spec, dynamics};
use crate::error::Result;

pub mod angular_momentum;
pub mod antipodal_escape;
pub mod antipodal_symmetry;
pub mod block_inequality;
pub mod cap_overlap;
pub mod cap_overlap_printed;
pub mod causal_limit;
pub mod causal_prefix;
pub mod circle_mean;
pub mod cross_ratios;
pub mod curvature_identity;
pub mod cyclic_order;
pub mod dissipation;
pub mod gradient_structure;
pub mod gram_equation;
pub mod layer_energy;
pub mod layer_energy_general;
pub mod layer_map;
pub mod permutation;
pub mod reflection;
pub mod rotation;
pub mod span;
pub mod speed_bound;
pub mod time_reversal;
pub mod time_scales;
pub mod two_token_orbit;
pub mod uniform_grid;
pub mod unit_norm;
pub mod wendel;

/// All claims, by file name.
pub static ALL: &[&Claim] = include!(concat!(env!("OUT_DIR"), "/claims.rs"));

/// A horizon that no run meets: the flow ends at one cluster long before.
const FOREVER: f64 = 1e300;

/// A dynamics by name with identity matrices.
fn plain(name: &str, beta: f64, n: usize) -> Result<Box<dyn Dynamics>> {
    dynamics::build(name, false, &Spec::new(beta, n))
}
