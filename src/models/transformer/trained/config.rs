//! The settings of a model.

use super::rope::{RopeScaling, RotarySettings};
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
    /// Number of positions of the training.
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

impl Config {
    /// Largest number of tokens of a text; `None` if the positions are scaled to every number.
    pub fn max_tokens(&self) -> Option<usize> {
        let scaling = self.rotary.as_ref().map(|rotary| &rotary.scaling);
        (!matches!(scaling, Some(RopeScaling::Dynamic { .. }))).then_some(self.positions)
    }

    /// The settings for a text of this many tokens.
    #[must_use]
    pub fn for_tokens(&self, count: usize) -> Self {
        let rotary = self.rotary.as_ref().map(|rotary| rotary.for_tokens(count));
        Self { rotary, ..self.clone() }
    }
}
