//! Sums over pairs of tokens, in vector lanes: heads and patterns of attention, kernel sums, products of matrices.
//!
//! Everything whose time is the time of a run stands here: this package alone is compiled as one part with all optimisations.

use metastable_num::{self as num, error};
use metastable_sphere as sphere;

#[doc(hidden)]
pub mod dense;
mod head;
pub mod heads;
pub mod kernel;
#[doc(hidden)]
pub mod leaders;
pub mod pattern;
mod weights;

pub use head::{Head, Matrix};
