//! Proofs by interval arithmetic: critical points of the energy, modes of kernel density estimates,
//! convergence of all tokens to one point, and the time in which two clusters merge.

use metastable_core::attention;
use metastable_num::{self as num, error};
use metastable_sphere as sphere;

mod box_search;
pub mod complete_list;
pub mod critical_point;
mod dense_intervals;
mod dyadic;
pub mod landscape;
pub mod merge_time;
pub mod modes;
pub mod spheres;
pub mod trajectory;
