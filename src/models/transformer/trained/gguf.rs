//! GGUF files of Llama-style models: settings and tensors in one file.

use super::keys::Keys;
use super::settings::ModelKey;
use super::{Bytes, NumberFormat, TensorEntry, Tensors};
use crate::error::{Error, Result};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Reads a header sequentially, through a buffer.
struct Reader<'a> {
    path: &'a str,
    bytes: &'a dyn Bytes,
    position: u64,
    piece: Vec<u8>,
    first: u64,
}

/// Number of bytes read at a time.
const PIECE: u64 = 1 << 16;

/// Largest accepted length of a string or list.
const MAX_LENGTH: u64 = 1 << 24;

impl Reader<'_> {
    fn error(&self, problem: impl Into<String>) -> Error {
        Error::File {
            path: self.path.into(),
            place: format!("byte {}", self.position),
            problem: problem.into(),
        }
    }

    fn take(&mut self, count: u64) -> Result<Vec<u8>> {
        if count > self.bytes.count().saturating_sub(self.position) {
            return Err(self.error("truncated in its header"));
        }
        let buffered = self.position >= self.first
            && self.position + count <= self.first + self.piece.len() as u64;
        if !buffered {
            let length = PIECE.max(count).min(self.bytes.count() - self.position);
            self.piece.resize(length as usize, 0);
            self.bytes.fill(self.position, &mut self.piece)?;
            self.first = self.position;
        }
        let from = (self.position - self.first) as usize;
        self.position += count;
        Ok(self.piece[from..from + count as usize].to_vec())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.take(N as u64)?;
        let mut out = [0; N];
        out.copy_from_slice(&bytes);
        Ok(out)
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn count(&mut self) -> Result<u64> {
        let count = self.u64()?;
        if count > MAX_LENGTH {
            Err(self.error(format!("found a length of {count}, expected at most {MAX_LENGTH}")))
        } else {
            Ok(count)
        }
    }

    fn string(&mut self) -> Result<String> {
        let length = self.count()?;
        let bytes = self.take(length)?;
        String::from_utf8(bytes).map_err(|_| self.error("found a name that is not text"))
    }

    fn value(&mut self, kind: u32) -> Result<Value> {
        Ok(match kind {
            0 => json!(self.array::<1>()?[0]),
            1 => json!(i8::from_le_bytes(self.array()?)),
            2 => json!(u16::from_le_bytes(self.array()?)),
            3 => json!(i16::from_le_bytes(self.array()?)),
            4 => json!(self.u32()?),
            5 => json!(i32::from_le_bytes(self.array()?)),
            6 => json!(f32::from_le_bytes(self.array()?)),
            7 => json!(self.array::<1>()?[0] != 0),
            8 => json!(self.string()?),
            9 => {
                let (kind, count) = (self.u32()?, self.count()?);
                (0..count).map(|_| self.value(kind)).collect::<Result<Vec<_>>>()?.into()
            }
            10 => json!(self.u64()?),
            11 => json!(i64::from_le_bytes(self.array()?)),
            12 => json!(f64::from_le_bytes(self.array()?)),
            other => {
                return Err(
                    self.error(format!("found a value of kind {other}, expected one of 0 to 12"))
                );
            }
        })
    }
}

/// The tensors of a GGUF file (F32, F16, BF16, Q8_0, Q4_1) under the names that safetensors files
/// of the same model have, its settings in the form of the `config.json` of such a model, and its
/// metadata.
///
/// **Errors** a foreign or truncated file, another architecture, tensors of another type.
pub fn read(path: &str, bytes: Box<dyn Bytes>) -> Result<(Tensors, Value, Map<String, Value>)> {
    let mut reader = Reader { path, bytes: &*bytes, position: 0, piece: Vec::new(), first: 0 };
    let plain = |problem: String| Error::File { path: path.into(), place: String::new(), problem };
    if reader.take(4).ok().as_deref() != Some(b"GGUF") {
        return Err(plain("not a GGUF file: it does not begin with these letters".into()));
    }
    let version = reader.u32()?;
    if !(2..=3).contains(&version) {
        return Err(plain(format!("found version {version} of GGUF, expected 2 or 3")));
    }
    let (tensors, pairs) = (reader.count()?, reader.count()?);
    let mut metadata = Map::new();
    for _ in 0..pairs {
        let (key, kind) = (reader.string()?, reader.u32()?);
        let value = reader.value(kind)?;
        if metadata.contains_key(&key) {
            return Err(plain(format!("key {key}: found twice, expected once")));
        }
        metadata.insert(key, value);
    }
    let mut entries = BTreeMap::new();
    for _ in 0..tensors {
        let (name, axes) = (reader.string()?, reader.u32()?);
        if axes > 4 {
            return Err(plain(format!("tensor {name}: found {axes} axes, expected at most 4")));
        }
        let mut shape =
            (0..axes).map(|_| reader.u64().map(|s| s as usize)).collect::<Result<Vec<_>>>()?;
        shape.reverse();
        let (kind, start) = (reader.u32()?, reader.u64()?);
        let format = match kind {
            0 => NumberFormat::F32,
            1 => NumberFormat::F16,
            3 => NumberFormat::Q4_1,
            8 => NumberFormat::Q8_0,
            28 => NumberFormat::F64,
            30 => NumberFormat::BF16,
            other => {
                return Err(plain(format!(
                    "tensor {name}: found type {other}, expected F32, F16, BF16, F64, Q8_0 or Q4_1"
                )));
            }
        };
        entries.insert(name, TensorEntry { format, shape, start });
    }
    let alignment = metadata.get("general.alignment").and_then(Value::as_u64).unwrap_or(32).max(1);
    let data = reader.position.next_multiple_of(alignment);
    let metadata = Value::Object(metadata);
    let config = config(path, &metadata)?;
    let metadata = if let Value::Object(metadata) = metadata { metadata } else { Map::new() };
    let named = entries
        .into_iter()
        .map(|(n, e)| {
            (safetensors_name(&n), TensorEntry { start: data.saturating_add(e.start), ..e })
        })
        .collect();
    Ok((Tensors::new(path, bytes, named)?, config, metadata))
}

const YARN: &str = r#"{"llama.rope.scaling.type": "yarn", "llama.rope.scaling.factor": 4.0}"#;

/// Keys of a GGUF file that change what a Llama model computes. All other keys that begin with
/// `llama.` are rejected.
pub static SETTINGS: [ModelKey; 37] = [
    ModelKey::read("general.architecture", "the kind of model", "\"mamba\""),
    ModelKey::read("llama.embedding_length", "dimension of the tokens", "16"),
    ModelKey::read("llama.block_count", "layers", "2"),
    ModelKey::read("llama.attention.head_count", "heads", "2"),
    ModelKey::read("llama.attention.head_count_kv", "heads of keys and values", "1"),
    ModelKey::read("llama.attention.key_length", "rows of a head's queries and keys", "4"),
    ModelKey::read(
        "llama.attention.value_length",
        "rows of a head's values: as many as of its keys",
        "4",
    ),
    ModelKey::read("llama.feed_forward_length", "hidden units", "64"),
    ModelKey::read("llama.context_length", "most positions", "4"),
    ModelKey::read("llama.attention.layer_norm_rms_epsilon", "eps of the norms", "0.1"),
    ModelKey::read("llama.vocab_size", "vocabulary", "29"),
    ModelKey::read("llama.rope.freq_base", "the base of rotary positions", "50.0"),
    ModelKey::read("llama.rope.dimension_count", "coordinates of a head that turn: all", "4"),
    ModelKey::read(
        "llama.rope.scaling.type",
        "none, linear (also where it is absent) or yarn",
        "\"none\"",
    )
    .in_context(FACTOR),
    ModelKey::read("llama.rope.scaling.factor", "how many times more positions", "4.0"),
    ModelKey::read("llama.rope.scale_linear", "the older name of the factor", "4.0"),
    ModelKey::read(
        "llama.rope.scaling.original_context_length",
        "positions of the first training",
        "64",
    )
    .in_context(YARN),
    ModelKey::one_of("llama.rope.scaling.attn_factor", &["1.0"], "another amplitude", "2.0"),
    ModelKey::one_of("llama.rope.scaling.yarn_log_multiplier", &[], "another amplitude", "0.5"),
    ModelKey::one_of("llama.rope.scaling.yarn_ext_factor", &["1.0"], "another ramp", "0.5"),
    ModelKey::one_of("llama.rope.scaling.yarn_attn_factor", &["1.0"], "another amplitude", "2.0"),
    ModelKey::one_of("llama.rope.scaling.yarn_beta_fast", &["32.0"], "another ramp", "16.0"),
    ModelKey::one_of("llama.rope.scaling.yarn_beta_slow", &["1.0"], "another ramp", "2.0"),
    ModelKey::one_of("llama.rope.dimension_sections", &[], "positions of several axes", "3"),
    ModelKey::one_of("llama.attention.causal", &["true"], "no mask", "false"),
    ModelKey::one_of("llama.attention.scale", &[], "logits times another factor", "0.5"),
    ModelKey::one_of("llama.attention.max_alibi_bias", &["0.0"], "biases by distance", "8.0"),
    ModelKey::one_of(
        "llama.attention.clamp_kqv",
        &["0.0"],
        "queries, keys and values cut off",
        "1.0",
    ),
    ModelKey::one_of(
        "llama.attention.sliding_window",
        &["0"],
        "a sliding window of visible tokens",
        "4",
    ),
    ModelKey::one_of("llama.expert_count", &["0"], "several feed-forward layers in a block", "8"),
    ModelKey::one_of(
        "llama.expert_used_count",
        &["0"],
        "several feed-forward layers in a block",
        "2",
    ),
    ModelKey::one_of("llama.use_parallel_residual", &["false"], "sublayers side by side", "true"),
    ModelKey::one_of("llama.embedding_scale", &["1.0"], "words times a factor", "2.0"),
    ModelKey::one_of("llama.residual_scale", &["1.0"], "sublayers times a factor", "2.0"),
    ModelKey::ignored("llama.logit_scale", "words after the last state", "2.0"),
    ModelKey::ignored("llama.rope.scaling.finetuned", "how it was trained", "true"),
    ModelKey::ignored("llama.tensor_data_layout", "who wrote the file", "\"Meta AI original pth\""),
];

const FACTOR: &str = r#"{"llama.rope.scaling.factor": 4.0}"#;

/// The settings under the names of `config.json`.
fn config(path: &str, metadata: &Value) -> Result<Value> {
    let keys = Keys { path, json: metadata, table: &SETTINGS, parent: "" };
    let kind = keys.value("general.architecture").as_str().unwrap_or("");
    if kind != "llama" {
        let problem = format!("found a model of architecture `{kind}`, expected `llama`");
        return Err(Error::File { path: path.into(), place: String::new(), problem });
    }
    keys.check()?;
    for (key, value) in
        metadata.as_object().into_iter().flatten().filter(|(key, _)| key.starts_with("llama."))
    {
        if !SETTINGS.iter().any(|k| k.name == key) {
            return Err(keys.error(
                key,
                value,
                "no such key: its effect on the model is not known here",
            ));
        }
    }
    let of = |key: &str| keys.value(&format!("llama.{key}")).clone();
    let rank = match keys.value("llama.attention.key_length") {
        Value::Null => keys.rank(
            keys.size("llama.embedding_length", None)?,
            keys.size("llama.attention.head_count", None)?,
        )?,
        _ => keys.size("llama.attention.key_length", None)?,
    };
    for key in ["llama.attention.value_length", "llama.rope.dimension_count"] {
        if keys.size(key, Some(rank))? != rank {
            return Err(keys.error(
                key,
                keys.value(key),
                &format!("{rank}, the rows of a head's queries"),
            ));
        }
    }
    let words = metadata.get("tokenizer.ggml.tokens").and_then(Value::as_array).map(Vec::len);
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

/// The scaling of the angles of rotary positions, in the form of `config.json`.
fn scaling(keys: &Keys) -> Result<Value> {
    // Some(true) is YaRN, Some(false) linear scaling.
    let kinds = [("linear", Some(false)), ("none", None), ("yarn", Some(true))];
    let kind = keys.word("llama.rope.scaling.type", &kinds)?;
    let [newer, older] = ["llama.rope.scaling.factor", "llama.rope.scale_linear"];
    let factor = keys.number(newer, keys.number(older, 0.0)?)?;
    let original = keys.value("llama.rope.scaling.original_context_length");
    Ok(match kind {
        // A factor of 0 means no scaling.
        Some(true) if factor > 0.0 => {
            let original =
                if original.is_null() { keys.value("llama.context_length") } else { original };
            json!({"rope_type": "yarn", "factor": factor, "original_max_position_embeddings": original})
        }
        Some(false) if factor > 0.0 => json!({"rope_type": "linear", "factor": factor}),
        _ => Value::Null,
    })
}

/// The name of the tensor in safetensors files.
fn safetensors_name(name: &str) -> String {
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
    let one =
        |part: &str| parts.iter().find(|p| p.0 == part).map_or(part.to_owned(), |p| p.1.to_owned());
    name.split('.').map(one).collect::<Vec<_>>().join(".")
}
