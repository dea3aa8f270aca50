//! The sizes of a model.

use super::rope::RotarySettings;
use crate::attention::dense::Activation;

/// The sizes of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Layers.
    pub layers: usize,
    /// Dimension of the tokens.
    pub d: usize,
    /// Heads.
    pub heads: usize,
    /// Sets of keys and values.
    pub sets: usize,
    /// Rows of a head's queries.
    pub rank: usize,
    /// Hidden units.
    pub hidden: usize,
    /// Dimension of the embeddings, where a map brings them to d.
    pub embedding: usize,
    /// The function of the feed-forward layers.
    pub activation: Activation,
    /// Eps of the norms.
    pub eps: f64,
    /// Most positions.
    pub positions: usize,
    /// Vocabulary.
    pub vocabulary: usize,
    /// Kinds of tokens; 0 where there are none.
    pub kinds: usize,
    /// Rotary positions.
    pub rotary: Option<RotarySettings>,
    /// True where a token sees itself and those before it.
    pub causal: bool,
}
