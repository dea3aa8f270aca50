//! Self-attention dynamics: the dynamics itself, integration in time, densities, critical points,
//! clusters, entropy, closed forms.

use metastable_num::{self as num, error};
use metastable_operation::{self as operation, parameters};
use metastable_sphere as sphere;

pub mod attention;
pub mod clusters;
pub mod continuity;
pub mod entropy;
pub mod flow;
// Landscape searches are not built for the browser.
#[cfg(not(target_family = "wasm"))]
pub mod landscape;
pub mod prediction;
pub mod theory;
