//! The origin of a result file, for `explain FILE`.

use crate::error::Result;
use crate::lab::provenance;
use crate::operation::Answer;
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;

/// The origin of a file written by this program; of a certificate, its kind.
pub fn explained(file: &Path) -> Result<Answer> {
    let block = match provenance::read(file) {
        Ok(block) => block,
        Err(e) => return certificate(file).ok_or(e),
    };
    let json = serde_json::to_value(&block).unwrap_or_default();
    let line = |(k, v): (&String, &Value)| {
        format!("{k:18} {}", v.as_str().map_or(v.to_string(), str::to_owned))
    };
    let text: Vec<String> = json.as_object().into_iter().flatten().map(line).collect();
    Ok(Answer::new(json, text.join("\n")))
}

/// The kind of a certificate and the command that checks it; `None` for other files.
fn certificate(file: &Path) -> Option<Answer> {
    let kind = kind_of_certificate(file)?;
    let name = file.display().to_string();
    let check = format!("metastable certify check {}", provenance::quoted(&name));
    let text = format!(
        "{:18} {kind}\n{:18} {check}\nA certificate states its hypotheses itself, without the \
         command that wrote it.",
        "certificate", "check"
    );
    Some(Answer::new(json!({ "file": name, "certificate": kind, "check": check }), text))
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
