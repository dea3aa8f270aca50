//! Entropy: production by kernel formulas, and estimators from samples.

pub mod bootstrap;
pub mod estimate;
#[doc(hidden)]
pub mod operation;
pub mod production;
