//! A trained model, layer by layer.

use super::architecture::{Architecture, TensorStore};
use super::config::Config;
use super::kinds::configured;
use super::{Bytes, gguf, safetensors};
use crate::error::{Error, Result};
use crate::transformer::{Norm, Real, TransformerBlock};
use serde_json::{Map, Value};

/// A trained model whose tensors are read when they are needed.
pub struct Trained {
    kind: &'static dyn Architecture,
    config: Config,
    store: TensorStore,
    /// What a GGUF file says beside the sizes.
    pub said: Map<String, Value>,
}

/// A layer of a pass.
pub struct PassedLayer<'a, T> {
    /// Its number, from 0.
    pub index: usize,
    /// Its block.
    pub block: &'a TransformerBlock<T>,
    /// Tokens before it.
    pub before: &'a [T],
    /// Tokens after it.
    pub after: &'a [T],
    /// Its attention weights, heads x n x n; empty when they were not asked for.
    pub weights: &'a [T],
}

impl Trained {
    /// A model of a safetensors file and its `config.json`.
    ///
    /// **Errors** what is malformed or contradicts itself: file, place, what was found and expected.
    pub fn safetensors(path: &str, bytes: Box<dyn Bytes>, config_path: &str, config: &str) -> Result<Self> {
        let json: Value = serde_json::from_str(config).map_err(|e| Error::File {
            path: config_path.into(),
            place: format!("line {}", e.line()),
            problem: format!("not the JSON of a model's settings: {e}"),
        })?;
        let tensors = safetensors::read(path, bytes)?;
        Self::of(tensors, config_path, &json, Map::new())
    }

    /// A model of a GGUF file.
    ///
    /// **Errors** as [`Trained::safetensors`].
    pub fn gguf(path: &str, bytes: Box<dyn Bytes>) -> Result<Self> {
        let (tensors, json, said) = gguf::read(path, bytes)?;
        Self::of(tensors, path, &json, said)
    }

    fn of(tensors: super::Tensors, path: &str, json: &Value, said: Map<String, Value>) -> Result<Self> {
        let (kind, config) = configured(path, json)?;
        let store = TensorStore::new(tensors, kind, &config)?;
        Ok(Self { kind, config, store, said })
    }

    /// Its sizes.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Its kind.
    pub fn kind(&self) -> &'static str {
        self.kind.name()
    }

    /// Number of parameters that move hidden states.
    pub fn parameters(&self) -> usize {
        self.store.count(&self.kind.shapes(&self.config))
    }

    /// The blocks of its layers in turn.
    pub fn plan(&self) -> Vec<usize> {
        (0..self.config.layers).map(|l| self.kind.block_of(l)).collect()
    }

    /// How many blocks it has.
    pub fn blocks(&self) -> usize {
        self.plan().iter().max().map_or(0, |m| m + 1)
    }

    /// Tokens before the first layer.
    ///
    /// **Errors** no id, ids beyond the vocabulary, more than there are positions.
    pub fn embed(&self, ids: &[usize]) -> Result<Vec<f64>> {
        let Config { vocabulary, positions, .. } = self.config;
        if ids.is_empty() {
            return Err(Error::parameter("ids", "no token", "at least one"));
        }
        if ids.len() > positions {
            return Err(Error::parameter(
                "ids",
                format!("{} tokens", ids.len()),
                format!("at most {positions}, the positions of the model"),
            ));
        }
        if let Some(k) = ids.iter().position(|id| *id >= vocabulary) {
            return Err(Error::parameter(format!("ids, id {}", k + 1), ids[k], format!("a word of the model, below {vocabulary}")));
        }
        self.kind.embed(&self.store, &self.config, ids)
    }

    /// A block.
    ///
    /// **Errors** tensors that cannot be read, no such block.
    pub fn block(&self, index: usize) -> Result<TransformerBlock> {
        if index >= self.blocks() {
            return Err(Error::parameter("block", index, format!("a number below {}, the blocks of the model", self.blocks())));
        }
        self.kind.block(&self.store, &self.config, index)
    }

    /// The norm after the last layer.
    ///
    /// **Errors** tensors that cannot be read.
    pub fn last(&self) -> Result<Option<Norm>> {
        self.kind.last(&self.store, &self.config)
    }

    /// Takes tokens through the blocks of a plan in one precision; every layer is shown to `watch`. One block is in memory at a time.
    ///
    /// **Errors** tensors that cannot be read, no such block, numbers that are not finite, what `watch` says.
    pub fn pass<T: Real>(
        &self,
        x: &[f64],
        plan: &[usize],
        keep: bool,
        mut watch: impl FnMut(&PassedLayer<T>) -> Result<()>,
    ) -> Result<Vec<T>> {
        let mut x: Vec<T> = x.iter().map(|v| T::of(*v)).collect();
        let mut held: Option<(usize, TransformerBlock<T>)> = None;
        for (index, wanted) in plan.iter().enumerate() {
            let block = match held.take() {
                Some((b, block)) if b == *wanted => block,
                _ => self.block(*wanted)?.rounded(),
            };
            let (after, weights) = block.step_with(&x, None, 1.0, keep)?;
            if after.iter().any(|v| !v.to_f64().is_finite()) {
                return Err(Error::Numerical { what: format!("layer {}: the tokens are not finite", index + 1) });
            }
            watch(&PassedLayer { index, block: &block, before: &x, after: &after, weights: &weights })?;
            x = after;
            held = Some((*wanted, block));
        }
        Ok(x)
    }
}
