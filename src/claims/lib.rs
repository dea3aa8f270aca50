//! Claims of the literature as tests with controls, and studies that yield tables.

use metastable_core::{attention, clusters, continuity, flow, landscape, theory};
use metastable_models::{recurrent, transformer};
use metastable_num::{self as num, error};
use metastable_proofs as proofs;
use metastable_sphere as sphere;

pub mod study;
pub mod theorem;
