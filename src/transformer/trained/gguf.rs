//! GGUF files of Llama-style models: settings and tensors in one file.

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
    let config = config(path, &said)?;
    let named = entries.into_iter().map(|(n, e)| (usual(&n), TensorPlace { start: data.saturating_add(e.start), ..e })).collect();
    Ok((Tensors::new(path, bytes, named)?, config, said))
}

/// The settings under the names of `config.json`.
fn config(path: &str, said: &Map<String, Value>) -> Result<Value> {
    let kind = said.get("general.architecture").and_then(Value::as_str).unwrap_or("");
    if kind != "llama" {
        let problem = format!("found a model of architecture `{kind}`, expected `llama`");
        return Err(Error::File { path: path.into(), place: String::new(), problem });
    }
    let of = |key: &str| said.get(&format!("llama.{key}")).cloned().unwrap_or(Value::Null);
    let words = said.get("tokenizer.ggml.tokens").and_then(Value::as_array).map(Vec::len);
    Ok(json!({
        "model_type": "llama",
        "hidden_size": of("embedding_length"),
        "num_hidden_layers": of("block_count"),
        "num_attention_heads": of("attention.head_count"),
        "num_key_value_heads": of("attention.head_count_kv"),
        "intermediate_size": of("feed_forward_length"),
        "max_position_embeddings": of("context_length"),
        "rms_norm_eps": of("attention.layer_norm_rms_epsilon"),
        "rope_theta": of("rope.freq_base"),
        "vocab_size": match of("vocab_size") { Value::Null => json!(words), given => given },
        "hidden_act": "silu",
        // Rows of queries and keys are stored in the order of adjacent pairs.
        "rotary_pairs": "adjacent",
    }))
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
