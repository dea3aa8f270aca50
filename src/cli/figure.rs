//! `figure`: run what data are missing, then draw.

use super::output::{Output, note};
use crate::draw::{Mark, Picture, Size, png, svg};
use crate::error::{Error, Result};
use crate::flow::hidden::{Comparison, compare};
use crate::lab::{Experiment, Provenance, arrays, run::results};
use crate::paper_figs::{ALL, Inputs, PaperFigure};
use crate::sphere::Tokens;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Flags of `figure`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable figure gamma-curve --size nature2
  metastable figure inner-products --tokens hidden.npz --array hidden_states
  metastable figure phase-diagram --full")]
pub struct Arguments {
    /// Names (see `list figures`); all of them when none is given.
    names: Vec<String>,
    /// The published grid where the default one is reduced.
    #[arg(long)]
    full: bool,
    /// siam, ams, neurips, nature1, nature2 or beamer.
    #[arg(long, default_value = "siam")]
    size: String,
    /// Resolution of PNG files.
    #[arg(long, default_value_t = 450.0)]
    dpi: f64,
    /// Folder for figures.
    #[arg(long, default_value = "runs/figures", value_name = "DIR")]
    out: PathBuf,
    /// Folder of experiment results.
    #[arg(long, default_value = "runs", value_name = "DIR")]
    runs: PathBuf,
    /// Hidden states (layers x tokens x dimensions, NPY or NPZ) for figures that show a model.
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Array of an NPZ file of hidden states.
    #[arg(long, value_name = "NAME")]
    array: Option<String>,
}

/// The hidden states that come with the program (see tests/data/ORIGIN.md).
static MODEL: &[u8] = include_bytes!("../../tests/data/minilm_hidden_states.npz");

/// How figures are written.
pub struct Style {
    /// Journal size.
    pub size: Size,
    /// Resolution of PNG files.
    pub dpi: f64,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let style = Style { size: Size::parse(&self.size)?, dpi: crate::error::in_range("--dpi", self.dpi, 20.0, 2400.0)? };
        let entries: Vec<&PaperFigure> =
            if self.names.is_empty() { ALL.to_vec() } else { self.names.iter().map(|n| find(n)).collect::<Result<_>>()? };
        let mut written = Vec::new();
        let flag = |name: &str, v: Option<String>| v.map_or(String::new(), |v| format!(" --{name} {v}"));
        let source = flag("tokens", self.tokens.as_ref().map(|p| p.display().to_string())) + &flag("array", self.array.clone());
        for entry in entries {
            let hidden = match (&self.tokens, entry.hidden) {
                (Some(path), true) => Some(compare(layers(&arrays::read(path, self.array.as_deref())?, path)?)?),
                (None, true) => Some(built_in_model()?),
                _ => None,
            };
            let from = if entry.hidden { source.as_str() } else { "" };
            let files = make(entry, self.full, hidden, &style, from, (&self.runs, &self.out))?;
            note(&format!("{}: {}", entry.name, entry.title));
            written.extend(files);
        }
        let names: Vec<String> = written.iter().map(|p| p.display().to_string()).collect();
        out.result(&json!({"files": names}), &names.join("\n"));
        Ok(0)
    }
}

/// Finds a figure.
pub fn find(name: &str) -> Result<&'static PaperFigure> {
    ALL.iter().copied().find(|e| e.name == name).ok_or_else(|| Error::unknown("figure", name, ALL.iter().map(|e| e.name)))
}

/// The comparison for the hidden states that come with the program.
pub fn built_in_model() -> Result<Comparison> {
    let path = Path::new("minilm_hidden_states.npz");
    compare(layers(&arrays::parse(path, MODEL, Some("hidden_states"))?, path)?)
}

/// One [`Tokens`] per layer, rows normalised (a model's hidden states have any length).
pub(super) fn layers(array: &arrays::Array, path: &Path) -> Result<Vec<Tokens>> {
    let [_, n, d] = array.shape[..] else {
        let problem = format!("found shape {:?}, expected layers x tokens x dimensions", array.shape);
        return Err(Error::File { path: path.display().to_string(), place: String::new(), problem });
    };
    array.data.chunks(n * d).map(|layer| Tokens::normalised(d, layer.to_vec())).collect()
}

/// Runs the experiments that are missing, draws, and writes SVG, PNG, CSV and caption; returns the files.
pub fn make(
    entry: &PaperFigure,
    full: bool,
    hidden: Option<Comparison>,
    style: &Style,
    source: &str,
    folders: (&Path, &Path),
) -> Result<Vec<PathBuf>> {
    let (runs, out) = folders;
    let names = if full && !entry.full.is_empty() { entry.full } else { entry.experiments };
    let mut inputs = Inputs { hidden, ..Inputs::default() };
    let mut configuration = String::new();
    for name in names {
        let experiment = Experiment::built_in(name)?;
        super::run::execute(&experiment, runs)?;
        configuration.push_str(&experiment.resolved());
        inputs.results.push(results(&experiment, runs)?);
    }
    if let Some(study) = entry.study {
        inputs.tables = (study.run)()?;
        configuration.push_str(&format!("study = \"{}\"\n", study.name));
    }
    let picture = (entry.draw)(&inputs)?;
    let flag = format!("{}{source}", if full { " --full" } else { "" });
    let provenance = Provenance::new(format!("figure {}", entry.name), &configuration, format!("metastable figure {}{flag}", entry.name));
    std::fs::create_dir_all(out).map_err(|e| Error::io(out.display(), "create the folder", &e))?;
    let name = if full { format!("{}-full", entry.name) } else { entry.name.to_owned() };
    let mut files = Vec::new();
    for (extension, bytes) in [
        ("svg", svg(&picture, style.size, &provenance.json())?.into_bytes()),
        ("png", png(&picture, style.size, style.dpi, &provenance.json())?),
        ("csv", plotted_numbers(&picture, &provenance).into_bytes()),
        ("txt", format!("{}\n", picture.caption).into_bytes()),
    ] {
        let path = out.join(format!("{name}.{extension}"));
        arrays::write_atomically(&path, &bytes)?;
        files.push(path);
    }
    Ok(files)
}

/// Exactly the numbers that are drawn, one per line: panel, mark, label, x, y, value.
fn plotted_numbers(picture: &Picture, provenance: &Provenance) -> String {
    let mut out = provenance.csv_header().iter().map(|l| format!("# {l}\n")).collect::<String>();
    out.push_str("panel,mark,label,x,y,value\n");
    for (p, panel) in picture.panels.iter().enumerate() {
        for (m, mark) in panel.marks.iter().enumerate() {
            match mark {
                Mark::Line { points, label, .. } | Mark::Points { points, label, .. } => {
                    points.iter().for_each(|(x, y)| out.push_str(&format!("{p},{m},\"{label}\",{x},{y},\n")));
                }
                Mark::Heat { x, y, values } => {
                    for (row, y) in values.iter().zip(y) {
                        row.iter().zip(x).for_each(|(v, x)| out.push_str(&format!("{p},{m},,{x},{y},{v}\n")));
                    }
                }
                Mark::Steps { edges, values, label, .. } => {
                    values.iter().zip(edges).for_each(|(v, x)| out.push_str(&format!("{p},{m},\"{label}\",{x},,{v}\n")));
                }
                Mark::Circle | Mark::Text { .. } => {}
            }
        }
    }
    out
}
