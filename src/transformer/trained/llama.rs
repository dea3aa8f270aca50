//! Llama and what is built like it: pre-norm with RMSNorm, rotary positions, keys and values shared by groups of heads, gated feed-forward layers.

use super::architecture::{Architecture, TensorStore};
use super::config::{Config, Keys};
use crate::attention::feed_forward::Activation;
use crate::attention::pattern::{Causal, Joined, Pairs, Rotary};
use crate::error::Result;
use crate::transformer::block::{BlockPart, NormPlace, Placed, TransformerBlock};
use crate::transformer::{Centring, Grouping, Mlp, Norm, Projected};
use serde_json::json;
use std::sync::Arc;

/// Touvron et al. 2023.
pub struct Llama;

impl Architecture for Llama {
    fn name(&self) -> &'static str {
        "llama"
    }

    fn config(&self, keys: &Keys) -> Result<Config> {
        let (d, heads) = (keys.size("hidden_size", None)?, keys.size("num_attention_heads", None)?);
        keys.must_be("rope_scaling", &[])?;
        keys.must_be("attention_bias", &[json!(false)])?;
        keys.must_be("mlp_bias", &[json!(false)])?;
        let pairs = keys.word("rotary_pairs", &[("halves", Pairs::Halves), ("adjacent", Pairs::Adjacent)])?;
        Ok(Config {
            layers: keys.size("num_hidden_layers", None)?,
            d,
            heads,
            sets: keys.size("num_key_value_heads", Some(heads))?,
            rank: keys.rank(d, heads)?,
            hidden: keys.size("intermediate_size", None)?,
            embedding: d,
            activation: keys.word("hidden_act", &[("silu", Activation::Silu), ("gelu", Activation::Gelu), ("relu", Activation::Relu)])?,
            eps: keys.number("rms_norm_eps", 1e-6)?,
            positions: keys.size("max_position_embeddings", None)?,
            vocabulary: keys.size("vocab_size", None)?,
            kinds: 0,
            rotary: Some((keys.number("rope_theta", 1e4)?, pairs)),
        })
    }

    fn shapes(&self, c: &Config) -> Vec<(String, Vec<usize>)> {
        let mut out = vec![("embed_tokens.weight".to_owned(), vec![c.vocabulary, c.d]), ("norm.weight".to_owned(), vec![c.d])];
        for l in 0..c.layers {
            let mut add = |name: &str, shape: Vec<usize>| out.push((format!("layers.{l}.{name}.weight"), shape));
            add("input_layernorm", vec![c.d]);
            add("post_attention_layernorm", vec![c.d]);
            add("self_attn.q_proj", vec![c.heads * c.rank, c.d]);
            add("self_attn.k_proj", vec![c.sets * c.rank, c.d]);
            add("self_attn.v_proj", vec![c.sets * c.rank, c.d]);
            add("self_attn.o_proj", vec![c.d, c.heads * c.rank]);
            add("mlp.gate_proj", vec![c.hidden, c.d]);
            add("mlp.up_proj", vec![c.hidden, c.d]);
            add("mlp.down_proj", vec![c.d, c.hidden]);
        }
        out
    }

    fn prefixes(&self) -> &'static [&'static str] {
        &["", "model."]
    }

    fn is_beside(&self, name: &str) -> bool {
        name.starts_with("lm_head.") || name.starts_with("rope_freqs") || name.ends_with("rotary_emb.inv_freq")
    }

    fn in_first_block(&self, name: &str) -> bool {
        name.starts_with("layers.0.")
    }

    fn embed(&self, store: &TensorStore, _: &Config, ids: &[usize]) -> Result<Vec<f64>> {
        store.rows("embed_tokens.weight", ids)
    }

    fn block(&self, store: &TensorStore, c: &Config, l: usize) -> Result<TransformerBlock> {
        let at = |name: &str| format!("layers.{l}.{name}");
        let map = |name: &str, inputs: usize| store.linear(&at(name), inputs, false);
        let (base, pairs) = c.rotary.unwrap_or((1e4, Pairs::Halves));
        let pattern = Joined::new(vec![Box::new(Causal), Box::new(Rotary::new(base, pairs, c.rank)?)]);
        let maps = [
            map("self_attn.q_proj", c.d)?,
            map("self_attn.k_proj", c.d)?,
            map("self_attn.v_proj", c.d)?,
            map("self_attn.o_proj", c.heads * c.rank)?,
        ];
        let attention = Projected::new(&at("self_attn"), maps, Grouping { heads: c.heads, sets: c.sets }, Arc::new(pattern))?;
        let (up, gate, down) = (map("mlp.up_proj", c.d)?, map("mlp.gate_proj", c.d)?, map("mlp.down_proj", c.hidden)?);
        let mlp = Mlp::new(&at("mlp"), up, Some(gate), down, c.activation)?;
        let norm = |name: &str| rms(store, &at(name), c.eps);
        Ok(TransformerBlock {
            parts: vec![
                Placed::new(BlockPart::Attention(attention), NormPlace::Pre, norm("input_layernorm")?, None),
                Placed::new(BlockPart::Mlp(mlp), NormPlace::Pre, norm("post_attention_layernorm")?, None),
            ],
        })
    }

    fn last(&self, store: &TensorStore, config: &Config) -> Result<Option<Norm>> {
        rms(store, "norm", config.eps).map(Some)
    }
}

fn rms(store: &TensorStore, name: &str, eps: f64) -> Result<Norm> {
    Norm::new(name, Centring::Nothing, eps, store.all(&format!("{name}.weight"))?, Vec::new())
}
