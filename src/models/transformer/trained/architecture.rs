//! What a kind of model has to say, and its tensors checked against that.

use super::keys::Keys;
use super::settings::ModelKey;
use super::{Config, Tensors};
use crate::error::{Error, Result};
use crate::transformer::{Centring, Linear, Norm, TransformerBlock};

/// How the tensors of a kind of model make its embeddings and blocks.
pub trait Architecture: Send + Sync {
    /// `model_type` of `config.json`.
    fn name(&self) -> &'static str;
    /// All keys of `config.json` that change what such a model computes. Others say nothing of its
    /// hidden states.
    fn settings(&self) -> &'static [ModelKey];
    /// Reads the sizes.
    ///
    /// **Errors** a missing or contradictory setting, one that is not computed here.
    fn config(&self, keys: &Keys) -> Result<Config>;
    /// Names and shapes of all tensors that are used, without prefix.
    fn shapes(&self, config: &Config) -> Vec<(String, Vec<usize>)>;
    /// What may stand before all names.
    fn prefixes(&self) -> &'static [&'static str];
    /// True for tensors that belong to such models but move no hidden state: poolers, heads for a task, masks.
    fn is_beside(&self, name: &str) -> bool;
    /// Which block layer l applies.
    fn block_of(&self, l: usize) -> usize {
        l
    }
    /// True for tensors of block 0.
    fn in_first_block(&self, name: &str) -> bool;
    /// The tokens before the first layer.
    ///
    /// **Errors** tensors that cannot be read.
    fn embed(&self, store: &TensorStore, config: &Config, ids: &[usize]) -> Result<Vec<f64>>;
    /// A block.
    ///
    /// **Errors** tensors that cannot be read.
    fn block(&self, store: &TensorStore, config: &Config, index: usize) -> Result<TransformerBlock>;
    /// The norm after the last layer.
    ///
    /// **Errors** tensors that cannot be read.
    fn last(&self, _: &TensorStore, _: &Config) -> Result<Option<Norm>> {
        Ok(None)
    }
}

/// Tensors of a model whose names and shapes are checked.
pub struct TensorStore {
    tensors: Tensors,
    prefix: &'static str,
}

impl TensorStore {
    /// Checks that all tensors of a model are there with their shapes, and no others but those beside the hidden states.
    ///
    /// **Errors** the first missing, wrongly shaped or unknown tensor.
    pub fn new(tensors: Tensors, kind: &dyn Architecture, config: &Config) -> Result<Self> {
        let shapes = kind.shapes(config);
        let bad = |name: &str, problem: String| Error::File { path: tensors.path().into(), place: format!("tensor {name}"), problem };
        let has = |prefix: &&&str| shapes.iter().any(|s| tensors.entries().contains_key(&format!("{prefix}{}", s.0)));
        let prefix = kind.prefixes().iter().find(has).copied().unwrap_or("");
        for (name, shape) in &shapes {
            let name = format!("{prefix}{name}");
            match tensors.entries().get(&name) {
                None if tensors.is_whole(&name) => return Err(bad(&name, "found whole numbers, expected F64, F32, F16 or BF16".into())),
                None => return Err(bad(&name, format!("not in the file, expected one of shape {shape:?} for the settings of the model"))),
                Some(e) if e.shape != *shape => {
                    return Err(bad(&name, format!("found shape {:?}, expected {shape:?} for the settings of the model", e.shape)));
                }
                Some(_) => {}
            }
        }
        for name in tensors.entries().keys() {
            let bare = name.strip_prefix(prefix).unwrap_or(name);
            if !kind.is_beside(bare) && !shapes.iter().any(|s| s.0 == bare) {
                return Err(bad(
                    name,
                    format!("found in the file, expected no such tensor in a model `{}` of these settings", kind.name()),
                ));
            }
        }
        Ok(Self { tensors, prefix })
    }

    /// True where the file has this tensor.
    pub fn has(&self, name: &str) -> bool {
        self.tensors.entries().contains_key(&format!("{}{name}", self.prefix))
    }

    /// An error at a tensor.
    pub fn bad(&self, name: &str, problem: String) -> Error {
        Error::File { path: self.tensors.path().into(), place: format!("tensor {}{name}", self.prefix), problem }
    }

    /// Number of parameters stored in the tensors of these names.
    pub fn count(&self, names: &[(String, Vec<usize>)]) -> usize {
        names.iter().map(|n| n.1.iter().product::<usize>()).sum()
    }

    /// All numbers of a tensor.
    ///
    /// **Errors** as [`Tensors::rows`].
    pub fn all(&self, name: &str) -> Result<Vec<f64>> {
        self.tensors.rows(&format!("{}{name}", self.prefix), None)
    }

    /// Some rows of a tensor.
    ///
    /// **Errors** as [`Tensors::rows`].
    pub fn rows(&self, name: &str, rows: &[usize]) -> Result<Vec<f64>> {
        self.tensors.rows(&format!("{}{name}", self.prefix), Some(rows))
    }

    /// The map `name.weight`, with `name.bias` where there is one.
    ///
    /// **Errors** as [`Tensors::rows`].
    pub fn linear(&self, name: &str, inputs: usize, biased: bool) -> Result<Linear> {
        let bias = if biased { self.all(&format!("{name}.bias"))? } else { Vec::new() };
        Linear::new(name, inputs, self.all(&format!("{name}.weight"))?, bias)
    }

    /// A LayerNorm with `name.weight` and `name.bias`.
    ///
    /// **Errors** as [`Tensors::rows`].
    pub fn layer_norm(&self, name: &str, eps: f64) -> Result<Norm> {
        Norm::new(name, Centring::Mean, eps, self.all(&format!("{name}.weight"))?, self.all(&format!("{name}.bias"))?)
    }
}

/// Names and shapes of a map and its bias.
pub fn map(name: &str, inputs: usize, outputs: usize) -> [(String, Vec<usize>); 2] {
    [(format!("{name}.weight"), vec![outputs, inputs]), (format!("{name}.bias"), vec![outputs])]
}

/// Names and shapes of a LayerNorm.
pub fn norm(name: &str, d: usize) -> [(String, Vec<usize>); 2] {
    [(format!("{name}.weight"), vec![d]), (format!("{name}.bias"), vec![d])]
}

/// Word, position and kind added up, under a norm: how BERT and ALBERT embed.
pub fn embedded(store: &TensorStore, config: &Config, ids: &[usize]) -> Result<Vec<f64>> {
    let positions: Vec<usize> = (0..ids.len()).collect();
    let mut x = store.rows("embeddings.word_embeddings.weight", ids)?;
    let p = store.rows("embeddings.position_embeddings.weight", &positions)?;
    let kind = store.rows("embeddings.token_type_embeddings.weight", &[0])?;
    for (row, p) in x.chunks_exact_mut(config.embedding).zip(p.chunks_exact(config.embedding)) {
        row.iter_mut().zip(&kind).for_each(|(x, k)| *x += k);
        row.iter_mut().zip(p).for_each(|(x, p)| *x += p);
    }
    Ok(store.layer_norm("embeddings.LayerNorm", config.eps)?.apply(&x))
}

/// The tensors of [`embedded`].
pub fn embedding_shapes(config: &Config) -> Vec<(String, Vec<usize>)> {
    let e = config.embedding;
    let mut out = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![config.vocabulary, e]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![config.positions, e]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![config.kinds, e]),
    ];
    out.extend(norm("embeddings.LayerNorm", e));
    out
}
