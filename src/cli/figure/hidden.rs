//! Hidden states of a model for figures.

use crate::error::{Error, Result};
use crate::flow::hidden::{Comparison, compare};
use crate::lab::{arrays, provenance::hash};
use crate::sphere::Tokens;
use std::path::Path;

/// The hidden states that come with the program (see tests/data/ORIGIN.md).
static MODEL: &[u8] = include_bytes!("../../../tests/data/minilm_hidden_states.npz");

/// Hidden states compared with SA, and where they come from.
pub struct HiddenStates {
    /// Compared with SA.
    pub comparison: Comparison,
    /// File, array and SHA-256 of the file.
    pub origin: String,
}

impl HiddenStates {
    /// From a file. **Errors** a file without layers x tokens x dimensions; what [`compare`] refuses.
    pub fn from_file(path: &Path, array: Option<&str>, beta: Option<f64>) -> Result<Self> {
        let read = arrays::read(path, array)?;
        let bytes = std::fs::read(path).map_err(|e| Error::io(path.display(), "read", &e))?;
        let name = array.map(str::to_owned).or_else(|| arrays::members(&bytes).into_iter().next()).unwrap_or_default();
        let file = path.file_name().map(|f| f.to_string_lossy().into_owned()).unwrap_or_default();
        let origin = serde_json::json!({"file": file, "array": name, "sha256": hash(&bytes)}).to_string();
        Ok(Self { comparison: compare(layers(&read, path)?, beta)?, origin })
    }
}

/// The hidden states that come with the program.
pub fn built_in_model(beta: Option<f64>) -> Result<HiddenStates> {
    let (path, array) = (Path::new("minilm_hidden_states.npz"), "hidden_states");
    let origin = serde_json::json!({"file": path.display().to_string(), "array": array, "sha256": hash(MODEL)}).to_string();
    Ok(HiddenStates { comparison: compare(layers(&arrays::parse(path, MODEL, Some(array))?, path)?, beta)?, origin })
}

/// One [`Tokens`] per layer, rows normalised (a model's hidden states have any length).
pub fn layers(array: &arrays::Array, path: &Path) -> Result<Vec<Tokens>> {
    let [_, n, d] = array.shape[..] else {
        let problem = format!("found shape {:?}, expected layers x tokens x dimensions", array.shape);
        return Err(Error::File { path: path.display().to_string(), place: String::new(), problem });
    };
    array.data.chunks(n * d).map(|layer| Tokens::normalised(d, layer.to_vec())).collect()
}
