//! Data of a figure: experiments, studies, results, hidden states; and their provenance.

use super::drawn::DrawnFigure;
use super::hidden_states::{HiddenStates, built_in};
use crate::cli::parameter::assignment;
use crate::cli::run_folder::{self, FolderContents};
use crate::error::{Error, Result};
use crate::lab::{Experiment, Provenance, run::results};
use crate::paper_figs::{Inputs, PaperFigure};
use crate::study::Values;
use std::path::Path;

/// The data of a figure, collected step by step.
pub struct FigureData {
    entry: &'static PaperFigure,
    full: bool,
    /// The input of the drawing.
    pub inputs: Inputs,
    experiments: Vec<Experiment>,
    runs_study: bool,
    what: String,
    configuration: String,
    /// The flags that select these data, for the command that reproduces the figure.
    pub flags: String,
}

impl FigureData {
    /// A figure without data.
    pub fn new(entry: &'static PaperFigure, full: bool) -> Self {
        let full = full && !entry.published.is_empty();
        let inputs =
            Inputs { values: Values::defaults(entry.all_parameters()), ..Inputs::default() };
        let flags = if full { " --published".to_owned() } else { String::new() };
        Self {
            entry,
            full,
            inputs,
            experiments: Vec::new(),
            runs_study: false,
            what: format!("figure {}", entry.name),
            configuration: String::new(),
            flags,
        }
    }

    /// Adds hidden states (from an array of a file, by default those included in the program) and
    /// their comparison with SA at the parameter `beta`.
    pub fn add_hidden_states(
        &mut self,
        file: Option<(&Path, Option<&str>)>,
        flags: &str,
    ) -> Result<()> {
        let beta = Some(self.inputs.values.one("beta")?).filter(|b| *b > 0.0);
        let model = file.map_or_else(
            || built_in(beta),
            |(path, array)| HiddenStates::from_file(path, array, beta),
        )?;
        self.configuration.push_str(&model.origin);
        self.what.push_str(&format!(" of {}", model.origin.replace('"', "")));
        self.flags.push_str(flags);
        self.inputs.hidden = Some(model.comparison);
        Ok(())
    }

    /// Adds an experiment, which [`FigureData::run`] runs.
    pub fn add_experiment(&mut self, experiment: Experiment) {
        self.configuration.push_str(&experiment.resolved());
        self.experiments.push(experiment);
    }

    /// Runs the missing cells of the experiments, and the study if it is not read from a folder;
    /// `flag` selects the data.
    pub fn run(&mut self, runs: &Path, flag: &str) -> Result<()> {
        for experiment in std::mem::take(&mut self.experiments) {
            self.run_experiment(&experiment, runs, flag)?;
        }
        if let Some(part) = self.entry.study.filter(|_| self.runs_study) {
            self.inputs.tables = (part.run)(&self.inputs.values)?;
        }
        Ok(())
    }

    fn run_experiment(&mut self, experiment: &Experiment, runs: &Path, flag: &str) -> Result<()> {
        crate::cli::run::execute(experiment, runs)?;
        let mut cells = results(experiment, runs)?;
        if experiment.models.is_empty() {
            let model = experiment.model.to_text();
            cells.iter_mut().for_each(|(cell, _)| cell.model.clone_from(&model));
        }
        if let Some(shown) = &self.entry.cells {
            shown.check(flag, &cells)?;
        }
        self.inputs.results.push(cells);
        Ok(())
    }

    /// Adds the cells or tables of a result folder, or one cell.
    pub fn add_folder(&mut self, folder: &Path, cell: Option<&str>) -> Result<()> {
        match (run_folder::read(folder, cell)?, &self.entry.cells, self.entry.study) {
            (FolderContents::Cells(cells), Some(shown), _) => {
                shown.check("--from-run", &cells)?;
                cells.iter().for_each(|(cell, t)| {
                    self.configuration.push_str(&format!("{cell:?}{:?}", t.table.rows))
                });
                self.inputs.results.push(cells);
            }
            (FolderContents::Study(tables), _, Some(_)) => {
                self.read_parameters(folder)?;
                tables.iter().for_each(|(name, t)| {
                    self.configuration.push_str(&format!("{name}{:?}", t.rows))
                });
                self.inputs.tables = tables;
            }
            (found, ..) => {
                let holds = if matches!(found, FolderContents::Cells(_)) {
                    "cells of an experiment"
                } else {
                    "tables of a study"
                };
                let takes = if self.entry.study.is_some() {
                    "tables of its study, as `run` writes them"
                } else {
                    "cells, as `run` or `solve --out` writes them"
                };
                return Err(Error::parameter(
                    "--from-run",
                    format!("{holds} in {}", folder.display()),
                    format!("{takes}, for `{}`", self.entry.name),
                ));
            }
        }
        Ok(())
    }

    /// Takes the parameters with which the study in a folder was run.
    fn read_parameters(&mut self, folder: &Path) -> Result<()> {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|f| f.path());
        let Some(table) = files.into_iter().find(|f| f.extension().is_some_and(|e| e == "csv"))
        else {
            return Ok(());
        };
        let Ok(block) = crate::lab::provenance::read(&table) else { return Ok(()) };
        let parameters = self.entry.all_parameters();
        self.inputs.source_command =
            Some(block.reproduce.clone()).filter(|command| !command.starts_with("metastable run "));
        for text in block.reproduce.split(" --set ").skip(1) {
            let (name, value) = assignment(text.trim())?;
            if parameters.iter().any(|p| p.name == name) {
                self.inputs.values.set(&parameters, name, &value)?;
            }
        }
        Ok(())
    }

    /// Adds the figure's own experiments and study at the chosen parameters.
    pub fn add_inputs(&mut self, overridden: &[&str]) -> Result<()> {
        for name in if self.full { self.entry.published } else { self.entry.experiments } {
            let experiment = if overridden.is_empty() {
                Experiment::built_in(name)?
            } else {
                with_changes(name, overridden, &self.inputs.values)?
            };
            self.add_experiment(experiment);
        }
        self.runs_study = true;
        self.configuration.push_str(&self.inputs.values.text());
        Ok(())
    }

    /// The origin of the figure, known before its data are computed.
    pub fn provenance(&self) -> Provenance {
        let command = format!("metastable figure {}{}", self.entry.name, self.flags);
        Provenance::new(self.what.as_str(), &self.configuration, command)
    }

    /// Name of its files, without extension.
    pub fn name(&self) -> String {
        format!("{}{}", self.entry.name, if self.full { "-full" } else { "" })
    }

    /// Draws the figure.
    pub fn draw(self) -> Result<DrawnFigure> {
        let picture = (self.entry.draw)(&self.inputs)?;
        Ok(DrawnFigure { picture, provenance: self.provenance(), name: self.name() })
    }
}

/// A built-in experiment with new values of some keys.
fn with_changes(name: &str, keys: &[&str], values: &Values) -> Result<Experiment> {
    let shown = |key: &str| {
        Ok(values
            .list(key)?
            .iter()
            .map(|v| crate::error::format_number(*v))
            .collect::<Vec<_>>()
            .join(","))
    };
    let changes =
        keys.iter().map(|key| Ok(((*key).to_owned(), shown(key)?))).collect::<Result<Vec<_>>>()?;
    Experiment::with_overrides(name, &changes)
}
