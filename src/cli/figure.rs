//! `figure`: run what data are missing, then draw.

use super::output::{Output, note};
use crate::draw::{Mark, Picture, Size, png, svg};
use crate::error::{Error, Result};
use crate::flow::hidden::{Comparison, compare};
use crate::lab::{Experiment, Provenance, arrays, provenance::hash, run::results};
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
        self.check(&entries)?;
        let mut written = Vec::new();
        let flag = |name: &str, v: Option<String>| v.map_or(String::new(), |v| format!(" --{name} {v}"));
        let source = flag("tokens", self.tokens.as_ref().map(|p| p.display().to_string())) + &flag("array", self.array.clone());
        for entry in entries {
            let hidden = match (&self.tokens, entry.hidden) {
                (Some(path), true) => Some(HiddenStates::from_file(path, self.array.as_deref(), source.clone())?),
                (None, true) => Some(built_in_model()?),
                _ => None,
            };
            let files = make(entry, self.full, hidden, &style, (&self.runs, &self.out))?;
            note(&format!("{}: {}", entry.name, entry.title));
            written.extend(files);
        }
        let names: Vec<String> = written.iter().map(|p| p.display().to_string()).collect();
        out.result(&json!({"files": names}), &names.join("\n"));
        Ok(0)
    }
}

impl Arguments {
    /// Flags that say nothing about these figures are refused.
    fn check(&self, entries: &[&PaperFigure]) -> Result<()> {
        if let (Some(path), Some(e)) = (&self.tokens, entries.iter().find(|e| !e.hidden)) {
            let takes: Vec<&str> = ALL.iter().filter(|e| e.hidden).map(|e| e.name).collect();
            let found = format!("{} for `{}`, which draws experiments of its own", path.display(), e.name);
            return Err(Error::parameter("--tokens", found, format!("a figure of hidden states ({})", takes.join(", "))));
        }
        if let (None, Some(array)) = (&self.tokens, &self.array) {
            return Err(Error::parameter("--array", array, "it with --tokens, whose array it names"));
        }
        if let (true, Some(e)) = (self.full && !self.names.is_empty(), entries.iter().find(|e| e.full.is_empty())) {
            return Err(Error::parameter("--full", format!("--full for `{}`", e.name), "a figure whose default grid is reduced"));
        }
        let extension = self.out.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        if extension.is_some_and(|e| ["pdf", "svg", "png", "eps", "csv", "jpg", "jpeg"].contains(&e.as_str())) {
            let expected = "a folder: every figure is written there as SVG, PNG, CSV and caption";
            return Err(Error::parameter("--out", self.out.display(), expected));
        }
        Ok(())
    }
}

/// Hidden states compared with SA, and where they come from.
pub struct HiddenStates {
    comparison: Comparison,
    /// File, array and SHA-256 of the file.
    origin: String,
    /// The flags that name them.
    flags: String,
}

impl HiddenStates {
    fn from_file(path: &Path, array: Option<&str>, flags: String) -> Result<Self> {
        let read = arrays::read(path, array)?;
        let bytes = std::fs::read(path).map_err(|e| Error::io(path.display(), "read", &e))?;
        let name = array.map(str::to_owned).or_else(|| arrays::members(&bytes).into_iter().next()).unwrap_or_default();
        let file = path.file_name().map(|f| f.to_string_lossy().into_owned()).unwrap_or_default();
        let origin = serde_json::json!({"file": file, "array": name, "sha256": hash(&bytes)}).to_string();
        Ok(Self { comparison: compare(layers(&read, path)?)?, origin, flags })
    }
}

/// Finds a figure.
pub fn find(name: &str) -> Result<&'static PaperFigure> {
    ALL.iter().copied().find(|e| e.name == name).ok_or_else(|| Error::unknown("figure", name, ALL.iter().map(|e| e.name)))
}

/// The hidden states that come with the program.
pub fn built_in_model() -> Result<HiddenStates> {
    let (path, array) = (Path::new("minilm_hidden_states.npz"), "hidden_states");
    let origin = serde_json::json!({"file": path.display().to_string(), "array": array, "sha256": hash(MODEL)}).to_string();
    Ok(HiddenStates { comparison: compare(layers(&arrays::parse(path, MODEL, Some(array))?, path)?)?, origin, flags: String::new() })
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
pub fn make(entry: &PaperFigure, full: bool, hidden: Option<HiddenStates>, style: &Style, folders: (&Path, &Path)) -> Result<Vec<PathBuf>> {
    let (runs, out) = folders;
    let names = if full && !entry.full.is_empty() { entry.full } else { entry.experiments };
    let (mut configuration, mut what, mut source) = (String::new(), format!("figure {}", entry.name), String::new());
    let mut inputs = Inputs::default();
    if let Some(model) = hidden {
        configuration.push_str(&model.origin);
        what.push_str(&format!(" of {}", model.origin.replace('"', "")));
        (inputs.hidden, source) = (Some(model.comparison), model.flags);
    }
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
    let provenance = Provenance::new(what, &configuration, format!("metastable figure {}{flag}", entry.name));
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
