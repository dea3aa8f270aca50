//! Proofs by interval arithmetic: critical points, modes of kernel density estimates, convergence of a start, times of mergers.

use metastable_core::{attention, landscape};
use metastable_num::{self as num, error};
use metastable_sphere as sphere;

pub mod certificate;
pub mod dwell;
pub mod modes;
pub mod trajectory;
