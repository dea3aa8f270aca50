//! `provenance`: the origin of a result file.

use super::output::Output;
use crate::error::Result;
use crate::lab::provenance;
use serde_json::json;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Flags of `provenance`.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  metastable provenance runs/figures/gamma-curve.png")]
pub struct Arguments {
    /// A CSV, JSON, NPY, SVG, PNG or HTML file written by this program. Of a certificate, its kind.
    file: PathBuf,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let block = match provenance::read(&self.file) {
            Ok(block) => block,
            Err(e) => return self.certificate(out).ok_or(e),
        };
        let json = serde_json::to_value(&block).unwrap_or_default();
        let text = json.as_object().map(|o| {
            o.iter()
                .map(|(k, v)| format!("{k:18} {}", v.as_str().map_or(v.to_string(), str::to_owned)))
                .collect::<Vec<_>>()
        });
        out.result(&json, &text.unwrap_or_default().join("\n"));
        Ok(0)
    }

    /// Prints the kind of a certificate and the command that checks it; `None` for other files.
    fn certificate(&self, out: &Output) -> Option<i32> {
        let kind = kind_of_certificate(&self.file)?;
        let check = format!(
            "metastable certify check {}",
            provenance::quoted(&self.file.display().to_string())
        );
        let text = format!(
            "{:18} {kind}\n{:18} {check}\nA certificate states its hypotheses itself, without the \
             command that wrote it.",
            "certificate", "check"
        );
        out.result(&json!({ "certificate": kind, "check": check }), &text);
        Some(0)
    }
}

/// The beginnings of certificates, and what they prove.
const CERTIFICATES: [(&str, &str); 6] = [
    ("metastable-trajectory", "a start converges to one point"),
    ("metastable-time", "bounds of the time in which two clusters merge"),
    ("metastable-landscape", "the critical points on the circle, or a benign landscape"),
    ("metastable-spheres", "the critical points on spheres"),
    ("metastable-modes", "the number of modes of a density estimate"),
    ("{", "a critical point exists"),
];

/// What the certificate in a file proves, from its first bytes.
fn kind_of_certificate(path: &Path) -> Option<&'static str> {
    if !path.is_file() {
        return None;
    }
    let (mut bytes, file) = (Vec::new(), std::fs::File::open(path).ok()?);
    file.take(200).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let first = text.split([' ', '\n']).next()?;
    let (start, kind) = CERTIFICATES.iter().find(|(start, _)| *start == first)?;
    (*start != "{" || text.contains("\"metastable critical point")).then_some(*kind)
}
