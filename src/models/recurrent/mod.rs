//! Maps to compare attention with: residual, recurrent and convolutional networks, sequence to sequence with alignment, all on n rows of `R^d`.
//!
//! A map says how one layer is computed from recorded operations ([`trace`]); its Jacobian follows. So the same numbers can be measured of all of
//! them ([`observe`], [`lyapunov`]): cosines, ranks, what a layer changes, which row hears which, growth rates of perturbations.

pub mod alignment;
pub mod cell;
pub mod lyapunov;
pub mod map;
pub mod observe;
pub mod residual;
mod token_map;
pub mod trace;

pub use token_map::{Hears, MapSpec, NamedMap, RecurrentCell, TokenMap, at};
pub use token_map::{normal_matrix, one_layer};
