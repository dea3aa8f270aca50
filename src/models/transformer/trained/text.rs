//! Tokenizers: text to ids, by the `tokenizer.json` of a model or the metadata of a GGUF file.

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
    /// From the text of a `tokenizer.json`, without its padding and truncation.
    ///
    /// **Errors** a text that is no tokenizer.
    pub fn new(path: &str, json: &str) -> Result<Self> {
        let error = |e: tokenizers::Error| Error::File {
            path: path.into(),
            place: String::new(),
            problem: format!("not a tokenizer: {e}"),
        };
        let mut tokenizer: Tokenizer = json.parse().map_err(error)?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(error)?;
        Ok(Self(tokenizer))
    }

    /// From the words and merges of a GGUF file (pairs of bytes).
    ///
    /// **Errors** another kind of tokenizer, missing words.
    pub fn gguf(path: &str, metadata: &Map<String, Value>) -> Result<Self> {
        let error =
            |problem: String| Error::File { path: path.into(), place: "tokenizer".into(), problem };
        let kind = metadata.get("tokenizer.ggml.model").and_then(Value::as_str).unwrap_or("none");
        if kind != "gpt2" {
            return Err(error(format!(
                "found a tokenizer `{kind}`, expected `gpt2` (pairs of bytes); give the ids of the tokens instead"
            )));
        }
        let list = |key: &str| {
            metadata
                .get(key)
                .and_then(Value::as_array)
                .ok_or_else(|| error(format!("found no list {key}")))
        };
        let words = list("tokenizer.ggml.tokens")?.iter().enumerate();
        let vocabulary: Vocab =
            words.filter_map(|(k, w)| Some((w.as_str()?.to_owned(), k as u32))).collect();
        let pairs = list("tokenizer.ggml.merges")?.iter();
        let merges = pairs
            .filter_map(|m| m.as_str()?.split_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned())))
            .collect();
        let model = BPE::builder().vocab_and_merges(vocabulary, merges).build();
        let mut tokenizer = Tokenizer::new(model.map_err(|e| error(e.to_string()))?);
        let parts: Vec<PreTokenizerWrapper> =
            match metadata.get("tokenizer.ggml.pre").and_then(Value::as_str) {
                // Every digit is a separate word.
                Some("smollm") => {
                    vec![Digits::new(true).into(), ByteLevel::new(false, true, true).into()]
                }
                _ => vec![ByteLevel::new(false, true, true).into()],
            };
        tokenizer.with_pre_tokenizer(Some(Sequence::new(parts)));
        Ok(Self(tokenizer))
    }

    /// The ids of the words of a text, including the special tokens of the model, and the words.
    ///
    /// **Errors** an empty text, or one that cannot be split into known words.
    pub fn encode(&self, text: &str) -> Result<(Vec<usize>, Vec<String>)> {
        if text.trim().is_empty() {
            return Err(Error::parameter("text", "no words", "at least one"));
        }
        let encoded = self
            .0
            .encode(text, true)
            .map_err(|e| Error::parameter("text", e, "words of the model"))?;
        Ok((
            encoded.get_ids().iter().map(|id| *id as usize).collect(),
            encoded.get_tokens().to_vec(),
        ))
    }
}
