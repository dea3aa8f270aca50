//! `provenance`: the origin of a result file.

use super::output::Output;
use crate::error::Result;
use crate::lab::provenance;
use std::path::PathBuf;

/// Flags of `provenance`.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  metastable provenance runs/figures/gamma-curve.png")]
pub struct Arguments {
    /// A CSV, JSON, NPY, SVG, PNG or HTML file written by this program.
    file: PathBuf,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let block = provenance::read(&self.file)?;
        let json = serde_json::to_value(&block).unwrap_or_default();
        let text = json.as_object().map(|o| {
            o.iter()
                .map(|(k, v)| format!("{k:18} {}", v.as_str().map_or(v.to_string(), str::to_owned)))
                .collect::<Vec<_>>()
        });
        out.result(&json, &text.unwrap_or_default().join("\n"));
        Ok(0)
    }
}
