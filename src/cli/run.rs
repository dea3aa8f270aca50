//! `run`: an experiment file, a built-in experiment, or a study.

use super::cancel::CANCEL;
use super::output::{Output, note};
use crate::error::{Error, Result};
use crate::lab::run::{CONFIDENCE, CellSummary, Progress, results, run};
use crate::lab::{Cell, Experiment, experiment::BUILT_IN, plan};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Flags of `run`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  metastable run regimes\n  metastable run my-study.toml --out results --dry-run")]
pub struct Arguments {
    /// A TOML file, or the name of a built-in experiment or study (see `list experiments`, `list studies`).
    experiment: String,
    /// Folder for results; each experiment gets its own folder inside.
    #[arg(long, default_value = "runs", value_name = "DIR")]
    out: PathBuf,
    /// Print the plan and what is done already, run nothing.
    #[arg(long)]
    dry_run: bool,
}

impl Arguments {
    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        if let Ok(study) = crate::study::find(&self.experiment) {
            return super::study::run(study, &self.out, out);
        }
        let experiment = load(&self.experiment)?;
        let cells = plan(&experiment);
        let store = crate::lab::store::Store::reader(&self.out, &experiment);
        if self.dry_run {
            let done: Vec<bool> = cells.iter().map(|c| store.has(&c.id(&experiment))).collect();
            let finished = done.iter().filter(|d| **d).count();
            let lines: Vec<String> = cells
                .iter()
                .zip(&done)
                .map(|(c, d)| format!("{} {} {}", c.id(&experiment), c.label(), if *d { "done" } else { "to do" }))
                .collect();
            let json = json!({"cells": cells.len(), "finished": finished, "folder": store.folder().display().to_string()});
            out.result(
                &json,
                &format!("{}\n{} cells, {finished} finished, in {}", lines.join("\n"), cells.len(), store.folder().display()),
            );
            return Ok(0);
        }
        execute(&experiment, &self.out)?;
        let mut text = format!("{}\n", experiment.title);
        text.push_str(&format!(
            "{:>6} {:>5} {:>10} {:>5} {:>12} {:>13} {:>11} {:>11} {:>10} {:>15}\n",
            "n", "d", "beta", "runs", "one cluster", "exceptions <", "median t", "theory t", "deviation", "worst min<x,y>"
        ));
        let (mut rows, mut failed) = (Vec::new(), 0);
        for (cell, tables) in results(&experiment, &self.out)? {
            let s = CellSummary::of(&tables.summary);
            failed += s.failed;
            let or_dash = |v: f64| if v < 0.0 { "-".to_owned() } else { format!("{v:.3e}") };
            text.push_str(&format!(
                "{:>6} {:>5} {:>10.4} {:>5} {:>12.3} {:>13.2e} {:>11.3e} {:>11} {:>10} {:>15.6}\n",
                cell.n,
                cell.d,
                cell.beta,
                s.runs,
                s.one_cluster,
                s.exceptions,
                s.time,
                or_dash(s.predicted),
                or_dash(s.deviation),
                s.inner_min
            ));
            rows.push(json!({"dynamics": cell.dynamics, "n": cell.n, "d": cell.d, "beta": cell.beta, "eta": cell.eta, "runs": s.runs,
                "one_cluster": s.one_cluster, "exceptions_below": s.exceptions, "exceptions_confidence": CONFIDENCE, "median_t": s.time,
                "median_predicted_t": if s.predicted < 0.0 { serde_json::Value::Null } else { json!(s.predicted) },
                "worst_deviation": if s.deviation < 0.0 { serde_json::Value::Null } else { json!(s.deviation) },
                "worst_inner_min": s.inner_min, "failed": s.failed}));
        }
        text.push_str(&footer(store.folder()));
        if failed > 0 {
            note(&format!("{failed} runs did not reach their end (see the column outcome of results.csv)"));
        }
        out.result(&json!({"experiment": experiment.name, "folder": store.folder().display().to_string(), "cells": rows}), &text);
        Ok(if failed > 0 { 4 } else { 0 })
    }
}

/// What the bound beside a share means, and where the results are.
fn footer(folder: &Path) -> String {
    format!(
        "exceptions <: upper bound (Clopper-Pearson, {} %) on the probability of anything but one cluster at the end\nresults in {}\n",
        100.0 * CONFIDENCE,
        folder.display()
    )
}

/// A file when it looks like a path or exists, else a built-in name.
pub fn load(name: &str) -> Result<Experiment> {
    let path = Path::new(name);
    if path.exists() || name.ends_with(".toml") || name.contains('/') {
        return Experiment::load(path);
    }
    let known = || BUILT_IN.iter().map(|(n, _)| *n).chain(crate::study::ALL.iter().map(|s| s.name));
    if known().any(|n| n == name) { Experiment::built_in(name) } else { Err(Error::unknown("experiment or study", name, known())) }
}

/// Runs what is missing with a progress bar on a terminal, plain lines otherwise.
pub fn execute(experiment: &Experiment, out: &Path) -> Result<()> {
    if std::io::stderr().is_terminal() {
        let bar = ProgressBar::new(plan(experiment).len() as u64);
        let style = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} cells, {elapsed} elapsed, {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(experiment.name.clone());
        let result = run(experiment, out, &CANCEL, &Bar(&bar));
        bar.finish_and_clear();
        result.map(|_| ())
    } else {
        run(experiment, out, &CANCEL, &Lines).map(|_| ())
    }
}

struct Bar<'a>(&'a ProgressBar);

impl Progress for Bar<'_> {
    fn finished(&self, done: usize, _: usize, _: &Cell) {
        self.0.set_position(done as u64);
    }
}

struct Lines;

impl Progress for Lines {
    fn finished(&self, done: usize, total: usize, cell: &Cell) {
        note(&format!("[{done}/{total}] {}", cell.label()));
    }
}
