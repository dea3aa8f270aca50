//! Hidden states of a trained model for figures.

use crate::error::{Error, Result};
use crate::flow::sa_fit::{SaFit, fit_sa};
use crate::lab::{arrays, provenance::hash};
use crate::sphere::Tokens;
use std::path::Path;

/// The hidden states included in the program (see tests/data/ORIGIN.md).
static MODEL: &[u8] = include_bytes!("../../../tests/data/minilm_hidden_states.npz");

/// Hidden states, compared with SA, and their source.
pub struct HiddenStates {
    /// The comparison with SA.
    pub comparison: SaFit,
    /// File, array and SHA-256 of the file.
    pub origin: String,
}

impl HiddenStates {
    /// Reads a file. **Errors** an array that is not layers x tokens x dimensions.
    pub fn from_file(path: &Path, array: Option<&str>, beta: Option<f64>) -> Result<Self> {
        if let Some((file, name)) = arrays::named(path).filter(|_| array.is_none()) {
            return Self::from_file(&file, Some(name), beta);
        }
        let read = arrays::read(path, array)?;
        let bytes = std::fs::read(path).map_err(|e| Error::io(path.display(), "read", &e))?;
        let name = array
            .map(str::to_owned)
            .or_else(|| arrays::members(&bytes).into_iter().next())
            .unwrap_or_default();
        let file = path.file_name().map(|f| f.to_string_lossy().into_owned()).unwrap_or_default();
        let origin =
            serde_json::json!({"file": file, "array": name, "sha256": hash(&bytes)}).to_string();
        Ok(Self { comparison: fit_sa(layers(&read, path)?, beta)?, origin })
    }
}

/// The hidden states included in the program.
pub fn built_in(beta: Option<f64>) -> Result<HiddenStates> {
    let (path, array) = (Path::new("minilm_hidden_states.npz"), "hidden_states");
    let origin = serde_json::json!({"file": path.display().to_string(), "array": array, "sha256": hash(MODEL)}).to_string();
    Ok(HiddenStates {
        comparison: fit_sa(layers(&arrays::parse(path, MODEL, Some(array))?, path)?, beta)?,
        origin,
    })
}

/// The tokens of every layer: rows divided by their norms.
pub fn layers(array: &arrays::Array, path: &Path) -> Result<Vec<Tokens>> {
    let [_, n, d] = array.shape[..] else {
        let problem =
            format!("found shape {:?}, expected layers x tokens x dimensions", array.shape);
        return Err(Error::File {
            path: path.display().to_string(),
            place: String::new(),
            problem,
        });
    };
    array.data.chunks(n * d).map(|layer| Tokens::normalised(d, layer.to_vec())).collect()
}
