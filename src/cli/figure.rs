//! `figure`: run what data are missing, then draw.

use super::output::{Output, note};
use super::result_folder::{self, Found};
use crate::draw::{Mark, Picture, Sheet, Size, Theme, pdf, png, svg};
use crate::error::{Error, Result, in_range};
use crate::flow::hidden::{Comparison, compare};
use crate::lab::{Experiment, Provenance, arrays, experiment::BUILT_IN, provenance::hash, run::results};
use crate::paper_figs::{ALL, Inputs, PaperFigure};
use crate::sphere::Tokens;
use crate::study::Values;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Flags of `figure`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  metastable figure gamma-curve --size nature2 --set n=64 --set beta=2,4
  metastable figure staircase --out staircase.pdf --size 84x60
  metastable figure inner-products --tokens hidden.npz --array hidden_states
  metastable figure timeline --experiment my-run.toml --theme dark
  metastable figure phase-diagram --full")]
pub struct Arguments {
    /// Names (see `list figures`); all of them when none is given.
    names: Vec<String>,
    /// Another value of a parameter (see `explain NAME`); lists are separated by commas. Again for another parameter.
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// The published grid where the default one is reduced.
    #[arg(long)]
    full: bool,
    /// siam, ams, neurips, icml, jmlr, pnas, pnas2, physrev, physrev2, nature1, nature2, beamer, or WIDTH or WIDTHxHEIGHT in millimetres.
    #[arg(long, default_value = "siam")]
    size: String,
    /// Size of type in points; ticks and legends are an eighth smaller. The venue's when none is given.
    #[arg(long, value_name = "PT")]
    font_size: Option<f64>,
    /// print, slides or dark.
    #[arg(long, default_value = "print")]
    theme: String,
    /// Resolution of PNG files.
    #[arg(long, default_value_t = 450.0)]
    dpi: f64,
    /// Folder for figures (SVG, PNG, numbers, caption, PDF), or one file: a name that ends in .pdf, .svg, .png, .csv or .txt.
    #[arg(long, default_value = "runs/figures", value_name = "PATH")]
    out: PathBuf,
    /// Folder of experiment results.
    #[arg(long, default_value = "runs", value_name = "DIR")]
    runs: PathBuf,
    /// Draw this experiment instead of the figure's own.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["set", "full", "result"])]
    experiment: Option<String>,
    /// Draw what `run` or `solve --out` wrote into this folder.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["set", "full"])]
    result: Option<PathBuf>,
    /// Hidden states (layers x tokens x dimensions, NPY or NPZ) for figures that show a model.
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Array of an NPZ file of hidden states.
    #[arg(long, value_name = "NAME")]
    array: Option<String>,
}

/// The hidden states that come with the program (see tests/data/ORIGIN.md).
static MODEL: &[u8] = include_bytes!("../../tests/data/minilm_hidden_states.npz");

/// What a figure is written as: file endings, in the order of [`make`].
const FORMATS: [&str; 5] = ["svg", "png", "csv", "txt", "pdf"];

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
        let sheet = self.sheet()?;
        let dpi = in_range("--dpi", self.dpi, 20.0, 2400.0)?;
        let entries: Vec<&PaperFigure> =
            if self.names.is_empty() { ALL.to_vec() } else { self.names.iter().map(|n| find(n)).collect::<Result<_>>()? };
        let one = self.check(&entries)?;
        let mut written = Vec::new();
        for entry in entries {
            let hidden = match (&self.tokens, entry.hidden) {
                (Some(path), true) => Some(HiddenStates::from_file(path, self.array.as_deref(), self.source())?),
                (None, true) => Some(built_in_model()?),
                _ => None,
            };
            let drawn = self.drawn(entry, hidden)?;
            note(&format!("{}: {}", entry.name, entry.title));
            if let Some(format) = one {
                arrays::write_atomically(&self.out, &drawn.bytes(format, &sheet, dpi)?)?;
                written.push(self.out.clone());
            } else {
                written.extend(drawn.write(&self.out, &sheet, dpi)?);
            }
        }
        let names: Vec<String> = written.iter().map(|p| p.display().to_string()).collect();
        out.result(&json!({"files": names}), &names.join("\n"));
        Ok(0)
    }

    /// What figures are drawn on.
    fn sheet(&self) -> Result<Sheet> {
        let mut sheet = Sheet::from(Size::parse(&self.size)?).themed(Theme::parse(&self.theme)?);
        if let Some(font) = self.font_size {
            sheet.font = in_range("--font-size", font, 4.0, 40.0)?;
        }
        Ok(sheet)
    }

    /// The flags that name the hidden states.
    fn source(&self) -> String {
        let flag = |name: &str, v: Option<String>| v.map_or(String::new(), |v| format!(" --{name} {v}"));
        flag("tokens", self.tokens.as_ref().map(|p| p.display().to_string())) + &flag("array", self.array.clone())
    }

    /// Flags that say nothing about these figures are refused. Returns the format of the one file that is asked for.
    fn check(&self, entries: &[&PaperFigure]) -> Result<Option<&'static str>> {
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
        if let (Some(file), Some(e)) = (&self.experiment, entries.iter().find(|e| e.cells.is_none())) {
            let takes: Vec<&str> = ALL.iter().filter(|e| e.cells.is_some()).map(|e| e.name).collect();
            let found = format!("{file} for `{}`, which draws no experiment", e.name);
            return Err(Error::parameter("--experiment", found, format!("a figure of an experiment ({})", takes.join(", "))));
        }
        if let (Some(folder), Some(e)) = (&self.result, entries.iter().find(|e| e.cells.is_none() && e.study.is_none())) {
            let found = format!("{} for `{}`, which draws no results", folder.display(), e.name);
            return Err(Error::parameter("--result", found, "a figure of an experiment or a study"));
        }
        let extension = self.out.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        let Some(extension) = extension.filter(|_| !self.out.is_dir()) else { return Ok(None) };
        let format = FORMATS.into_iter().find(|f| *f == extension);
        let expected = "a folder, or a file that ends in .pdf, .svg, .png, .csv or .txt";
        let format = format.ok_or_else(|| Error::parameter("--out", self.out.display(), expected))?;
        if entries.len() > 1 {
            return Err(Error::parameter("--out", self.out.display(), format!("a folder for {} figures", entries.len())));
        }
        Ok(Some(format))
    }

    /// The figure's data as these flags ask for them, and its picture.
    fn drawn(&self, entry: &'static PaperFigure, hidden: Option<HiddenStates>) -> Result<Drawn> {
        let mut job = Job::new(entry, self.full, hidden);
        let asked = entry.asked();
        let mut overridden = Vec::new();
        for text in &self.set {
            let pair = text.split_once('=').map(|(n, v)| (n.trim(), v.trim()));
            let (name, value) = pair.ok_or_else(|| Error::parameter("--set", text, "NAME=VALUE"))?;
            if asked.is_empty() {
                return Err(Error::parameter("--set", text, format!("no parameter: `{}` has none", entry.name)));
            }
            job.inputs.values.set(&asked, name, value)?;
            job.flags.push_str(&format!(" --set {name}={value}"));
            overridden.push(name);
        }
        if let Some(file) = &self.experiment {
            job.flags.push_str(&format!(" --experiment {file}"));
            let experiment = Experiment::load(Path::new(file))?;
            job.experiment(&experiment, &self.runs, "--experiment")?;
        } else if let Some(folder) = &self.result {
            job.flags.push_str(&format!(" --result {}", folder.display()));
            job.folder(folder)?;
        } else {
            job.own(&self.runs, &overridden)?;
        }
        job.draw()
    }
}

/// A figure whose data are being gathered.
struct Job {
    entry: &'static PaperFigure,
    full: bool,
    inputs: Inputs,
    what: String,
    configuration: String,
    flags: String,
}

impl Job {
    fn new(entry: &'static PaperFigure, full: bool, hidden: Option<HiddenStates>) -> Self {
        let full = full && !entry.full.is_empty();
        let mut inputs = Inputs { values: Values::of(entry.asked()), ..Inputs::default() };
        let (mut what, mut configuration) = (format!("figure {}", entry.name), String::new());
        let mut flags = if full { " --full".to_owned() } else { String::new() };
        if let Some(model) = hidden {
            configuration.push_str(&model.origin);
            what.push_str(&format!(" of {}", model.origin.replace('"', "")));
            flags.push_str(&model.flags);
            inputs.hidden = Some(model.comparison);
        }
        Self { entry, full, inputs, what, configuration, flags }
    }

    /// Cells of an experiment, run where they are missing.
    fn experiment(&mut self, experiment: &Experiment, runs: &Path, flag: &str) -> Result<()> {
        super::run::execute(experiment, runs)?;
        let cells = results(experiment, runs)?;
        if let Some(shown) = &self.entry.cells {
            shown.check(flag, &cells)?;
        }
        self.configuration.push_str(&experiment.resolved());
        self.inputs.results.push(cells);
        Ok(())
    }

    /// What a folder of results holds.
    fn folder(&mut self, folder: &Path) -> Result<()> {
        match (result_folder::read(folder)?, &self.entry.cells, self.entry.study) {
            (Found::Cells(cells), Some(shown), _) => {
                shown.check("--result", &cells)?;
                cells.iter().for_each(|(cell, t)| self.configuration.push_str(&format!("{cell:?}{:?}", t.table.rows)));
                self.inputs.results.push(cells);
            }
            (Found::Study(tables), _, Some(_)) => {
                tables.iter().for_each(|(name, t)| self.configuration.push_str(&format!("{name}{:?}", t.rows)));
                self.inputs.tables = tables;
            }
            (found, ..) => {
                let holds = if matches!(found, Found::Cells(_)) { "cells of an experiment" } else { "tables of a study" };
                let takes = if self.entry.study.is_some() {
                    "tables of its study, as `run` writes them"
                } else {
                    "cells, as `run` or `solve --out` writes them"
                };
                return Err(Error::parameter(
                    "--result",
                    format!("{holds} in {}", folder.display()),
                    format!("{takes}, for `{}`", self.entry.name),
                ));
            }
        }
        Ok(())
    }

    /// The figure's own experiments and study, with the parameters that were set.
    fn own(&mut self, runs: &Path, overridden: &[&str]) -> Result<()> {
        for name in if self.full { self.entry.full } else { self.entry.experiments } {
            let experiment =
                if overridden.is_empty() { Experiment::built_in(name)? } else { changed(name, overridden, &self.inputs.values, runs)? };
            self.experiment(&experiment, runs, "--set")?;
        }
        if let Some(part) = self.entry.study {
            self.inputs.tables = (part.run)(&self.inputs.values)?;
        }
        self.configuration.push_str(&self.inputs.values.text());
        Ok(())
    }

    fn draw(self) -> Result<Drawn> {
        let picture = (self.entry.draw)(&self.inputs)?;
        let provenance = Provenance::new(self.what, &self.configuration, format!("metastable figure {}{}", self.entry.name, self.flags));
        let name = if self.full { format!("{}-full", self.entry.name) } else { self.entry.name.to_owned() };
        Ok(Drawn { picture, provenance, name })
    }
}

/// A built-in experiment with other values of some keys: an experiment file of its own beside the results, so that it can be run again.
fn changed(name: &str, keys: &[&str], values: &Values, runs: &Path) -> Result<Experiment> {
    let text = BUILT_IN.iter().find(|(n, _)| *n == name).map_or("", |(_, t)| *t);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for key in keys {
        let numbers: Vec<String> =
            values.list(key)?.iter().map(|v| if v.abs() < 1e15 { v.to_string() } else { format!("{v:e}") }).collect();
        let line = format!("{key} = [{}]", numbers.join(", "));
        let line = if numbers.len() == 1 { format!("{key} = {}", numbers[0]) } else { line };
        match lines.iter_mut().find(|l| l.split('=').next().is_some_and(|k| k.trim() == *key)) {
            Some(old) => *old = line,
            None => lines.push(line),
        }
    }
    let text = lines.join("\n") + "\n";
    let path = runs.join(format!("{name}-{}.toml", &hash(&text)[..8]));
    std::fs::create_dir_all(runs).map_err(|e| Error::io(runs.display(), "create the folder", &e))?;
    arrays::write_atomically(&path, text.as_bytes())?;
    Experiment::load(&path)
}

/// A picture with where it comes from.
struct Drawn {
    picture: Picture,
    provenance: Provenance,
    name: String,
}

impl Drawn {
    fn bytes(&self, format: &str, sheet: &Sheet, dpi: f64) -> Result<Vec<u8>> {
        let (picture, record) = (&self.picture, self.provenance.json());
        Ok(match format {
            "svg" => svg(picture, *sheet, &record)?.into_bytes(),
            "png" => png(picture, *sheet, dpi, &record)?,
            "pdf" => pdf(picture, *sheet, &record)?,
            "csv" => plotted_numbers(picture, &self.provenance).into_bytes(),
            _ => format!("{}\n", picture.caption).into_bytes(),
        })
    }

    /// All formats into a folder.
    fn write(&self, out: &Path, sheet: &Sheet, dpi: f64) -> Result<Vec<PathBuf>> {
        std::fs::create_dir_all(out).map_err(|e| Error::io(out.display(), "create the folder", &e))?;
        let mut files = Vec::new();
        for format in FORMATS {
            let path = out.join(format!("{}.{format}", self.name));
            arrays::write_atomically(&path, &self.bytes(format, sheet, dpi)?)?;
            files.push(path);
        }
        Ok(files)
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

/// Runs the experiments that are missing, draws, and writes SVG, PNG, CSV, caption and PDF; returns the files.
pub fn make(
    entry: &'static PaperFigure,
    full: bool,
    hidden: Option<HiddenStates>,
    style: &Style,
    folders: (&Path, &Path),
) -> Result<Vec<PathBuf>> {
    let mut job = Job::new(entry, full, hidden);
    job.own(folders.0, &[])?;
    job.draw()?.write(folders.1, &style.size.into(), style.dpi)
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
                Mark::Heat { x, y, values, .. } => {
                    for (row, y) in values.iter().zip(y) {
                        row.iter().zip(x).for_each(|(v, x)| out.push_str(&format!("{p},{m},,{x},{y},{v}\n")));
                    }
                }
                Mark::Steps { edges, values, label, .. } => {
                    values.iter().zip(edges).for_each(|(v, x)| out.push_str(&format!("{p},{m},\"{label}\",{x},,{v}\n")));
                }
                Mark::Circle | Mark::Middle(_) | Mark::Text { .. } => {}
            }
        }
    }
    out
}
