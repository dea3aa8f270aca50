//! An architecture, and the check of a file against it.

use super::keys::Keys;
use super::settings::ModelKey;
use super::{Config, Tensors};
use crate::error::{Error, Result};
use crate::transformer::{Centring, Linear, Norm, TransformerBlock};

/// An architecture: how tensors become embeddings and blocks.
pub trait Architecture: Send + Sync {
    /// `model_type` of `config.json`.
    fn name(&self) -> &'static str;
    /// All keys of `config.json` that change what such a model computes. Other keys do not affect
    /// its hidden states.
    fn settings(&self) -> &'static [ModelKey];
    /// Reads the settings.
    ///
    /// **Errors** a missing or contradictory setting, or one that is not computed here.
    fn config(&self, keys: &Keys) -> Result<Config>;
    /// Names (without prefix) and shapes of all tensors that are used.
    fn shapes(&self, config: &Config) -> Vec<(String, Vec<usize>)>;
    /// The possible prefixes of all names.
    fn prefixes(&self) -> &'static [&'static str];
    /// True for tensors of such models that do not affect hidden states: poolers, heads for a task,
    /// masks.
    fn is_ignored(&self, name: &str) -> bool;
    /// Index of the block of layer l.
    fn block_of_layer(&self, l: usize) -> usize {
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
    fn block(&self, store: &TensorStore, config: &Config, index: usize)
    -> Result<TransformerBlock>;
    /// The norm after the last layer.
    ///
    /// **Errors** tensors that cannot be read.
    fn final_norm(&self, _: &TensorStore, _: &Config) -> Result<Option<Norm>> {
        Ok(None)
    }
}

/// Ends of the names of a norm's tensors in files that were converted from TensorFlow, such as the
/// published BERT, and their names now.
const OLD_NAMES: [(&str, &str); 2] = [(".gamma", ".weight"), (".beta", ".bias")];

/// Tensors of a model whose names and shapes are checked.
pub struct TensorStore {
    tensors: Tensors,
    prefix: &'static str,
}

impl TensorStore {
    /// Checks that all tensors of a model exist with their shapes, and that no others exist but
    /// ignored ones. The gain and shift of a norm may have their old names, gamma and beta.
    ///
    /// **Errors** the first missing, wrongly shaped or unknown tensor.
    pub fn new(tensors: Tensors, architecture: &dyn Architecture, config: &Config) -> Result<Self> {
        let shapes = architecture.shapes(config);
        let has = |prefix: &&&str| {
            shapes.iter().any(|s| tensors.entries().contains_key(&format!("{prefix}{}", s.0)))
        };
        let prefix = architecture.prefixes().iter().find(has).copied().unwrap_or("");
        let tensors = tensors.renamed(|old| {
            let bare = old.strip_prefix(prefix)?;
            let end =
                |(old, new): &(&str, &str)| Some(format!("{}{new}", bare.strip_suffix(*old)?));
            let new = OLD_NAMES.iter().find_map(end)?;
            shapes.iter().any(|s| s.0 == new).then(|| format!("{prefix}{new}"))
        });
        let error = |name: &str, problem: String| Error::File {
            path: tensors.path().into(),
            place: format!("tensor {name}"),
            problem,
        };
        for (name, shape) in &shapes {
            let name = format!("{prefix}{name}");
            match tensors.entries().get(&name) {
                None if tensors.is_integer(&name) => {
                    return Err(error(
                        &name,
                        "found whole numbers, expected F64, F32, F16 or BF16".into(),
                    ));
                }
                None => {
                    return Err(error(
                        &name,
                        format!(
                            "not in the file, expected one of shape {shape:?} for the settings of the model"
                        ),
                    ));
                }
                Some(e) if e.shape != *shape => {
                    return Err(error(
                        &name,
                        format!(
                            "found shape {:?}, expected {shape:?} for the settings of the model",
                            e.shape
                        ),
                    ));
                }
                Some(_) => {}
            }
        }
        for name in tensors.entries().keys() {
            let bare = name.strip_prefix(prefix).unwrap_or(name);
            if !architecture.is_ignored(bare) && !shapes.iter().any(|s| s.0 == bare) {
                return Err(error(
                    name,
                    format!(
                        "found in the file, expected no such tensor in a model `{}` of these settings",
                        architecture.name()
                    ),
                ));
            }
        }
        Ok(Self { tensors, prefix })
    }

    /// True if the file has this tensor.
    pub fn has(&self, name: &str) -> bool {
        self.tensors.entries().contains_key(&format!("{}{name}", self.prefix))
    }

    /// An error that names a tensor.
    pub fn error(&self, name: &str, problem: String) -> Error {
        Error::File {
            path: self.tensors.path().into(),
            place: format!("tensor {}{name}", self.prefix),
            problem,
        }
    }

    /// Number of parameters in these tensors.
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

    /// The map with `name.weight` and, if `biased`, `name.bias`.
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
        Norm::new(
            name,
            Centring::Mean,
            eps,
            self.all(&format!("{name}.weight"))?,
            self.all(&format!("{name}.bias"))?,
        )
    }
}

/// Names and shapes of a map and its bias.
pub fn linear_shapes(name: &str, inputs: usize, outputs: usize) -> [(String, Vec<usize>); 2] {
    [(format!("{name}.weight"), vec![outputs, inputs]), (format!("{name}.bias"), vec![outputs])]
}

/// Names and shapes of a LayerNorm.
pub fn norm_shapes(name: &str, d: usize) -> [(String, Vec<usize>); 2] {
    [(format!("{name}.weight"), vec![d]), (format!("{name}.bias"), vec![d])]
}

/// The embeddings of BERT and ALBERT: norm of the sum of word, position and token type.
pub fn bert_embeddings(store: &TensorStore, config: &Config, ids: &[usize]) -> Result<Vec<f64>> {
    let positions: Vec<usize> = (0..ids.len()).collect();
    let mut x = store.rows("embeddings.word_embeddings.weight", ids)?;
    let p = store.rows("embeddings.position_embeddings.weight", &positions)?;
    let token_type = store.rows("embeddings.token_type_embeddings.weight", &[0])?;
    for (row, p) in x.chunks_exact_mut(config.embedding).zip(p.chunks_exact(config.embedding)) {
        row.iter_mut().zip(&token_type).for_each(|(x, k)| *x += k);
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
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![config.token_types, e]),
    ];
    out.extend(norm_shapes("embeddings.LayerNorm", e));
    out
}
