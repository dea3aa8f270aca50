//! Tokens and masses on `S^{d-1}`, tangent vectors, distances, caps, laws of initial tokens and of
//! masses.

use metastable_num::{self as num, error};
use metastable_operation as operation;

pub mod cap;
pub mod geometry;
pub mod law;
pub mod mass_law;
pub mod space;
mod tokens;

pub use tokens::Tokens;
