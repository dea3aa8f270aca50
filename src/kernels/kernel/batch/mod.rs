//! Many small systems at once, one system per lane: the lanes are full for any number of tokens.
//! Supports tokens of equal masses under plain attention (phase diagrams: n = 32, thousands of
//! starts), other interactions, or general heads.

mod count_pairs;
mod field;
mod heads;
mod plain;
mod series;
mod systems;

pub use field::BatchField;
pub use systems::Batch;

/// Number of lanes of the widest vector.
pub const MAX_LANES: usize = 8;
