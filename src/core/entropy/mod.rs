//! Entropy: production by kernel formulas, and estimators from samples.

pub mod bootstrap;
pub mod estimate;
pub mod production;
