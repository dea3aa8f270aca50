//! ALBERT: one block for all layers, embeddings of a smaller dimension.

use super::architecture::{
    Architecture, TensorStore, bert_embeddings, embedding_shapes, linear_shapes, norm_shapes,
};
use super::bert::{POSITIONS, encoder};
use super::config::Config;
use super::keys::Keys;
use super::settings::{CROSS, ModelKey, PRUNED, QUANTISED};
use crate::attention::dense::Activation;
use crate::attention::pattern::FullAttention;
use crate::error::Result;
use crate::transformer::block::{NormPlacement, TransformerBlock};
use crate::transformer::{AttentionLayer, Grouping, Mlp};
use std::sync::Arc;

/// Lan et al. 2020.
pub struct Albert;

/// The one block.
const BLOCK: &str = "encoder.albert_layer_groups.0.albert_layers.0";

static SETTINGS: [ModelKey; 17] = [
    ModelKey::read("hidden_size", "dimension of the tokens", "8"),
    ModelKey::read("embedding_size", "dimension of the embeddings", "4"),
    ModelKey::read("num_hidden_layers", "layers", "1"),
    ModelKey::read("num_attention_heads", "heads", "2"),
    ModelKey::read("intermediate_size", "hidden units", "12"),
    ModelKey::read("hidden_act", "the function of the feed-forward layers", "\"relu\""),
    ModelKey::read("layer_norm_eps", "eps of the norms", "0.1"),
    ModelKey::read("max_position_embeddings", "most positions", "13"),
    ModelKey::read("vocab_size", "vocabulary", "29"),
    ModelKey::read("type_vocab_size", "kinds of tokens", "3"),
    ModelKey::one_of("num_hidden_groups", &["1"], "several blocks", "2"),
    ModelKey::one_of("inner_group_num", &["1"], "several layers in a block", "2"),
    ModelKey::one_of("is_decoder", &["false"], "a causal mask", "true"),
    POSITIONS,
    PRUNED,
    CROSS,
    QUANTISED,
];

impl Architecture for Albert {
    fn name(&self) -> &'static str {
        "albert"
    }

    fn settings(&self) -> &'static [ModelKey] {
        &SETTINGS
    }

    fn config(&self, keys: &Keys) -> Result<Config> {
        Ok(Config {
            embedding: keys.size("embedding_size", Some(128))?,
            ..encoder(keys, Activation::GeluTanh, false)?
        })
    }

    fn shapes(&self, c: &Config) -> Vec<(String, Vec<usize>)> {
        let mut out = embedding_shapes(c);
        let at = |name: &str| format!("{BLOCK}.{name}");
        out.extend(linear_shapes("encoder.embedding_hidden_mapping_in", c.embedding, c.d));
        for name in ["query", "key", "value", "dense"] {
            out.extend(linear_shapes(&at(&format!("attention.{name}")), c.d, c.d));
        }
        out.extend(norm_shapes(&at("attention.LayerNorm"), c.d));
        out.extend(linear_shapes(&at("ffn"), c.d, c.hidden));
        out.extend(linear_shapes(&at("ffn_output"), c.hidden, c.d));
        out.extend(norm_shapes(&at("full_layer_layer_norm"), c.d));
        out
    }

    fn prefixes(&self) -> &'static [&'static str] {
        &["", "albert."]
    }

    fn is_ignored(&self, name: &str) -> bool {
        ["pooler.", "predictions.", "sop_classifier.", "classifier."]
            .iter()
            .any(|p| name.starts_with(p))
    }

    fn block_of_layer(&self, _: usize) -> usize {
        0
    }

    fn in_first_block(&self, name: &str) -> bool {
        name.starts_with(BLOCK)
    }

    fn embed(&self, store: &TensorStore, config: &Config, ids: &[usize]) -> Result<Vec<f64>> {
        let small = bert_embeddings(store, config, ids)?;
        Ok(store
            .linear("encoder.embedding_hidden_mapping_in", config.embedding, true)?
            .apply(&small))
    }

    fn block(&self, store: &TensorStore, c: &Config, _: usize) -> Result<TransformerBlock> {
        let at = |name: &str| format!("{BLOCK}.{name}");
        let map = |name: &str| store.linear(&at(name), c.d, true);
        let maps = [
            map("attention.query")?,
            map("attention.key")?,
            map("attention.value")?,
            map("attention.dense")?,
        ];
        let attention = AttentionLayer::new(
            &at("attention"),
            maps,
            Grouping { heads: c.heads, kv_heads: c.kv_heads },
            Arc::new(FullAttention),
        )?;
        let mlp = Mlp::new(
            &at("ffn"),
            map("ffn")?,
            None,
            store.linear(&at("ffn_output"), c.hidden, true)?,
            c.activation,
        )?;
        let (a, b) = (
            store.layer_norm(&at("attention.LayerNorm"), c.eps)?,
            store.layer_norm(&at("full_layer_layer_norm"), c.eps)?,
        );
        Ok(TransformerBlock::new(NormPlacement::Post, (attention, a), (mlp, b)))
    }
}
