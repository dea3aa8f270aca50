//! Maps to compare attention with: residual, recurrent and convolutional networks, and sequence to
//! sequence models with alignment, all on n rows of `R^d`.
//!
//! A map computes one layer from recorded operations ([`trace`]), which also give its Jacobian. So
//! the same quantities are measured for all maps ([`observe`], [`lyapunov`]): cosines, ranks, the
//! change by a layer, the dependence of rows on each other, growth rates of perturbations.

pub mod alignment;
pub mod cell;
pub mod lyapunov;
pub mod map;
pub mod observe;
pub mod residual;
mod token_map;
pub mod trace;

pub use token_map::{MapSpec, NamedMap, ReceptiveField, RecurrentCell, TokenMap, linearise_layer};
pub use token_map::{normal_matrix, one_layer};
