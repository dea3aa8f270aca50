//! Llama and models of the same design: pre-norm with RMSNorm, rotary positions, keys and values
//! shared by groups of heads, gated feed-forward layers.

use super::architecture::{Architecture, TensorStore};
use super::config::Config;
use super::keys::Keys;
use super::rope::{ROPE, RotarySettings};
use super::settings::{ModelKey, QUANTISED};
use crate::attention::dense::Activation;
use crate::attention::pattern::{Causal, CombinedPattern, Pattern, Rotary};
use crate::error::Result;
use crate::transformer::block::{NormPlacement, TransformerBlock};
use crate::transformer::{AttentionLayer, Centring, Grouping, Mlp, Norm};
use std::sync::Arc;

/// Touvron et al. 2023.
pub struct Llama;

static SETTINGS: [ModelKey; 20] = [
    ModelKey::read("hidden_size", "dimension of the tokens", "8"),
    ModelKey::read("num_hidden_layers", "layers", "1"),
    ModelKey::read("num_attention_heads", "heads", "2"),
    ModelKey::read("num_key_value_heads", "heads of keys and values", "4"),
    ModelKey::read("head_dim", "rows of a head's queries", "8"),
    ModelKey::read("intermediate_size", "hidden units", "12"),
    ModelKey::read("hidden_act", "the function of the feed-forward layers", "\"gelu\""),
    ModelKey::read("rms_norm_eps", "eps of the norms", "0.1"),
    ModelKey::read("max_position_embeddings", "most positions", "4"),
    ModelKey::read("vocab_size", "vocabulary", "29"),
    ModelKey::read("rope_theta", "the base of rotary positions", "50.0"),
    ModelKey::read(
        "rotary_pairs",
        "which coordinates turn together: halves or, in GGUF files, adjacent ones",
        "\"adjacent\"",
    ),
    ModelKey::object("rope_scaling", &ROPE, "how the angles of rotary positions are scaled"),
    ModelKey::object("rope_parameters", &ROPE, "rope_scaling in newer files, with the base"),
    ModelKey::one_of(
        "partial_rotary_factor",
        &["1.0"],
        "the share of a head's coordinates that turn",
        "0.5",
    ),
    ModelKey::one_of(
        "rope_interleaved",
        &["false"],
        "rotary pairs of adjacent coordinates",
        "true",
    ),
    ModelKey::one_of("attention_bias", &["false"], "offsets of queries, keys and values", "true"),
    ModelKey::one_of("mlp_bias", &["false"], "offsets of the feed-forward layers", "true"),
    ModelKey::one_of("sliding_window", &[], "a sliding window of visible tokens", "4"),
    QUANTISED,
];

/// Relative tolerance between the rotary frequencies that a file stores and those of its settings:
/// half precision.
const HALF_PRECISION: f64 = 1.0 / 128.0;

/// Rotary positions of the heads of layer l, from the settings and from the table of divisors if
/// the file has one.
fn rotary(store: &TensorStore, c: &Config, settings: &RotarySettings, l: usize) -> Result<Rotary> {
    let half = c.rank / 2;
    let read = |name: &str| -> Result<Vec<f64>> {
        let numbers = if store.has(name) { store.all(name)? } else { Vec::new() };
        if numbers.is_empty() || numbers.len() == half && numbers.iter().all(|v| *v > 0.0) {
            return Ok(numbers);
        }
        let problem = format!(
            "found {} numbers, the least of them {}, expected {half} above 0, one for each pair",
            numbers.len(),
            smallest(&numbers)
        );
        Err(store.error(name, problem))
    };
    let stored = format!("layers.{l}.self_attn.rotary_emb.inv_freq");
    for (k, found) in read(&stored)?.into_iter().enumerate() {
        let expected = settings.base.powf(-2.0 * k as f64 / c.rank as f64);
        if (found - expected).abs() > HALF_PRECISION * expected {
            return Err(store.error(
                &stored,
                format!(
                    "found {found} at number {}, expected {expected} of the base {}",
                    k + 1,
                    settings.base
                ),
            ));
        }
    }
    settings.pattern(c.rank, &read(DIVISORS)?)
}

fn smallest(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The tensor of divisors of the angles of pairs in GGUF files of Llama 3.
const DIVISORS: &str = "rope_freqs.weight";

impl Architecture for Llama {
    fn name(&self) -> &'static str {
        "llama"
    }

    fn settings(&self) -> &'static [ModelKey] {
        &SETTINGS
    }

    fn config(&self, keys: &Keys) -> Result<Config> {
        let (d, heads) = (keys.size("hidden_size", None)?, keys.size("num_attention_heads", None)?);
        let positions = keys.size("max_position_embeddings", None)?;
        Ok(Config {
            layers: keys.size("num_hidden_layers", None)?,
            d,
            heads,
            kv_heads: keys.size("num_key_value_heads", Some(heads))?,
            rank: if keys.value("head_dim").is_null() {
                keys.rank(d, heads)?
            } else {
                keys.size("head_dim", None)?
            },
            hidden: keys.size("intermediate_size", None)?,
            embedding: d,
            activation: keys.activation("hidden_act", Activation::Silu)?,
            eps: keys.number("rms_norm_eps", 1e-6)?,
            positions,
            vocabulary: keys.size("vocab_size", None)?,
            token_types: 0,
            rotary: Some(RotarySettings::read(keys, positions)?),
            causal: true,
        })
    }

    fn shapes(&self, c: &Config) -> Vec<(String, Vec<usize>)> {
        let mut out = vec![
            ("embed_tokens.weight".to_owned(), vec![c.vocabulary, c.d]),
            ("norm.weight".to_owned(), vec![c.d]),
        ];
        for l in 0..c.layers {
            let mut add = |name: &str, shape: Vec<usize>| {
                out.push((format!("layers.{l}.{name}.weight"), shape))
            };
            add("input_layernorm", vec![c.d]);
            add("post_attention_layernorm", vec![c.d]);
            add("self_attn.q_proj", vec![c.heads * c.rank, c.d]);
            add("self_attn.k_proj", vec![c.kv_heads * c.rank, c.d]);
            add("self_attn.v_proj", vec![c.kv_heads * c.rank, c.d]);
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

    fn is_ignored(&self, name: &str) -> bool {
        name.starts_with("lm_head.")
            || name == DIVISORS
            || name.ends_with("self_attn.rotary_emb.inv_freq")
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
        let mut patterns: Vec<Box<dyn Pattern>> = vec![Box::new(Causal)];
        if let Some(settings) = &c.rotary {
            patterns.push(Box::new(rotary(store, c, settings, l)?));
        }
        let pattern = CombinedPattern::new(patterns);
        let maps = [
            map("self_attn.q_proj", c.d)?,
            map("self_attn.k_proj", c.d)?,
            map("self_attn.v_proj", c.d)?,
            map("self_attn.o_proj", c.heads * c.rank)?,
        ];
        let attention = AttentionLayer::new(
            &at("self_attn"),
            maps,
            Grouping { heads: c.heads, kv_heads: c.kv_heads },
            Arc::new(pattern),
        )?;
        let (up, gate, down) =
            (map("mlp.up_proj", c.d)?, map("mlp.gate_proj", c.d)?, map("mlp.down_proj", c.hidden)?);
        let mlp = Mlp::new(&at("mlp"), up, Some(gate), down, c.activation)?;
        let (a, b) = (
            rms(store, &at("input_layernorm"), c.eps)?,
            rms(store, &at("post_attention_layernorm"), c.eps)?,
        );
        Ok(TransformerBlock::new(NormPlacement::Pre, (attention, a), (mlp, b)))
    }

    fn final_norm(&self, store: &TensorStore, config: &Config) -> Result<Option<Norm>> {
        rms(store, "norm", config.eps).map(Some)
    }
}

fn rms(store: &TensorStore, name: &str, eps: f64) -> Result<Norm> {
    Norm::new(name, Centring::None, eps, store.all(&format!("{name}.weight"))?, Vec::new())
}
