//! The data of a figure: experiments, studies, results and hidden states, with the record of where they come from.

use super::drawn::DrawnFigure;
use super::hidden::{HiddenStates, built_in_model};
use crate::cli::parameter::assignment;
use crate::cli::result_folder::{self, FolderContents};
use crate::error::{Error, Result};
use crate::lab::{Experiment, Provenance, run::results};
use crate::paper_figs::{Inputs, PaperFigure};
use crate::study::Given;
use std::path::Path;

/// A figure whose data are being gathered.
pub struct Gathering {
    entry: &'static PaperFigure,
    full: bool,
    /// What the drawing will see.
    pub inputs: Inputs,
    what: String,
    configuration: String,
    /// The flags that ask for these data.
    pub flags: String,
}

impl Gathering {
    /// Nothing gathered yet.
    pub fn new(entry: &'static PaperFigure, full: bool) -> Self {
        let full = full && !entry.full.is_empty();
        let inputs = Inputs { values: Given::of(entry.asked()), ..Inputs::default() };
        let flags = if full { " --full".to_owned() } else { String::new() };
        Self { entry, full, inputs, what: format!("figure {}", entry.name), configuration: String::new(), flags }
    }

    /// Hidden states of a file and an array of it, or those that come with the program, beside SA at the inverse temperature that was set.
    pub fn hidden(&mut self, file: Option<(&Path, Option<&str>)>, flags: &str) -> Result<()> {
        let beta = Some(self.inputs.values.one("beta")?).filter(|b| *b > 0.0);
        let model = file.map_or_else(|| built_in_model(beta), |(path, array)| HiddenStates::from_file(path, array, beta))?;
        self.configuration.push_str(&model.origin);
        self.what.push_str(&format!(" of {}", model.origin.replace('"', "")));
        self.flags.push_str(flags);
        self.inputs.hidden = Some(model.comparison);
        Ok(())
    }

    /// Cells of an experiment, run where they are missing.
    pub fn experiment(&mut self, experiment: &Experiment, runs: &Path, flag: &str) -> Result<()> {
        crate::cli::run::execute(experiment, runs)?;
        let mut cells = results(experiment, runs)?;
        if experiment.models.is_empty() {
            let model = experiment.model.said();
            cells.iter_mut().for_each(|(cell, _)| cell.model.clone_from(&model));
        }
        if let Some(shown) = &self.entry.cells {
            shown.check(flag, &cells)?;
        }
        self.configuration.push_str(&experiment.resolved());
        self.inputs.results.push(cells);
        Ok(())
    }

    /// What a folder of results holds, or one cell of it.
    pub fn folder(&mut self, folder: &Path, cell: Option<&str>) -> Result<()> {
        match (result_folder::read(folder, cell)?, &self.entry.cells, self.entry.study) {
            (FolderContents::Cells(cells), Some(shown), _) => {
                shown.check("--result", &cells)?;
                cells.iter().for_each(|(cell, t)| self.configuration.push_str(&format!("{cell:?}{:?}", t.table.rows)));
                self.inputs.results.push(cells);
            }
            (FolderContents::Study(tables), _, Some(_)) => {
                self.settings_of(folder)?;
                tables.iter().for_each(|(name, t)| self.configuration.push_str(&format!("{name}{:?}", t.rows)));
                self.inputs.tables = tables;
            }
            (found, ..) => {
                let holds = if matches!(found, FolderContents::Cells(_)) { "cells of an experiment" } else { "tables of a study" };
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

    /// The parameters of this figure that the study of a folder was run with.
    fn settings_of(&mut self, folder: &Path) -> Result<()> {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|f| f.path());
        let Some(table) = files.into_iter().find(|f| f.extension().is_some_and(|e| e == "csv")) else { return Ok(()) };
        let Ok(block) = crate::lab::provenance::read(&table) else { return Ok(()) };
        let asked = self.entry.asked();
        self.inputs.made_by = Some(block.reproduce.clone()).filter(|command| !command.starts_with("metastable run "));
        for text in block.reproduce.split(" --set ").skip(1) {
            let (name, value) = assignment(text.trim())?;
            if asked.iter().any(|p| p.name == name) {
                self.inputs.values.set(&asked, name, &value)?;
            }
        }
        Ok(())
    }

    /// The figure's own experiments and study, with the parameters that were set.
    pub fn own(&mut self, runs: &Path, overridden: &[&str]) -> Result<()> {
        for name in if self.full { self.entry.full } else { self.entry.experiments } {
            let experiment =
                if overridden.is_empty() { Experiment::built_in(name)? } else { changed(name, overridden, &self.inputs.values)? };
            self.experiment(&experiment, runs, "--set")?;
        }
        if let Some(part) = self.entry.study {
            self.inputs.tables = (part.run)(&self.inputs.values)?;
        }
        self.configuration.push_str(&self.inputs.values.text());
        Ok(())
    }

    /// The picture.
    pub fn draw(self) -> Result<DrawnFigure> {
        let picture = (self.entry.draw)(&self.inputs)?;
        let provenance = Provenance::new(self.what, &self.configuration, format!("metastable figure {}{}", self.entry.name, self.flags));
        let name = if self.full { format!("{}-full", self.entry.name) } else { self.entry.name.to_owned() };
        Ok(DrawnFigure { picture, provenance, name })
    }
}

/// A built-in experiment with other values of some keys.
fn changed(name: &str, keys: &[&str], values: &Given) -> Result<Experiment> {
    let shown = |key: &str| Ok(values.list(key)?.iter().map(|v| crate::error::show(*v)).collect::<Vec<_>>().join(","));
    let changes = keys.iter().map(|key| Ok(((*key).to_owned(), shown(key)?))).collect::<Result<Vec<_>>>()?;
    Experiment::changed(name, &changes)
}
