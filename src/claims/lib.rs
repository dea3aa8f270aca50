//! Claims of the literature, each tested with a control.

use metastable_core::{attention, clusters, continuity, flow, landscape, theory};
use metastable_models::{recurrent, transformer};
use metastable_num::{self as num, error};
use metastable_proofs as proofs;
use metastable_sphere as sphere;

pub mod theorem;
