//! `page`: one HTML file that runs the solver in a browser.

use super::out_file;
use super::output::note;
use crate::error::{Error, Result};
use crate::lab::Provenance;
use crate::lab::replace::{self, Problem};
use crate::operation::{Answer, Operation, Parameters, any, column};
use crate::parameters;
use base64::Engine;
use flate2::{Compression, write::ZlibEncoder};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The solver as WebAssembly, compiled from `src/page` by `.ci/page build`.
const ENGINE: &[u8] = include_bytes!("engine.wasm");

/// The parts of the script; each uses only those before it.
const SCRIPT: [&str; 8] = [
    include_str!("engine.js"),
    include_str!("pen.js"),
    include_str!("state.js"),
    include_str!("statements.js"),
    include_str!("curves.js"),
    include_str!("scene.js"),
    include_str!("chart.js"),
    include_str!("main.js"),
];

parameters! {
    /// Parameters of `page`.
    struct Page {
        /// File to write. It opens from the disk and needs no network.
        out: PathBuf, any().or(OWN_FILE);
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "page",
    group: "Simulate",
    summary: "Write the solver as one HTML page for a browser, with sliders",
    notes: "Examples:
  metastable page
  metastable page --out talk.html",
    parameters: Page::table,
    results: &[column("file", "the page"), column("bytes", "its size")],
    run: |given, _| Page::of(given)?.run(),
    ..Operation::EMPTY
};

/// The file without --out.
const OWN_FILE: &str = "metastable.html";

impl Page {
    /// Writes the page.
    fn run(self) -> Result<Answer> {
        if self.out.is_dir() {
            return Err(Error::parameter(
                "--out",
                self.out.display(),
                "a file, for example metastable.html in that folder",
            ));
        }
        let page = html()?;
        let files = vec![(self.out.clone(), page.clone().into_bytes())];
        let replaced = out_file::replaced(self.out == Path::new(OWN_FILE));
        replace::write(files, Some(&Problem::from(&provenance())), replaced)?;
        note(&format!("wrote {}: open it in a browser", self.out.display()));
        Ok(Answer::new(
            json!({"file": self.out.display().to_string(), "bytes": page.len()}),
            self.out.display().to_string(),
        ))
    }
}

/// The origin of the page.
pub fn provenance() -> Provenance {
    Provenance::new("page", "", "metastable page")
}

/// The page with its style, script and solver.
pub fn html() -> Result<String> {
    let failed = |e: std::io::Error| Error::Numerical {
        what: format!("the page could not be compressed: {e}"),
    };
    let mut compressed = ZlibEncoder::new(Vec::new(), Compression::best());
    compressed.write_all(ENGINE).map_err(failed)?;
    let engine =
        base64::engine::general_purpose::STANDARD.encode(compressed.finish().map_err(failed)?);
    let parts = [
        ("style", include_str!("style.css")),
        ("version", env!("CARGO_PKG_VERSION")),
        ("provenance", &provenance().json()),
        ("script", &SCRIPT.concat()),
        ("engine", &engine),
    ];
    Ok(parts.iter().fold(include_str!("page.html").to_owned(), |page, (name, text)| {
        page.replace(&format!("{{{{{name}}}}}"), text)
    }))
}
