//! Vocabulary to numbers, by a model's own `tokenizer.json` or what a GGUF file says.

use crate::error::{Error, Result};
use serde_json::{Map, Value};
use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::{PreTokenizerWrapper, Tokenizer};

/// A tokenizer.
pub struct Vocabulary(Tokenizer);

impl Vocabulary {
    /// From the text of a `tokenizer.json`. Whatever it says of padding and truncation is left out.
    ///
    /// **Errors** one that is not understood.
    pub fn new(path: &str, json: &str) -> Result<Self> {
        let bad = |e: tokenizers::Error| Error::File { path: path.into(), place: String::new(), problem: format!("not a tokenizer: {e}") };
        let mut tokenizer: Tokenizer = json.parse().map_err(bad)?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(bad)?;
        Ok(Self(tokenizer))
    }

    /// From the words and merges of a GGUF file (pairs of bytes).
    ///
    /// **Errors** another kind of tokenizer, words that are missing.
    pub fn gguf(path: &str, said: &Map<String, Value>) -> Result<Self> {
        let bad = |problem: String| Error::File { path: path.into(), place: "tokenizer".into(), problem };
        let kind = said.get("tokenizer.ggml.model").and_then(Value::as_str).unwrap_or("none");
        if kind != "gpt2" {
            return Err(bad(format!("found a tokenizer `{kind}`, expected `gpt2` (pairs of bytes); give the ids of the tokens instead")));
        }
        let list = |key: &str| said.get(key).and_then(Value::as_array).ok_or_else(|| bad(format!("found no list {key}")));
        let words = list("tokenizer.ggml.tokens")?.iter().enumerate();
        let vocabulary: Vocab = words.filter_map(|(k, w)| Some((w.as_str()?.to_owned(), k as u32))).collect();
        let pairs = list("tokenizer.ggml.merges")?.iter();
        let merges = pairs.filter_map(|m| m.as_str()?.split_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned()))).collect();
        let model = BPE::builder().vocab_and_merges(vocabulary, merges).build();
        let mut tokenizer = Tokenizer::new(model.map_err(|e| bad(e.to_string()))?);
        let parts: Vec<PreTokenizerWrapper> = match said.get("tokenizer.ggml.pre").and_then(Value::as_str) {
            // Every digit is a word of its own.
            Some("smollm") => vec![Digits::new(true).into(), ByteLevel::new(false, true, true).into()],
            _ => vec![ByteLevel::new(false, true, true).into()],
        };
        tokenizer.with_pre_tokenizer(Some(Sequence::new(parts)));
        Ok(Self(tokenizer))
    }

    /// The numbers of the words of a text, with the marks the model wants at its ends, and the words.
    ///
    /// **Errors** an empty text, one that cannot be cut into known words.
    pub fn encode(&self, text: &str) -> Result<(Vec<usize>, Vec<String>)> {
        if text.trim().is_empty() {
            return Err(Error::parameter("text", "no words", "at least one"));
        }
        let encoded = self.0.encode(text, true).map_err(|e| Error::parameter("text", e, "words of the model"))?;
        Ok((encoded.get_ids().iter().map(|id| *id as usize).collect(), encoded.get_tokens().to_vec()))
    }
}
