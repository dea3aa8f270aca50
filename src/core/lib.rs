//! Dynamics of attention: what moves tokens, how time passes, densities, critical points, clusters, entropy, closed forms.

use metastable_num::{self as num, error};
use metastable_sphere as sphere;

pub mod attention;
pub mod clusters;
pub mod continuity;
pub mod entropy;
pub mod flow;
// A browser moves tokens: searches stay outside.
#[cfg(not(target_family = "wasm"))]
pub mod landscape;
pub mod theory;
