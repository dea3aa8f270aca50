//! Sums over pairs of tokens in SIMD: attention heads, patterns, kernel sums, matrix products.
//!
//! Nearly all of the run time is spent here. This crate alone is compiled as one codegen unit with
//! all optimisations.

use metastable_num::{self as num, error};
use metastable_sphere as sphere;

#[doc(hidden)]
pub mod dense;
mod head;
pub mod heads;
pub mod kernel;
pub mod pattern;
#[doc(hidden)]
pub mod shifted_softmax;
mod weights;

pub use head::{Head, Matrix};
