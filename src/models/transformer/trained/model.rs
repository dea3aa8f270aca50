//! A trained model, layer by layer.

use super::architecture::{Architecture, TensorStore};
use super::architectures::detect;
use super::config::Config;
use super::{Bytes, gguf, safetensors};
use crate::error::{Error, Result};
use crate::transformer::{Float, Norm, TransformerBlock};
use serde_json::{Map, Value};

/// A trained model whose tensors are read when they are needed.
pub struct TrainedModel {
    architecture: &'static dyn Architecture,
    config: Config,
    store: TensorStore,
    /// Metadata of a GGUF file; empty for other files.
    pub metadata: Map<String, Value>,
}

/// One layer of a run, with its input and output.
pub struct LayerPass<'a, T> {
    /// Index of the layer, from 0.
    pub index: usize,
    /// Its block.
    pub block: &'a TransformerBlock<T>,
    /// Tokens before the layer.
    pub before: &'a [T],
    /// Tokens after the layer.
    pub after: &'a [T],
    /// Its attention weights, heads x n x n; empty unless requested.
    pub weights: &'a [T],
}

/// The settings of a file `config.json`.
fn settings(path: &str, text: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|e| Error::File {
        path: path.into(),
        place: format!("line {}", e.line()),
        problem: format!("not the JSON of a model's settings: {e}"),
    })
}

impl TrainedModel {
    /// Reads a model from a safetensors file and its `config.json`.
    ///
    /// **Errors** a malformed or contradictory file: path, place, found and expected value.
    pub fn safetensors(
        path: &str,
        bytes: Box<dyn Bytes>,
        config_path: &str,
        config: &str,
    ) -> Result<Self> {
        let json = settings(config_path, config)?;
        let tensors = safetensors::read(path, bytes)?;
        Self::of(tensors, config_path, &json, Map::new())
    }

    /// Reads a model whose tensors lie in several safetensors files, from the text of the index
    /// that names the file of each.
    ///
    /// **Errors** as [`TrainedModel::safetensors`]; a tensor that is not in its file, or in two.
    pub fn sharded(
        path: &str,
        index: &str,
        open: safetensors::Open<'_>,
        config_path: &str,
        config: &str,
    ) -> Result<Self> {
        let json = settings(config_path, config)?;
        Self::of(safetensors::read_shards(path, index, open)?, config_path, &json, Map::new())
    }

    /// Reads a model from a GGUF file.
    ///
    /// **Errors** as [`TrainedModel::safetensors`].
    pub fn gguf(path: &str, bytes: Box<dyn Bytes>) -> Result<Self> {
        let (tensors, json, metadata) = gguf::read(path, bytes)?;
        Self::of(tensors, path, &json, metadata)
    }

    fn of(
        tensors: super::Tensors,
        path: &str,
        json: &Value,
        metadata: Map<String, Value>,
    ) -> Result<Self> {
        let (architecture, config) = detect(path, json)?;
        let store = TensorStore::new(tensors, architecture, &config)?;
        Ok(Self { architecture, config, store, metadata })
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Name of the architecture.
    pub fn architecture(&self) -> &'static str {
        self.architecture.name()
    }

    /// Number of parameters that affect hidden states.
    pub fn parameters(&self) -> usize {
        self.store.count(&self.architecture.shapes(&self.config))
    }

    /// Index of the block of each layer.
    pub fn block_sequence(&self) -> Vec<usize> {
        (0..self.config.layers).map(|l| self.architecture.block_of_layer(l)).collect()
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.block_sequence().iter().max().map_or(0, |m| m + 1)
    }

    /// Tokens before the first layer.
    ///
    /// **Errors** no id, ids beyond the vocabulary, more ids than positions.
    pub fn embed(&self, ids: &[usize]) -> Result<Vec<f64>> {
        let vocabulary = self.config.vocabulary;
        if ids.is_empty() {
            return Err(Error::parameter("ids", "no token", "at least one"));
        }
        if let Some(positions) = self.config.max_tokens().filter(|most| ids.len() > *most) {
            return Err(Error::parameter(
                "ids",
                format!("{} tokens", ids.len()),
                format!("at most {positions}, the positions of the model"),
            ));
        }
        if let Some(k) = ids.iter().position(|id| *id >= vocabulary) {
            return Err(Error::parameter(
                format!("ids, id {}", k + 1),
                ids[k],
                format!("a word of the model, below {vocabulary}"),
            ));
        }
        self.architecture.embed(&self.store, &self.config, ids)
    }

    /// A block, for a text of this many tokens: with the rotary scaling `dynamic` angles depend on
    /// it.
    ///
    /// **Errors** tensors that cannot be read, no such block.
    pub fn block(&self, index: usize, tokens: usize) -> Result<TransformerBlock> {
        if index >= self.blocks() {
            return Err(Error::parameter(
                "block",
                index,
                format!("a number below {}, the blocks of the model", self.blocks()),
            ));
        }
        self.architecture.block(&self.store, &self.config.for_tokens(tokens), index)
    }

    /// The norm after the last layer.
    ///
    /// **Errors** tensors that cannot be read.
    pub fn final_norm(&self) -> Result<Option<Norm>> {
        self.architecture.final_norm(&self.store, &self.config)
    }

    /// Runs tokens through a sequence of blocks in the precision T, and passes every layer to
    /// `watch`. One block is in memory at a time. `keep` requests the attention weights.
    ///
    /// **Errors** tensors that cannot be read, no such block, numbers that are not finite, errors
    /// of `watch`.
    pub fn run_layers<T: Float>(
        &self,
        x: &[f64],
        block_sequence: &[usize],
        keep: bool,
        mut watch: impl FnMut(&LayerPass<T>) -> Result<()>,
    ) -> Result<Vec<T>> {
        let mut x: Vec<T> = x.iter().map(|v| T::from_f64(*v)).collect();
        let tokens = x.len() / self.config.d;
        let mut current: Option<(usize, TransformerBlock<T>)> = None;
        for (index, wanted) in block_sequence.iter().enumerate() {
            let block = match current.take() {
                Some((b, block)) if b == *wanted => block,
                _ => self.block(*wanted, tokens)?.rounded(),
            };
            let (after, weights) = block.step_with_weights(&x, None, 1.0, keep)?;
            if after.iter().any(|v| !v.to_f64().is_finite()) {
                return Err(Error::Numerical {
                    what: format!("layer {}: the tokens are not finite", index + 1),
                });
            }
            watch(&LayerPass {
                index,
                block: &block,
                before: &x,
                after: &after,
                weights: &weights,
            })?;
            x = after;
            current = Some((*wanted, block));
        }
        Ok(x)
    }
}
