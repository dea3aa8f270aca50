//! `page`: the solver in a browser, as one HTML file.

use super::output::{Output, note};
use crate::error::{Error, Result};
use crate::lab::arrays::write_atomically;
use base64::Engine;
use flate2::{Compression, write::ZlibEncoder};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// The solver as WebAssembly, compiled from `src/page` by `.ci/page build`.
const ENGINE: &[u8] = include_bytes!("engine.wasm");

/// The script, in the order in which its parts need each other.
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

/// Flags of `page`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable page
  metastable page --out talk.html")]
pub struct Arguments {
    /// The file to write; it works from the disk and asks the network for nothing.
    #[arg(long, value_name = "FILE", default_value = "metastable.html")]
    out: PathBuf,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        if self.out.is_dir() {
            return Err(Error::parameter("--out", self.out.display(), "a file, for example metastable.html in that folder"));
        }
        let page = html()?;
        write_atomically(&self.out, page.as_bytes())?;
        note(&format!("wrote {}: open it in a browser", self.out.display()));
        out.result(&json!({"file": self.out, "bytes": page.len()}), &self.out.display().to_string());
        Ok(0)
    }
}

/// The page: style, script and solver inside.
pub fn html() -> Result<String> {
    let failed = |e: std::io::Error| Error::Numerical { what: format!("the page could not be packed: {e}") };
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    packed.write_all(ENGINE).map_err(failed)?;
    let engine = base64::engine::general_purpose::STANDARD.encode(packed.finish().map_err(failed)?);
    let parts =
        [("style", include_str!("style.css")), ("version", env!("CARGO_PKG_VERSION")), ("script", &SCRIPT.concat()), ("engine", &engine)];
    Ok(parts.iter().fold(include_str!("page.html").to_owned(), |page, (name, text)| page.replace(&format!("{{{{{name}}}}}"), text)))
}
