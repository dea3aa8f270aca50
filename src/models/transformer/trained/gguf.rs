//! GGUF files of Llama-style models: settings and tensors in one file.

use super::keys::Keys;
use super::settings::ModelKey;
use super::{Bytes, Stored, TensorPlace, Tensors};
use crate::error::{Error, Result};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Reads on from a place, a piece at a time.
struct Reader<'a> {
    path: &'a str,
    bytes: &'a dyn Bytes,
    at: u64,
    piece: Vec<u8>,
    first: u64,
}

/// Bytes read at a time.
const PIECE: u64 = 1 << 16;

/// Longest string or list that is believed.
const MOST: u64 = 1 << 24;

impl Reader<'_> {
    fn bad(&self, problem: impl Into<String>) -> Error {
        Error::File { path: self.path.into(), place: format!("byte {}", self.at), problem: problem.into() }
    }

    fn take(&mut self, count: u64) -> Result<Vec<u8>> {
        if count > self.bytes.count().saturating_sub(self.at) {
            return Err(self.bad("truncated in its header"));
        }
        let held = self.at >= self.first && self.at + count <= self.first + self.piece.len() as u64;
        if !held {
            let length = PIECE.max(count).min(self.bytes.count() - self.at);
            self.piece.resize(length as usize, 0);
            self.bytes.fill(self.at, &mut self.piece)?;
            self.first = self.at;
        }
        let from = (self.at - self.first) as usize;
        self.at += count;
        Ok(self.piece[from..from + count as usize].to_vec())
    }

    fn whole<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.take(N as u64)?;
        let mut out = [0; N];
        out.copy_from_slice(&bytes);
        Ok(out)
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.whole()?))
    }

    fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.whole()?))
    }

    fn count(&mut self) -> Result<u64> {
        let count = self.u64()?;
        if count > MOST { Err(self.bad(format!("found a length of {count}, expected at most {MOST}"))) } else { Ok(count) }
    }

    fn string(&mut self) -> Result<String> {
        let length = self.count()?;
        let bytes = self.take(length)?;
        String::from_utf8(bytes).map_err(|_| self.bad("found a name that is not text"))
    }

    fn value(&mut self, kind: u32) -> Result<Value> {
        Ok(match kind {
            0 => json!(self.whole::<1>()?[0]),
            1 => json!(i8::from_le_bytes(self.whole()?)),
            2 => json!(u16::from_le_bytes(self.whole()?)),
            3 => json!(i16::from_le_bytes(self.whole()?)),
            4 => json!(self.u32()?),
            5 => json!(i32::from_le_bytes(self.whole()?)),
            6 => json!(f32::from_le_bytes(self.whole()?)),
            7 => json!(self.whole::<1>()?[0] != 0),
            8 => json!(self.string()?),
            9 => {
                let (kind, count) = (self.u32()?, self.count()?);
                (0..count).map(|_| self.value(kind)).collect::<Result<Vec<_>>>()?.into()
            }
            10 => json!(self.u64()?),
            11 => json!(i64::from_le_bytes(self.whole()?)),
            12 => json!(f64::from_le_bytes(self.whole()?)),
            other => return Err(self.bad(format!("found a value of kind {other}, expected one of 0 to 12"))),
        })
    }
}

/// The tensors of a GGUF file (F32, F16, BF16, Q8_0, Q4_1) under the names that safetensors files of the same model have, its settings as such a model's
/// `config.json`, and all that it says itself.
///
/// **Errors** a foreign or truncated file, another architecture, tensors of another type.
pub fn read(path: &str, bytes: Box<dyn Bytes>) -> Result<(Tensors, Value, Map<String, Value>)> {
    let mut reader = Reader { path, bytes: &*bytes, at: 0, piece: Vec::new(), first: 0 };
    let plain = |problem: String| Error::File { path: path.into(), place: String::new(), problem };
    if reader.take(4).ok().as_deref() != Some(b"GGUF") {
        return Err(plain("not a GGUF file: it does not begin with these letters".into()));
    }
    let version = reader.u32()?;
    if !(2..=3).contains(&version) {
        return Err(plain(format!("found version {version} of GGUF, expected 2 or 3")));
    }
    let (tensors, pairs) = (reader.count()?, reader.count()?);
    let mut said = Map::new();
    for _ in 0..pairs {
        let (key, kind) = (reader.string()?, reader.u32()?);
        let value = reader.value(kind)?;
        if said.contains_key(&key) {
            return Err(plain(format!("key {key}: found twice, expected once")));
        }
        said.insert(key, value);
    }
    let mut entries = BTreeMap::new();
    for _ in 0..tensors {
        let (name, axes) = (reader.string()?, reader.u32()?);
        if axes > 4 {
            return Err(plain(format!("tensor {name}: found {axes} axes, expected at most 4")));
        }
        let mut shape = (0..axes).map(|_| reader.u64().map(|s| s as usize)).collect::<Result<Vec<_>>>()?;
        shape.reverse();
        let (kind, start) = (reader.u32()?, reader.u64()?);
        let stored = match kind {
            0 => Stored::F32,
            1 => Stored::F16,
            3 => Stored::Q4_1,
            8 => Stored::Q8_0,
            28 => Stored::F64,
            30 => Stored::BF16,
            other => return Err(plain(format!("tensor {name}: found type {other}, expected F32, F16, BF16, F64, Q8_0 or Q4_1"))),
        };
        entries.insert(name, TensorPlace { stored, shape, start });
    }
    let alignment = said.get("general.alignment").and_then(Value::as_u64).unwrap_or(32).max(1);
    let data = reader.at.next_multiple_of(alignment);
    let said = Value::Object(said);
    let config = config(path, &said)?;
    let said = if let Value::Object(said) = said { said } else { Map::new() };
    let named = entries.into_iter().map(|(n, e)| (usual(&n), TensorPlace { start: data.saturating_add(e.start), ..e })).collect();
    Ok((Tensors::new(path, bytes, named)?, config, said))
}

const YARN: &str = r#"{"llama.rope.scaling.type": "yarn", "llama.rope.scaling.factor": 4.0}"#;

/// Keys of a GGUF file that change what a Llama computes; all other keys that begin with `llama.`
/// are refused.
pub static SETTINGS: [ModelKey; 37] = [
    ModelKey::read("general.architecture", "the kind of model", "\"mamba\""),
    ModelKey::read("llama.embedding_length", "dimension of the tokens", "16"),
    ModelKey::read("llama.block_count", "layers", "2"),
    ModelKey::read("llama.attention.head_count", "heads", "2"),
    ModelKey::read("llama.attention.head_count_kv", "sets of keys and values", "1"),
    ModelKey::read("llama.attention.key_length", "rows of a head's queries and keys", "4"),
    ModelKey::read("llama.attention.value_length", "rows of a head's values: as many as of its keys", "4"),
    ModelKey::read("llama.feed_forward_length", "hidden units", "64"),
    ModelKey::read("llama.context_length", "most positions", "4"),
    ModelKey::read("llama.attention.layer_norm_rms_epsilon", "eps of the norms", "0.1"),
    ModelKey::read("llama.vocab_size", "vocabulary", "29"),
    ModelKey::read("llama.rope.freq_base", "the base of rotary positions", "50.0"),
    ModelKey::read("llama.rope.dimension_count", "coordinates of a head that turn: all", "4"),
    ModelKey::read("llama.rope.scaling.type", "none, linear (also where it is absent) or yarn", "\"none\"").beside(FACTOR),
    ModelKey::read("llama.rope.scaling.factor", "how many times more positions", "4.0"),
    ModelKey::read("llama.rope.scale_linear", "the older name of the factor", "4.0"),
    ModelKey::read("llama.rope.scaling.original_context_length", "positions of the first training", "64").beside(YARN),
    ModelKey::only("llama.rope.scaling.attn_factor", &["1.0"], "another amplitude", "2.0"),
    ModelKey::only("llama.rope.scaling.yarn_log_multiplier", &[], "another amplitude", "0.5"),
    ModelKey::only("llama.rope.scaling.yarn_ext_factor", &["1.0"], "another ramp", "0.5"),
    ModelKey::only("llama.rope.scaling.yarn_attn_factor", &["1.0"], "another amplitude", "2.0"),
    ModelKey::only("llama.rope.scaling.yarn_beta_fast", &["32.0"], "another ramp", "16.0"),
    ModelKey::only("llama.rope.scaling.yarn_beta_slow", &["1.0"], "another ramp", "2.0"),
    ModelKey::only("llama.rope.dimension_sections", &[], "positions of several axes", "3"),
    ModelKey::only("llama.attention.causal", &["true"], "no mask", "false"),
    ModelKey::only("llama.attention.scale", &[], "logits times another factor", "0.5"),
    ModelKey::only("llama.attention.max_alibi_bias", &["0.0"], "biases by distance", "8.0"),
    ModelKey::only("llama.attention.clamp_kqv", &["0.0"], "queries, keys and values cut off", "1.0"),
    ModelKey::only("llama.attention.sliding_window", &["0"], "a window of tokens that are seen", "4"),
    ModelKey::only("llama.expert_count", &["0"], "several feed-forward layers in a block", "8"),
    ModelKey::only("llama.expert_used_count", &["0"], "several feed-forward layers in a block", "2"),
    ModelKey::only("llama.use_parallel_residual", &["false"], "sublayers side by side", "true"),
    ModelKey::only("llama.embedding_scale", &["1.0"], "words times a factor", "2.0"),
    ModelKey::only("llama.residual_scale", &["1.0"], "sublayers times a factor", "2.0"),
    ModelKey::silent("llama.logit_scale", "words after the last state", "2.0"),
    ModelKey::silent("llama.rope.scaling.finetuned", "how it was trained", "true"),
    ModelKey::silent("llama.tensor_data_layout", "who wrote the file", "\"Meta AI original pth\""),
];

const FACTOR: &str = r#"{"llama.rope.scaling.factor": 4.0}"#;

/// The settings under the names of `config.json`.
fn config(path: &str, said: &Value) -> Result<Value> {
    let keys = Keys { path, json: said, table: &SETTINGS, within: "" };
    let kind = keys.value("general.architecture").as_str().unwrap_or("");
    if kind != "llama" {
        let problem = format!("found a model of architecture `{kind}`, expected `llama`");
        return Err(Error::File { path: path.into(), place: String::new(), problem });
    }
    keys.check()?;
    for (key, value) in said.as_object().into_iter().flatten().filter(|(key, _)| key.starts_with("llama.")) {
        if !SETTINGS.iter().any(|k| k.name == key) {
            return Err(keys.bad(key, value, "no such key: what it changes in the model is not known here"));
        }
    }
    let of = |key: &str| keys.value(&format!("llama.{key}")).clone();
    let rank = match keys.value("llama.attention.key_length") {
        Value::Null => keys.rank(keys.size("llama.embedding_length", None)?, keys.size("llama.attention.head_count", None)?)?,
        _ => keys.size("llama.attention.key_length", None)?,
    };
    for key in ["llama.attention.value_length", "llama.rope.dimension_count"] {
        if keys.size(key, Some(rank))? != rank {
            return Err(keys.bad(key, keys.value(key), &format!("{rank}, the rows of a head's queries")));
        }
    }
    let words = said.get("tokenizer.ggml.tokens").and_then(Value::as_array).map(Vec::len);
    Ok(json!({
        "model_type": "llama",
        "hidden_size": of("embedding_length"),
        "num_hidden_layers": of("block_count"),
        "num_attention_heads": of("attention.head_count"),
        "num_key_value_heads": of("attention.head_count_kv"),
        "head_dim": rank,
        "intermediate_size": of("feed_forward_length"),
        "max_position_embeddings": of("context_length"),
        "rms_norm_eps": of("attention.layer_norm_rms_epsilon"),
        "rope_theta": of("rope.freq_base"),
        "rope_scaling": scaling(&keys)?,
        "vocab_size": match of("vocab_size") { Value::Null => json!(words), given => given },
        "hidden_act": "silu",
        // Rows of queries and keys are stored in the order of adjacent pairs.
        "rotary_pairs": "adjacent",
    }))
}

/// How the angles of rotary positions are scaled, as `config.json` says it.
fn scaling(keys: &Keys) -> Result<Value> {
    // By parts or not.
    let kinds = [("linear", Some(false)), ("none", None), ("yarn", Some(true))];
    let kind = keys.word("llama.rope.scaling.type", &kinds)?;
    let [newer, older] = ["llama.rope.scaling.factor", "llama.rope.scale_linear"];
    let factor = keys.number(newer, keys.number(older, 0.0)?)?;
    let original = keys.value("llama.rope.scaling.original_context_length");
    Ok(match kind {
        // A factor of 0 is none.
        Some(true) if factor > 0.0 => {
            let original = if original.is_null() { keys.value("llama.context_length") } else { original };
            json!({"rope_type": "yarn", "factor": factor, "original_max_position_embeddings": original})
        }
        Some(false) if factor > 0.0 => json!({"rope_type": "linear", "factor": factor}),
        _ => Value::Null,
    })
}

/// The name of a tensor in safetensors files.
fn usual(name: &str) -> String {
    let parts = [
        ("token_embd", "embed_tokens"),
        ("output_norm", "norm"),
        ("output", "lm_head"),
        ("attn_norm", "input_layernorm"),
        ("ffn_norm", "post_attention_layernorm"),
        ("attn_q", "self_attn.q_proj"),
        ("attn_k", "self_attn.k_proj"),
        ("attn_v", "self_attn.v_proj"),
        ("attn_output", "self_attn.o_proj"),
        ("ffn_gate", "mlp.gate_proj"),
        ("ffn_up", "mlp.up_proj"),
        ("ffn_down", "mlp.down_proj"),
        ("blk", "layers"),
    ];
    let one = |part: &str| parts.iter().find(|p| p.0 == part).map_or(part.to_owned(), |p| p.1.to_owned());
    name.split('.').map(one).collect::<Vec<_>>().join(".")
}
