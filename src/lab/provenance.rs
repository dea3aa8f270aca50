//! Where a result comes from: the same block inside every artefact.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Bumped whenever a published number may move by more than its stated error.
pub const NUMERICAL_VERSION: u32 = 11;

/// Changes with the columns of stored tables, so that cells of other columns are run again.
pub const FORMAT: u32 = 3;

/// The block. It names no user, host or absolute path, and no time (figures must be byte-reproducible; times are in record.json only).
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Provenance {
    /// Tool and version.
    pub tool: String,
    /// See [`NUMERICAL_VERSION`].
    pub numerical_version: u32,
    /// Commit of the build, or `unknown`.
    pub commit: String,
    /// Compiler of the build.
    pub compiler: String,
    /// Target of the build.
    pub target: String,
    /// The experiment or command, resolved.
    pub what: String,
    /// SHA-256 of the resolved configuration.
    pub config_hash: String,
    /// The line that makes the artefact again.
    pub reproduce: String,
}

impl Provenance {
    /// The block of an artefact.
    pub fn new(what: impl Into<String>, config: &str, reproduce: impl Into<String>) -> Self {
        Self {
            tool: format!("metastable {}", env!("CARGO_PKG_VERSION")),
            numerical_version: NUMERICAL_VERSION,
            commit: env!("METASTABLE_COMMIT").into(),
            compiler: env!("METASTABLE_RUSTC").into(),
            target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            what: what.into(),
            config_hash: hash(config),
            reproduce: reproduce.into(),
        }
    }

    /// One line of JSON.
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The lines for a CSV header.
    pub fn csv_header(&self) -> Vec<String> {
        vec![format!("provenance: {}", self.json())]
    }
}

/// SHA-256 in hexadecimal.
pub fn hash(text: impl AsRef<[u8]>) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(text.as_ref()).iter().map(|b| format!("{b:02x}")).collect()
}

/// Reads the block back from a CSV, JSON, SVG, PNG or HTML file of ours; for an NPY array from `record.json` beside it.
///
/// **Errors** a file without a block.
pub fn read(path: &Path) -> Result<Provenance> {
    let no_block = |problem: &str| Error::File { path: path.display().to_string(), place: String::new(), problem: problem.into() };
    if !path.exists() {
        return Err(no_block("no such file"));
    }
    if path.is_dir() {
        let own = ["record.json", "results.csv", "report.html"].into_iter().map(|name| path.join(name)).find(|p| p.is_file());
        return own.map_or_else(|| Err(no_block("found a folder that is no result, expected a file")), |own| read(&own));
    }
    let bytes = std::fs::read(path).map_err(|e| Error::io(path.display(), "read", &e))?;
    let bytes = if bytes.starts_with(b"GIF8") { gif_comment(&bytes) } else { bytes };
    let text = String::from_utf8_lossy(&bytes);
    let found = text
        .match_indices("{\"tool\":\"metastable")
        .find_map(|(start, _)| serde_json::Deserializer::from_str(&text[start..]).into_iter::<Provenance>().next()?.ok());
    if let Some(block) = found {
        return Ok(block);
    }
    // Plain arrays carry no text: the block is in the record or the table beside them.
    for name in ["record.json", "results.csv"] {
        let beside = path.with_file_name(name);
        if path.extension().is_some_and(|e| e == "npy") && beside.exists() {
            return read(&beside);
        }
    }
    Err(no_block("holds no provenance block of metastable"))
}

/// The first comment of a GIF file, whose bytes come in blocks with their lengths between them.
fn gif_comment(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = bytes.windows(2).position(|w| w == [0x21, 0xfe]).map_or(bytes.len(), |p| p + 2);
    while let Some(length) = bytes.get(at).copied().map(usize::from).filter(|l| *l > 0) {
        out.extend_from_slice(bytes.get(at + 1..at + 1 + length).unwrap_or_default());
        at += 1 + length;
    }
    out
}
