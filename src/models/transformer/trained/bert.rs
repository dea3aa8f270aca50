//! BERT and sentence transformers based on it: post-norm, learned positions.

use super::architecture::{
    Architecture, TensorStore, bert_embeddings, embedding_shapes, linear_shapes, norm_shapes,
};
use super::config::Config;
use super::keys::Keys;
use super::settings::{CROSS, ModelKey, PRUNED, QUANTISED};
use crate::attention::dense::Activation;
use crate::attention::pattern::{Causal, FullAttention, Pattern};
use crate::error::Result;
use crate::transformer::block::{NormPlacement, TransformerBlock};
use crate::transformer::{AttentionLayer, Grouping, Mlp};
use std::sync::Arc;

/// Devlin et al. 2019.
pub struct Bert;

/// Positions are added to the words.
pub(super) const POSITIONS: ModelKey = ModelKey::one_of(
    "position_embedding_type",
    &["\"absolute\""],
    "positions that are not added to the words",
    "\"relative_key\"",
);

static SETTINGS: [ModelKey; 14] = [
    ModelKey::read("hidden_size", "dimension of the tokens", "8"),
    ModelKey::read("num_hidden_layers", "layers", "1"),
    ModelKey::read("num_attention_heads", "heads", "4"),
    ModelKey::read("intermediate_size", "hidden units", "12"),
    ModelKey::read("hidden_act", "the function of the feed-forward layers", "\"relu\""),
    ModelKey::read("layer_norm_eps", "eps of the norms", "0.1"),
    ModelKey::read("max_position_embeddings", "most positions", "13"),
    ModelKey::read("vocab_size", "vocabulary", "29"),
    ModelKey::read("type_vocab_size", "kinds of tokens", "3"),
    ModelKey::read("is_decoder", "a token sees itself and those before it", "true"),
    POSITIONS,
    PRUNED,
    CROSS,
    QUANTISED,
];

/// The settings that BERT and ALBERT share. `activation` is that of a file that names none.
pub(super) fn encoder(keys: &Keys, activation: Activation, causal: bool) -> Result<Config> {
    let (d, heads) = (keys.size("hidden_size", None)?, keys.size("num_attention_heads", None)?);
    Ok(Config {
        layers: keys.size("num_hidden_layers", None)?,
        d,
        heads,
        kv_heads: heads,
        rank: keys.rank(d, heads)?,
        hidden: keys.size("intermediate_size", None)?,
        embedding: d,
        activation: keys.activation("hidden_act", activation)?,
        eps: keys.number("layer_norm_eps", 1e-12)?,
        positions: keys.size("max_position_embeddings", None)?,
        vocabulary: keys.size("vocab_size", None)?,
        token_types: keys.size("type_vocab_size", Some(2))?,
        rotary: None,
        causal,
    })
}

impl Architecture for Bert {
    fn name(&self) -> &'static str {
        "bert"
    }

    fn settings(&self) -> &'static [ModelKey] {
        &SETTINGS
    }

    fn config(&self, keys: &Keys) -> Result<Config> {
        encoder(keys, Activation::Gelu, keys.boolean("is_decoder", false)?)
    }

    fn shapes(&self, c: &Config) -> Vec<(String, Vec<usize>)> {
        let mut out = embedding_shapes(c);
        for l in 0..c.layers {
            let at = |name: &str| format!("encoder.layer.{l}.{name}");
            for name in ["query", "key", "value"] {
                out.extend(linear_shapes(
                    &at(&format!("attention.self.{name}")),
                    c.d,
                    c.heads * c.rank,
                ));
            }
            out.extend(linear_shapes(&at("attention.output.dense"), c.heads * c.rank, c.d));
            out.extend(norm_shapes(&at("attention.output.LayerNorm"), c.d));
            out.extend(linear_shapes(&at("intermediate.dense"), c.d, c.hidden));
            out.extend(linear_shapes(&at("output.dense"), c.hidden, c.d));
            out.extend(norm_shapes(&at("output.LayerNorm"), c.d));
        }
        out
    }

    fn prefixes(&self) -> &'static [&'static str] {
        &["", "bert."]
    }

    fn is_ignored(&self, name: &str) -> bool {
        ["pooler.", "cls.", "classifier.", "dropout."].iter().any(|p| name.starts_with(p))
    }

    fn in_first_block(&self, name: &str) -> bool {
        name.starts_with("encoder.layer.0.")
    }

    fn embed(&self, store: &TensorStore, config: &Config, ids: &[usize]) -> Result<Vec<f64>> {
        bert_embeddings(store, config, ids)
    }

    fn block(&self, store: &TensorStore, c: &Config, l: usize) -> Result<TransformerBlock> {
        let at = |name: &str| format!("encoder.layer.{l}.{name}");
        let maps = [
            store.linear(&at("attention.self.query"), c.d, true)?,
            store.linear(&at("attention.self.key"), c.d, true)?,
            store.linear(&at("attention.self.value"), c.d, true)?,
            store.linear(&at("attention.output.dense"), c.heads * c.rank, true)?,
        ];
        let pattern: Arc<dyn Pattern> =
            if c.causal { Arc::new(Causal) } else { Arc::new(FullAttention) };
        let attention = AttentionLayer::new(
            &at("attention"),
            maps,
            Grouping { heads: c.heads, kv_heads: c.kv_heads },
            pattern,
        )?;
        let (first, second) = (
            store.linear(&at("intermediate.dense"), c.d, true)?,
            store.linear(&at("output.dense"), c.hidden, true)?,
        );
        let mlp = Mlp::new(&at("intermediate"), first, None, second, c.activation)?;
        let (a, b) = (
            store.layer_norm(&at("attention.output.LayerNorm"), c.eps)?,
            store.layer_norm(&at("output.LayerNorm"), c.eps)?,
        );
        Ok(TransformerBlock::new(NormPlacement::Post, (attention, a), (mlp, b)))
    }
}
