//! The settings of a model.

use super::rope::RotarySettings;
use crate::attention::dense::Activation;

/// The settings of a model: sizes and choices.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Number of layers.
    pub layers: usize,
    /// Dimension of the tokens.
    pub d: usize,
    /// Number of heads.
    pub heads: usize,
    /// Number of heads of keys and values.
    pub kv_heads: usize,
    /// Rows of the queries of a head.
    pub rank: usize,
    /// Number of hidden units of a feed-forward layer.
    pub hidden: usize,
    /// Dimension of the embeddings. If it is not d, a linear map follows them.
    pub embedding: usize,
    /// Activation of the feed-forward layers.
    pub activation: Activation,
    /// `eps` of the norms.
    pub eps: f64,
    /// Largest number of positions.
    pub positions: usize,
    /// Size of the vocabulary.
    pub vocabulary: usize,
    /// Number of token types; 0 if the model has none.
    pub token_types: usize,
    /// Rotary positions.
    pub rotary: Option<RotarySettings>,
    /// Causal mask: a token sees itself and earlier tokens.
    pub causal: bool,
}
