//! `figure`: runs missing experiments, then draws figures of papers.

mod drawing;
mod drawn;
mod figure_data;
mod hidden_states;

use super::output::note;
use super::parameter::{assignment, assignments, explained as explained_parameters};
use super::printed::credit;
use super::progress;
use super::run::ShardArguments;
use crate::draw::Size;
use crate::error::{Error, Result};
use crate::lab::replace::Replace;
use crate::lab::snapshot::folder_and_cell;
use crate::lab::{Experiment, run::combine_shards, shard::Shard};
use crate::operation::{Answer, Operation, Parameters, Rows, Table, any, column};
use crate::paper_figs::{ALL, PaperFigure};
use crate::parameters;
pub use drawing::DrawingArguments;
pub use drawn::DrawnFigure;
use figure_data::FigureData;
use serde_json::json;
use std::path::{Path, PathBuf};

parameters! {
    /// Parameters of `figure`.
    struct Figures {
        ..drawing: DrawingArguments;
        ..shards: ShardArguments;
        /// Names of figures (`list figures`); without one, all figures.
        names: Vec<String>, any().positional();
        /// Value of a parameter (`explain NAME` lists them); separate the values of a list by
        /// commas. Repeat it for other parameters.
        set: Vec<String>, any().form("NAME=VALUE");
        /// Use the published grid instead of the smaller default.
        published: bool;
        /// Folder with the results of experiments.
        runs: PathBuf, any().or("runs").form("DIR");
        /// Draw this experiment instead of the figure's own experiments.
        experiment: Option<String>, any().hidden().excludes(&["set", "published", "from_run"]);
        /// Draw the results in this folder, written by `run` or `solve --out`; of `run` perhaps
        /// one cell, by the first characters of its name. Or draw this experiment (a TOML file)
        /// instead of the figure's own.
        from_run: Option<String>,
            any().form("FOLDER[:CELL]|FILE").excludes(&["set", "published"]);
        /// One cell of --from-run.
        cell: Option<String>, any().hidden().needs(&["from_run"]);
        /// Hidden states for figures of a trained model: layers x tokens x dimensions, NPY or NPZ.
        tokens: Option<PathBuf>, any().form("FILE[:ARRAY]");
        /// Name of the array in an NPZ file of hidden states.
        array: Option<String>, any().hidden().needs(&["tokens"]);
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "figure",
    group: "Papers",
    summary: "Draw the figures of papers (SVG, PNG, CSV, caption)",
    notes: "Examples:
  metastable figure gamma-curve --size nature2 --set n=64 --set beta=2,4
  metastable figure staircase --out staircase.pdf --size 84x60
  metastable figure inner-products --tokens hidden.npz:hidden_states
  metastable figure timeline --from-run my-run.toml --theme dark
  metastable figure phase-diagram --published",
    parameters: Figures::table,
    results: &[
        column("shard", "the shard that was computed"),
        column("cells", "number of its finished cells"),
        column("of", "number of all cells"),
    ],
    tables: &[Table {
        name: "files",
        what: "one row for each file",
        rows: Rows::Lists,
        columns: &[column("files", "the file")],
    }],
    run: |given, _| Figures::of(given)?.run(),
    ..Operation::EMPTY
};

/// Size and resolution of the figures of other commands.
pub struct Style {
    /// Size of a venue.
    pub size: Size,
    /// Resolution of PNG files.
    pub dpi: f64,
}

impl Figures {
    /// Draws the figures.
    fn run(mut self) -> Result<Answer> {
        if let Some(file) = self.from_run.take_if(|path| path.ends_with(".toml")) {
            self.experiment = Some(file);
        }
        if let Some(text) = self.from_run.clone()
            && let (folder, Some(cell)) = folder_and_cell(&text)
        {
            self.from_run = Some(folder.display().to_string());
            self.cell = Some(cell.to_owned());
        }
        self.drawing.sheet()?;
        let entries: Vec<&PaperFigure> = if self.names.is_empty() {
            ALL.to_vec()
        } else {
            self.names.iter().map(|n| find(n)).collect::<Result<_>>()?
        };
        self.check(&entries)?;
        let part = self.shards.shard()?;
        if part.is_some() || self.shards.merge {
            self.check_parts(&entries)?;
        }
        if let Some(part) = part {
            return self.part(&entries, &part);
        }
        let (mut written, count) = (Vec::new(), entries.len() as f64);
        for (k, entry) in entries.into_iter().enumerate() {
            let _part = progress::part(k as f64 / count, (k + 1) as f64 / count);
            progress::report(Some(0.0), || entry.name.to_owned());
            let mut drawn = self.draw(entry)?;
            drawn.provenance.reproduce.push_str(&self.drawing.flags());
            // The title and the credit are true only of the figure without these flags.
            let own = self.set.is_empty()
                && self.experiment.is_none()
                && self.from_run.is_none()
                && self.tokens.is_none();
            if own {
                drawn.picture.caption.push_str(&credit(entry));
            }
            note(&format!(
                "{}: {}",
                entry.name,
                if own { entry.title } else { drawn.provenance.reproduce.as_str() }
            ));
            written.extend(self.drawing.write(&drawn)?);
        }
        let names: Vec<String> = written.iter().map(|p| p.display().to_string()).collect();
        let text = names.join("\n");
        Ok(Answer::new(json!({"files": names}), text))
    }

    /// The flags that name the hidden states.
    fn source(&self) -> String {
        let flag =
            |name: &str, v: Option<String>| v.map_or(String::new(), |v| format!(" --{name} {v}"));
        flag("tokens", self.tokens.as_ref().map(|p| p.display().to_string()))
            + &flag("array", self.array.clone())
    }

    /// **Errors** flags without effect on these figures.
    fn check(&self, entries: &[&PaperFigure]) -> Result<()> {
        if let (Some(path), Some(e)) =
            (&self.tokens, entries.iter().find(|e| !e.needs_hidden_states))
        {
            let takes: Vec<&str> =
                ALL.iter().filter(|e| e.needs_hidden_states).map(|e| e.name).collect();
            let found =
                format!("{} for `{}`, which shows no hidden states", path.display(), e.name);
            return Err(Error::parameter(
                "--tokens",
                found,
                format!("a figure of hidden states ({})", takes.join(", ")),
            ));
        }
        if let (true, Some(e)) = (
            self.published && !self.names.is_empty(),
            entries.iter().find(|e| e.published.is_empty()),
        ) {
            return Err(Error::parameter(
                "--published",
                format!("--published for `{}`", e.name),
                "a figure whose default grid is reduced",
            ));
        }
        if let (Some(file), Some(e)) =
            (&self.experiment, entries.iter().find(|e| e.cells.is_none()))
        {
            let takes: Vec<&str> =
                ALL.iter().filter(|e| e.cells.is_some()).map(|e| e.name).collect();
            let found = format!("{file} for `{}`, which draws no experiment", e.name);
            return Err(Error::parameter(
                "--from-run",
                found,
                format!("a figure of an experiment ({})", takes.join(", ")),
            ));
        }
        if let (Some(folder), Some(e)) =
            (&self.from_run, entries.iter().find(|e| e.cells.is_none() && e.study.is_none()))
        {
            let found = format!("{folder} for `{}`, which draws no results", e.name);
            return Err(Error::parameter(
                "--from-run",
                found,
                "a figure of an experiment or a study",
            ));
        }
        self.drawing.one_file(entries.len()).map(|_| ())
    }

    /// **Errors** shards of figures without experiments, or of other data.
    fn check_parts(&self, entries: &[&PaperFigure]) -> Result<()> {
        let other = self.experiment.is_some() || self.from_run.is_some() || !self.set.is_empty();
        let refuse = |expected: &str| self.shards.refuse(expected);
        if other {
            return refuse("none with --set or --from-run: run the experiment itself in shards");
        }
        if !entries.iter().any(|e| !self.experiments(e).is_empty()) {
            return refuse("none: these figures have no experiments");
        }
        if self.shards.merge {
            for name in entries.iter().flat_map(|e| self.experiments(e)) {
                combine_shards(&Experiment::built_in(name)?, &self.runs)?;
            }
        }
        Ok(())
    }

    /// The experiments that a figure draws.
    fn experiments(&self, entry: &PaperFigure) -> &'static [&'static str] {
        if self.published && !entry.published.is_empty() {
            entry.published
        } else {
            entry.experiments
        }
    }

    /// Runs one shard of the experiments and draws nothing.
    fn part(&self, entries: &[&PaperFigure], part: &Shard) -> Result<Answer> {
        let (mut done, mut all) = (0, 0);
        for name in entries.iter().flat_map(|e| self.experiments(e)) {
            let (mine, cells) =
                crate::cli::run::execute_shard(&Experiment::built_in(name)?, &self.runs, part)?;
            (done, all) = (done + mine, all + cells);
        }
        let text = format!(
            "shard {part}: {done} of {all} cells are finished; when all shards are finished, run this command with --merge"
        );
        Ok(Answer::new(json!({"shard": part.to_string(), "cells": done, "of": all}), text))
    }

    /// Collects the data that the flags select and draws the figure.
    fn draw(&self, entry: &'static PaperFigure) -> Result<DrawnFigure> {
        let mut data = FigureData::new(entry, self.published);
        let parameters = entry.all_parameters();
        let mut overridden = Vec::new();
        for ((name, value), text) in assignments(&self.set, assignment)?.into_iter().zip(&self.set)
        {
            if parameters.is_empty() {
                return Err(Error::parameter(
                    "--set",
                    text,
                    format!("no parameter: `{}` has none", entry.name),
                ));
            }
            data.inputs.values.set(&parameters, name, &value)?;
            data.flags.push_str(&format!(" --set {text}"));
            overridden.push(name);
        }
        if entry.needs_hidden_states {
            let file = self.tokens.as_deref().map(|path| (path, self.array.as_deref()));
            data.add_hidden_states(file, &self.source())?;
        }
        if let Some(file) = &self.experiment {
            data.flags.push_str(&format!(" --from-run {file}"));
            data.add_experiment(Experiment::load(Path::new(file))?);
        } else if let Some(folder) = &self.from_run {
            let cell = self.cell.as_ref().map_or(String::new(), |c| format!(":{c}"));
            data.flags.push_str(&format!(" --from-run {folder}{cell}"));
            data.add_folder(Path::new(folder), self.cell.as_deref())?;
        } else {
            data.add_inputs(&overridden)?;
        }
        self.drawing.check(&data.name(), &data.provenance())?;
        data.run(&self.runs, if self.experiment.is_some() { "--from-run" } else { "--set" })?;
        data.draw()
    }
}

/// Finds a figure. **Errors** an unknown name.
pub fn find(name: &str) -> Result<&'static PaperFigure> {
    ALL.iter()
        .copied()
        .find(|e| e.name == name)
        .ok_or_else(|| Error::unknown("figure", name, ALL.iter().map(|e| e.name)))
}

/// The command, parameters and flags of a figure, for `explain`.
pub fn explained(entry: &'static PaperFigure) -> String {
    let mut text = format!("Draw it     metastable figure {}\n", entry.name);
    text.push_str(&explained_parameters(entry.all_parameters()));
    let mut takes = Vec::new();
    if entry.cells.is_some() {
        takes.extend([
            "--from-run FOLDER (of run or solve --out)",
            "--from-run FILE (an experiment)",
        ]);
    } else if entry.study.is_some() {
        takes.push("--from-run FOLDER (of run)");
    }
    takes.extend(entry.needs_hidden_states.then_some("--tokens FILE[:ARRAY]"));
    takes.extend((!entry.published.is_empty()).then_some("--published"));
    if !takes.is_empty() {
        text.push_str(&format!("Your own data: {}\n", takes.join(", ")));
    }
    text.trim_end().to_owned()
}

/// Runs missing experiments, draws a figure and writes all formats; returns the files. `folders`:
/// of experiment results, of figures, in which files are `replaced`.
pub fn make(
    entry: &'static PaperFigure,
    style: &Style,
    folders: (&Path, &Path),
    replaced: Replace,
) -> Result<Vec<PathBuf>> {
    let mut data = FigureData::new(entry, false);
    if entry.needs_hidden_states {
        data.add_hidden_states(None, "")?;
    }
    data.add_inputs(&[])?;
    data.run(folders.0, "--set")?;
    let mut drawn = data.draw()?;
    drawn.picture.caption.push_str(&credit(entry));
    drawn.write(folders.1, (&style.size.into(), style.dpi), replaced)
}
