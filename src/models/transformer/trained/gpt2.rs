//! GPT-2: pre-norm, causal, learned positions. Its matrices are stored transposed.

use super::architecture::{Architecture, TensorStore, norm_shapes};
use super::config::Config;
use super::keys::Keys;
use super::settings::{CROSS, ModelKey, PRUNED, QUANTISED};
use crate::attention::dense::Activation;
use crate::attention::pattern::Causal;
use crate::error::Result;
use crate::transformer::block::{NormPlacement, TransformerBlock};
use crate::transformer::{AttentionLayer, Grouping, Linear, Mlp, Norm};
use std::sync::Arc;

/// Radford et al. 2019.
pub struct Gpt2;

static SETTINGS: [ModelKey; 17] = [
    ModelKey::read("n_embd", "dimension of the tokens", "8"),
    ModelKey::read("n_layer", "layers", "1"),
    ModelKey::read("n_head", "heads", "2"),
    ModelKey::read("n_inner", "hidden units", "32"),
    ModelKey::read("activation_function", "the function of the feed-forward layers", "\"relu\""),
    ModelKey::read("layer_norm_epsilon", "eps of the norms", "0.1"),
    ModelKey::read("n_positions", "most positions", "13"),
    ModelKey::read("vocab_size", "vocabulary", "29"),
    ModelKey::same_as("hidden_size", "n_embd", "8"),
    ModelKey::same_as("num_hidden_layers", "n_layer", "1"),
    ModelKey::same_as("num_attention_heads", "n_head", "2"),
    ModelKey::same_as("max_position_embeddings", "n_positions", "13"),
    ModelKey::one_of(
        "scale_attn_weights",
        &["true"],
        "logits that are not divided by the root of the rank",
        "false",
    ),
    ModelKey::one_of(
        "scale_attn_by_inverse_layer_idx",
        &["false"],
        "logits divided by the number of the layer",
        "true",
    ),
    PRUNED,
    CROSS,
    QUANTISED,
];

/// Weight and bias of a map whose weight is stored as inputs x outputs.
fn transposed(store: &TensorStore, name: &str, inputs: usize) -> Result<(Vec<f64>, Vec<f64>)> {
    let (by_column, bias) =
        (store.all(&format!("{name}.weight"))?, store.all(&format!("{name}.bias"))?);
    let outputs = bias.len();
    Ok(((0..by_column.len()).map(|k| by_column[k % inputs * outputs + k / inputs]).collect(), bias))
}

impl Architecture for Gpt2 {
    fn name(&self) -> &'static str {
        "gpt2"
    }

    fn settings(&self) -> &'static [ModelKey] {
        &SETTINGS
    }

    fn config(&self, keys: &Keys) -> Result<Config> {
        let (d, heads) = (keys.size("n_embd", None)?, keys.size("n_head", None)?);
        Ok(Config {
            layers: keys.size("n_layer", None)?,
            d,
            heads,
            kv_heads: heads,
            rank: keys.rank(d, heads)?,
            hidden: keys.size("n_inner", Some(4 * d))?,
            embedding: d,
            activation: keys.activation("activation_function", Activation::GeluTanh)?,
            eps: keys.number("layer_norm_epsilon", 1e-5)?,
            positions: keys.size("n_positions", Some(1024))?,
            vocabulary: keys.size("vocab_size", None)?,
            token_types: 0,
            rotary: None,
            causal: true,
        })
    }

    fn shapes(&self, c: &Config) -> Vec<(String, Vec<usize>)> {
        let mut out = vec![
            ("wte.weight".to_owned(), vec![c.vocabulary, c.d]),
            ("wpe.weight".to_owned(), vec![c.positions, c.d]),
        ];
        for l in 0..c.layers {
            out.extend(norm_shapes(&format!("h.{l}.ln_1"), c.d));
            out.extend(norm_shapes(&format!("h.{l}.ln_2"), c.d));
            for (name, inputs, outputs) in [
                ("attn.c_attn", c.d, 3 * c.d),
                ("attn.c_proj", c.d, c.d),
                ("mlp.c_fc", c.d, c.hidden),
                ("mlp.c_proj", c.hidden, c.d),
            ] {
                out.push((format!("h.{l}.{name}.weight"), vec![inputs, outputs]));
                out.push((format!("h.{l}.{name}.bias"), vec![outputs]));
            }
        }
        out.extend(norm_shapes("ln_f", c.d));
        out
    }

    fn prefixes(&self) -> &'static [&'static str] {
        &["", "transformer."]
    }

    fn is_ignored(&self, name: &str) -> bool {
        name.starts_with("lm_head.")
            || name.ends_with(".attn.bias")
            || name.ends_with(".attn.masked_bias")
    }

    fn in_first_block(&self, name: &str) -> bool {
        name.starts_with("h.0.")
    }

    fn embed(&self, store: &TensorStore, _: &Config, ids: &[usize]) -> Result<Vec<f64>> {
        let positions: Vec<usize> = (0..ids.len()).collect();
        let mut x = store.rows("wte.weight", ids)?;
        x.iter_mut().zip(store.rows("wpe.weight", &positions)?).for_each(|(x, p)| *x += p);
        Ok(x)
    }

    fn block(&self, store: &TensorStore, c: &Config, l: usize) -> Result<TransformerBlock> {
        let at = |name: &str| format!("h.{l}.{name}");
        let linear = |name: &str, inputs: usize| {
            let (weight, bias) = transposed(store, &at(name), inputs)?;
            Linear::new(&at(name), inputs, weight, bias)
        };
        let (weight, bias) = transposed(store, &at("attn.c_attn"), c.d)?;
        let part = |k: usize| {
            let (w, b) = (
                weight[k * c.d * c.d..(k + 1) * c.d * c.d].to_vec(),
                bias[k * c.d..(k + 1) * c.d].to_vec(),
            );
            Linear::new(&at("attn.c_attn"), c.d, w, b)
        };
        let maps = [part(0)?, part(1)?, part(2)?, linear("attn.c_proj", c.d)?];
        let attention = AttentionLayer::new(
            &at("attn"),
            maps,
            Grouping { heads: c.heads, kv_heads: c.kv_heads },
            Arc::new(Causal),
        )?;
        let mlp = Mlp::new(
            &at("mlp"),
            linear("mlp.c_fc", c.d)?,
            None,
            linear("mlp.c_proj", c.hidden)?,
            c.activation,
        )?;
        let (a, b) = (store.layer_norm(&at("ln_1"), c.eps)?, store.layer_norm(&at("ln_2"), c.eps)?);
        Ok(TransformerBlock::new(NormPlacement::Pre, (attention, a), (mlp, b)))
    }

    fn final_norm(&self, store: &TensorStore, config: &Config) -> Result<Option<Norm>> {
        store.layer_norm("ln_f", config.eps).map(Some)
    }
}
