//! The kinds of models that are read, one file each.

use super::config::Keys;
use super::{Config, Tensors, albert, bert, gpt2, llama};
use crate::error::{Error, Result};
use crate::transformer::{Block, Centring, Linear, Norm};

/// How the tensors of a kind of model make its embeddings and blocks.
pub trait Architecture: Send + Sync {
    /// `model_type` of `config.json`.
    fn name(&self) -> &'static str;
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
    fn embed(&self, store: &Store, config: &Config, ids: &[usize]) -> Result<Vec<f64>>;
    /// A block.
    ///
    /// **Errors** tensors that cannot be read.
    fn block(&self, store: &Store, config: &Config, index: usize) -> Result<Block>;
    /// The norm after the last layer.
    ///
    /// **Errors** tensors that cannot be read.
    fn last(&self, _: &Store, _: &Config) -> Result<Option<Norm>> {
        Ok(None)
    }
}

/// All of them.
pub static ARCHITECTURES: [&dyn Architecture; 4] = [&albert::Albert, &bert::Bert, &gpt2::Gpt2, &llama::Llama];

/// The kind of model that a `config.json` tells of.
///
/// **Errors** one that is not known.
pub fn find(keys: &Keys) -> Result<&'static dyn Architecture> {
    let found = keys.json["model_type"].as_str().ok_or_else(|| keys.bad("model_type", &keys.json["model_type"], "the kind of model"))?;
    let known = || ARCHITECTURES.iter().map(|a| a.name());
    let kind = ARCHITECTURES.iter().copied().find(|a| a.name() == found);
    kind.ok_or_else(|| {
        let place = "key model_type".to_owned();
        Error::File { path: keys.path.into(), place, problem: Error::unknown("kind of model", found, known()).to_string() }
    })
}

/// Tensors of a model whose names and shapes are checked.
pub struct Store {
    tensors: Tensors,
    prefix: &'static str,
}

impl Store {
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

/// The parameters of one block of a model of these settings (a `config.json`).
///
/// **Errors** as [`Architecture::config`].
pub fn block_parameters(path: &str, json: &serde_json::Value) -> Result<usize> {
    let keys = Keys { path, json };
    let kind = find(&keys)?;
    let config = kind.config(&keys)?;
    let parts = kind.shapes(&config).into_iter().filter(|s| kind.in_first_block(&s.0));
    Ok(parts.map(|s| s.1.iter().product::<usize>()).sum())
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
pub fn embedded(store: &Store, config: &Config, ids: &[usize]) -> Result<Vec<f64>> {
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
