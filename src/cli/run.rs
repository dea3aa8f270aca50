//! `run`: an experiment file, a built-in experiment, or a study.

use super::cancel::CANCEL;
use super::output::{Output, note, rounded};
use super::parameter::{each, pair};
use super::progress;
use crate::error::{Error, Result};
use crate::lab::adopt::Beside;
use crate::lab::drawn::sentences;
use crate::lab::part::Share;
use crate::lab::provenance::quoted;
use crate::lab::run::{CONFIDENCE, CellSummary, Progress, merge, results, run, run_part};
use crate::lab::store::Store;
use crate::lab::{Cell, Experiment, experiment::BUILT_IN, plan};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Flags of `run`.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  metastable run regimes\n  metastable run my-study.toml --out results --dry-run\n  metastable run merging-times --set beta=5,10,20
  metastable run my-study.toml --set model.q=low-rank:rank=2 --set masses=power:0.5
  metastable run my-study.toml --out runs --cells 3/64      (one of 64 machines; when all are done: --merge)"
)]
pub struct Arguments {
    /// A TOML file, or the name of a built-in experiment or study (see `list experiments`, `list studies`).
    experiment: String,
    /// Folder for results; each experiment gets its own folder inside.
    #[arg(long, default_value = "runs", value_name = "DIR")]
    out: PathBuf,
    /// Another value of a parameter of a study, or of a key of an experiment's file (`explain NAME`
    /// prints them); a key of its model is model.q, model.norm, ... Lists of numbers are separated
    /// by commas, other lists stand as in TOML: 'model.q=["a.csv", "b.csv"]'. Again for another one.
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Print the plan and what is done already, run nothing.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    parts: PartArguments,
}

/// Work for several machines.
#[derive(clap::Args)]
pub struct PartArguments {
    /// Only the part k of K, from 0/K to (K-1)/K: for one of several machines that share the folder.
    #[arg(long, value_name = "k/K", conflicts_with = "merge", allow_hyphen_values = true)]
    cells: Option<String>,
    /// Collect what the parts have finished.
    #[arg(long)]
    pub merge: bool,
}

impl PartArguments {
    /// The part, where one is asked for.
    pub fn part(&self) -> Result<Option<Share>> {
        self.cells.as_deref().map(Share::parse).transpose()
    }

    /// **Errors** flags of parts, for what has none.
    pub fn refuse(&self, expected: &str) -> Result<()> {
        match (&self.cells, self.merge) {
            (Some(cells), _) => Err(Error::parameter("--cells", cells, expected)),
            (None, true) => Err(Error::parameter("--merge", "--merge", expected)),
            _ => Ok(()),
        }
    }
}

impl Arguments {
    /// A study instead of an experiment.
    fn study(&self, study: &crate::study::Study, out: &Output) -> Result<i32> {
        self.parts.refuse("neither for a study, which is one computation of seconds; experiments have cells")?;
        if self.dry_run {
            let expected = "an experiment: a study has no grid, and nothing of it is kept half done";
            return Err(Error::parameter("--dry-run", study.name, expected));
        }
        super::study::run(study, &self.set, &self.out, out)
    }

    /// Runs it.
    pub fn run(self, out: &Output) -> Result<i32> {
        let part = self.parts.part()?;
        if let Ok(study) = crate::study::find(&self.experiment) {
            return self.study(study, out);
        }
        let changes = each(&self.set, |text| pair(text, "KEY=VALUE"))?;
        let changes: Vec<_> = changes.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        let mut experiment = load(&self.experiment)?;
        if !changes.is_empty() {
            experiment = Experiment::changed(&self.experiment, &changes)?;
        }
        let cells = plan(&experiment);
        let store = Store::reader(&self.out, &experiment)?;
        if self.dry_run {
            planned(&experiment, &cells, &store, out);
            return Ok(0);
        }
        if let Some(part) = part {
            let (done, all) = execute_part(&experiment, &self.out, &part)?;
            let folder = store.folder().display().to_string();
            let text = format!(
                "part {part}: {done} of {all} cells are finished, in {folder}\nwhen all parts are: metastable run {} --out {} --merge",
                quoted(&experiment.source),
                quoted(&self.out.display().to_string())
            );
            out.result(
                &json!({"experiment": experiment.name, "part": part.to_string(), "cells": done, "of": all, "folder": folder}),
                &text,
            );
            return Ok(0);
        }
        if self.parts.merge {
            merge(&experiment, &self.out).map(|_| ())?
        } else {
            execute(&experiment, &self.out)?
        }
        let (mut lines, mut rows, mut failed) = (Vec::new(), Vec::new(), 0);
        for (cell, tables) in results(&experiment, &self.out)? {
            let s = CellSummary::of(&tables.summary);
            failed += s.failed;
            lines.push(line(&experiment, &cell, &s));
            let or_null = |v: f64| if v < 0.0 || v.is_nan() { serde_json::Value::Null } else { json!(v) };
            rows.push(json!({"cell": cell.id(&experiment), "dynamics": cell.dynamics, "init": cell.init, "n": cell.n, "d": cell.d,
                "beta": cell.beta, "eta": cell.eta, "model": cell.model, "runs": s.runs, "one_cluster": s.one_cluster, "exceptions_below": s.exceptions,
                "exceptions_confidence": CONFIDENCE, "median_t": s.time, "median_t_one_cluster": or_null(s.t_one_cluster),
                "median_predicted_t": or_null(s.predicted), "worst_deviation": or_null(s.deviation), "worst_inner_min": s.inner_min,
                "failed": s.failed}));
        }
        let (names, lines) = said(header(&experiment), lines);
        let mut text = format!("{}\n{}", experiment.title, columns(&names, &lines));
        let drawn = sentences(&experiment);
        drawn.iter().for_each(|sentence| text.push_str(&format!("{sentence}\n")));
        text.push_str(&footer(store.folder()));
        if failed > 0 {
            note(&format!("{failed} runs did not reach their end (see the column outcome of results.csv)"));
        }
        let folder = store.folder().display().to_string();
        out.result(&json!({"experiment": experiment.name, "folder": folder, "cells": rows, "drawn": drawn}), &text);
        Ok(if failed > 0 { 4 } else { 0 })
    }
}

/// The cells, and which of them are done.
fn planned(experiment: &Experiment, cells: &[Cell], store: &Store, out: &Output) {
    let beside = Beside::new(experiment, store);
    let state = |id: &str| {
        if store.has(id) {
            "done"
        } else if beside.has(id) {
            "to take over"
        } else {
            "to do"
        }
    };
    let ids: Vec<String> = cells.iter().map(|c| c.id(experiment)).collect();
    let states: Vec<&str> = ids.iter().map(|id| state(id)).collect();
    let count = |what: &str| states.iter().filter(|s| **s == what).count();
    let (finished, taken) = (count("done"), count("to take over"));
    let lines: Vec<String> = (0..cells.len()).map(|k| format!("{} {} {}", ids[k], cells[k].label(), states[k])).collect();
    let folder = store.folder().display().to_string();
    let others = if taken > 0 { format!(", {taken} to take over from other runs of the same experiment") } else { String::new() };
    let drawn = sentences(experiment);
    let json = json!({"cells": cells.len(), "finished": finished, "to_take_over": taken, "folder": folder, "drawn": drawn});
    let drawn: String = drawn.iter().map(|sentence| format!("{sentence}\n")).collect();
    out.result(&json, &format!("{}\n{drawn}{} cells, {finished} finished{others}, in {folder}", lines.join("\n"), cells.len()));
}

/// Names of the printed columns: axes with one value only are left out, but for n, d and beta.
fn header(experiment: &Experiment) -> Vec<&'static str> {
    let mut names = vec!["cell", "dynamics"];
    names.extend((experiment.init.len() > 1).then_some("init"));
    names.extend(["n", "d", "beta"]);
    names.extend((experiment.eta.len() > 1).then_some("eta"));
    names.extend((!experiment.models.is_empty()).then_some("model"));
    names.extend(["runs", "one cluster", "exceptions <", "median t_one", "theory t_one", "deviation", "worst min<x,y>"]);
    names
}

/// A cell in the order of the header.
fn line(experiment: &Experiment, cell: &Cell, s: &CellSummary) -> Vec<String> {
    let or_dash = |v: f64| if v < 0.0 || v.is_nan() { "-".to_owned() } else { rounded(v, 4) };
    let mut row = vec![cell.id(experiment)[..8].to_owned(), cell.dynamics.clone()];
    row.extend((experiment.init.len() > 1).then(|| cell.init.clone()));
    row.extend([cell.n.to_string(), cell.d.to_string(), format!("{:.6}", cell.beta)]);
    row.extend((experiment.eta.len() > 1).then(|| cell.eta.clone()));
    row.extend((!experiment.models.is_empty()).then(|| cell.model.clone()));
    row.extend([s.runs.to_string(), format!("{:.3}", s.one_cluster), rounded(s.exceptions, 3), or_dash(s.t_one_cluster)]);
    row.extend([or_dash(s.predicted), or_dash(s.deviation), format!("{:.6}", s.inner_min)]);
    row
}

/// The columns that say something: not those of dashes alone, as the times of a theory that has none for these starts.
fn said(names: Vec<&'static str>, rows: Vec<Vec<String>>) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let keep: Vec<bool> = (0..names.len()).map(|c| rows.iter().any(|r| r[c] != "-")).collect();
    let kept = |row: Vec<String>| row.into_iter().zip(&keep).filter_map(|(cell, k)| k.then_some(cell)).collect();
    let rows = rows.into_iter().map(kept).collect();
    (names.into_iter().zip(&keep).filter_map(|(name, k)| k.then_some(name)).collect(), rows)
}

/// Rows that are printed; all are in the files.
const PRINTED: usize = 60;

/// Right-aligned columns, two spaces apart.
fn columns(names: &[&str], rows: &[Vec<String>]) -> String {
    let shown = &rows[..rows.len().min(PRINTED)];
    let width = |c: usize| shown.iter().map(|r| r[c].len()).chain([names[c].len()]).max().unwrap_or(0);
    let widths: Vec<usize> = (0..names.len()).map(width).collect();
    let aligned = |cells: Vec<&str>| cells.iter().zip(&widths).map(|(c, w)| format!("{c:>w$}")).collect::<Vec<_>>().join("  ") + "\n";
    let mut text = aligned(names.to_vec());
    shown.iter().for_each(|r| text.push_str(&aligned(r.iter().map(String::as_str).collect())));
    if rows.len() > PRINTED {
        text.push_str(&format!("... and {} more cells, in cells.csv\n", rows.len() - PRINTED));
    }
    text
}

/// What the columns mean, and where the results are.
fn footer(folder: &Path) -> String {
    format!(
        "cell: the beginning of the name of its folder; exceptions <: upper bound (Clopper-Pearson, {} %) on the probability of anything but one cluster at the end\n\
         t_one: time at which all tokens became one cluster, the median of the runs where they did; all columns: metastable list columns\nresults in {}\n",
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

/// Runs what is missing, and says how far it is.
pub fn execute(experiment: &Experiment, out: &Path) -> Result<()> {
    run(experiment, out, &CANCEL, &Said(&experiment.name)).map(|_| ())
}

/// Runs what is missing of a part; the numbers of its cells and of all.
pub fn execute_part(experiment: &Experiment, out: &Path, part: &Share) -> Result<(usize, usize)> {
    run_part(experiment, out, part, &CANCEL, &Said(&experiment.name))
}

struct Said<'a>(&'a str);

impl Progress for Said<'_> {
    fn adopted(&self, cells: usize, total: usize) {
        super::output::note(&format!("{cells} of {total} cells are taken over from runs of {} with other values on its axes", self.0));
    }

    fn finished(&self, done: usize, total: usize, cell: &Cell) {
        progress::report(Some(done as f64 / total as f64), || format!("{}: {done} of {total} cells, {}", self.0, cell.label()));
    }
}
