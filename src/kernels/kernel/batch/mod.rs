//! Many small systems at once: every lane is a system, so the lanes are full however few tokens there are. Tokens of equal masses under plain
//! attention (phase diagrams: n = 32, thousands of starts), or under heads with matrices.

mod count;
mod heads;
mod pairs;
mod pull;
mod systems;

pub use pull::Pull;
pub use systems::Batch;

/// Lanes of the widest vector.
pub const WIDEST: usize = 8;
