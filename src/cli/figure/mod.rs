//! `figure`: run what data are missing, then draw.

mod drawing;
mod drawn;
mod gathering;
mod hidden;

use super::output::{Output, note};
use super::parameter::{assignment, each, explained as explained_parameters};
use super::printed::credit;
use super::progress;
use super::run::PartArguments;
use crate::draw::Size;
use crate::error::{Error, Result};
use crate::lab::{Experiment, part::Share, run::merge};
use crate::paper_figs::{ALL, PaperFigure};
pub use drawing::DrawingArguments;
pub use drawn::DrawnFigure;
use gathering::Gathering;
pub use hidden::layers;
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
    #[command(flatten)]
    drawing: DrawingArguments,
    /// Folder of experiment results.
    #[arg(long, default_value = "runs", value_name = "DIR")]
    runs: PathBuf,
    /// Draw this experiment instead of the figure's own.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["set", "full", "result"])]
    experiment: Option<String>,
    /// Draw what `run` or `solve --out` wrote into this folder.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["set", "full"])]
    result: Option<PathBuf>,
    /// One cell of --result: the beginning of its name, as `run` prints it.
    #[arg(long, value_name = "ID", requires = "result")]
    cell: Option<String>,
    /// Hidden states (layers x tokens x dimensions, NPY or NPZ) for figures that show a model.
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Array of an NPZ file of hidden states.
    #[arg(long, value_name = "NAME")]
    array: Option<String>,
    #[command(flatten)]
    parts: PartArguments,
}

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
        self.drawing.sheet()?;
        self.drawing.dpi()?;
        let entries: Vec<&PaperFigure> =
            if self.names.is_empty() { ALL.to_vec() } else { self.names.iter().map(|n| find(n)).collect::<Result<_>>()? };
        self.check(&entries)?;
        let part = self.parts.part()?;
        if part.is_some() || self.parts.merge {
            self.check_parts(&entries)?;
        }
        if let Some(part) = part {
            return self.part(&entries, &part, out);
        }
        let (mut written, count) = (Vec::new(), entries.len() as f64);
        for (k, entry) in entries.into_iter().enumerate() {
            let _part = progress::part(k as f64 / count, (k + 1) as f64 / count);
            progress::report(Some(0.0), || entry.name.to_owned());
            let mut drawn = self.drawn(entry)?;
            drawn.provenance.reproduce.push_str(&self.drawing.flags());
            // A title names the figure as it is drawn without flags.
            let own = self.set.is_empty() && self.experiment.is_none() && self.result.is_none() && self.tokens.is_none();
            if own {
                drawn.picture.caption.push_str(&credit(entry));
            }
            note(&format!("{}: {}", entry.name, if own { entry.title } else { drawn.provenance.reproduce.as_str() }));
            written.extend(self.drawing.write(&drawn)?);
        }
        let names: Vec<String> = written.iter().map(|p| p.display().to_string()).collect();
        out.result(&json!({"files": names}), &names.join("\n"));
        Ok(0)
    }

    /// The flags that name the hidden states.
    fn source(&self) -> String {
        let flag = |name: &str, v: Option<String>| v.map_or(String::new(), |v| format!(" --{name} {v}"));
        flag("tokens", self.tokens.as_ref().map(|p| p.display().to_string())) + &flag("array", self.array.clone())
    }

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
        if let (Some(file), Some(e)) = (&self.experiment, entries.iter().find(|e| e.cells.is_none())) {
            let takes: Vec<&str> = ALL.iter().filter(|e| e.cells.is_some()).map(|e| e.name).collect();
            let found = format!("{file} for `{}`, which draws no experiment", e.name);
            return Err(Error::parameter("--experiment", found, format!("a figure of an experiment ({})", takes.join(", "))));
        }
        if let (Some(folder), Some(e)) = (&self.result, entries.iter().find(|e| e.cells.is_none() && e.study.is_none())) {
            let found = format!("{} for `{}`, which draws no results", folder.display(), e.name);
            return Err(Error::parameter("--result", found, "a figure of an experiment or a study"));
        }
        self.drawing.one_file(entries.len()).map(|_| ())
    }

    /// Parts are of the figure's own experiments.
    fn check_parts(&self, entries: &[&PaperFigure]) -> Result<()> {
        let other = self.experiment.is_some() || self.result.is_some() || !self.set.is_empty();
        let refuse = |expected: &str| self.parts.refuse(expected);
        if other {
            return refuse("neither with --set, --experiment or --result: run the experiment itself in parts");
        }
        if !entries.iter().any(|e| !self.experiments(e).is_empty()) {
            return refuse("neither: these figures have no experiments, they are drawn in seconds");
        }
        if self.parts.merge {
            for name in entries.iter().flat_map(|e| self.experiments(e)) {
                merge(&Experiment::built_in(name)?, &self.runs)?;
            }
        }
        Ok(())
    }

    /// The experiments of a figure.
    fn experiments(&self, entry: &PaperFigure) -> &'static [&'static str] {
        if self.full && !entry.full.is_empty() { entry.full } else { entry.experiments }
    }

    /// Runs a part of the data and draws nothing.
    fn part(&self, entries: &[&PaperFigure], part: &Share, out: &Output) -> Result<i32> {
        let (mut done, mut all) = (0, 0);
        for name in entries.iter().flat_map(|e| self.experiments(e)) {
            let (mine, cells) = crate::cli::run::execute_part(&Experiment::built_in(name)?, &self.runs, part)?;
            (done, all) = (done + mine, all + cells);
        }
        let text = format!("part {part}: {done} of {all} cells are finished; when all parts are: the same with --merge");
        out.result(&json!({"part": part.to_string(), "cells": done, "of": all}), &text);
        Ok(0)
    }

    /// The figure's data as these flags ask for them, and its picture.
    fn drawn(&self, entry: &'static PaperFigure) -> Result<DrawnFigure> {
        let mut gathering = Gathering::new(entry, self.full);
        let asked = entry.asked();
        let mut overridden = Vec::new();
        for ((name, value), text) in each(&self.set, assignment)?.into_iter().zip(&self.set) {
            if asked.is_empty() {
                return Err(Error::parameter("--set", text, format!("no parameter: `{}` has none", entry.name)));
            }
            gathering.inputs.values.set(&asked, name, &value)?;
            gathering.flags.push_str(&format!(" --set {text}"));
            overridden.push(name);
        }
        if entry.hidden {
            let file = self.tokens.as_deref().map(|path| (path, self.array.as_deref()));
            gathering.hidden(file, &self.source())?;
        }
        if let Some(file) = &self.experiment {
            gathering.flags.push_str(&format!(" --experiment {file}"));
            let experiment = Experiment::load(Path::new(file))?;
            gathering.experiment(&experiment, &self.runs, "--experiment")?;
        } else if let Some(folder) = &self.result {
            let cell = self.cell.as_ref().map_or(String::new(), |c| format!(" --cell {c}"));
            gathering.flags.push_str(&format!(" --result {}{cell}", folder.display()));
            gathering.folder(folder, self.cell.as_deref())?;
        } else {
            gathering.own(&self.runs, &overridden)?;
        }
        gathering.draw()
    }
}

/// Finds a figure.
pub fn find(name: &str) -> Result<&'static PaperFigure> {
    ALL.iter().copied().find(|e| e.name == name).ok_or_else(|| Error::unknown("figure", name, ALL.iter().map(|e| e.name)))
}

/// A figure with everything that can be asked of it.
pub fn explained(entry: &'static PaperFigure) -> String {
    let mut text = format!("Draw it     metastable figure {}\n", entry.name);
    text.push_str(&explained_parameters(entry.asked()));
    let mut takes = Vec::new();
    if entry.cells.is_some() {
        takes.extend(["--experiment FILE", "--result DIR (of run or solve --out)"]);
    } else if entry.study.is_some() {
        takes.push("--result DIR (of run)");
    }
    takes.extend(entry.hidden.then_some("--tokens FILE [--array NAME]"));
    takes.extend((!entry.full.is_empty()).then_some("--full"));
    if !takes.is_empty() {
        text.push_str(&format!("Your own data: {}\n", takes.join(", ")));
    }
    text.trim_end().to_owned()
}

/// Runs the experiments that are missing, draws, and writes SVG, PNG, CSV, caption and PDF; returns the files.
pub fn make(entry: &'static PaperFigure, style: &Style, folders: (&Path, &Path)) -> Result<Vec<PathBuf>> {
    let mut gathering = Gathering::new(entry, false);
    if entry.hidden {
        gathering.hidden(None, "")?;
    }
    gathering.own(folders.0, &[])?;
    let mut drawn = gathering.draw()?;
    drawn.picture.caption.push_str(&credit(entry));
    drawn.write(folders.1, &style.size.into(), style.dpi)
}
