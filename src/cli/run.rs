//! `run`: an experiment file, a built-in experiment, or a study.

use super::output::{note, rounded};
use super::parameter::{assignments, pair};
use super::progress;
use super::session;
use crate::error::{Error, Result};
use crate::lab::draws::sentences;
use crate::lab::provenance::quoted;
use crate::lab::reuse::SiblingRuns;
use crate::lab::run::{CONFIDENCE, CellSummary, Progress, combine_shards, results, run, run_shard};
use crate::lab::shard::Shard;
use crate::lab::store::Store;
use crate::lab::{Cell, Experiment, experiment::BUILT_IN, plan};
use crate::operation::{Answer, Exit, Operation, Parameters, Rows, Table, any, column};
use crate::parameters;
use serde_json::json;
use std::path::{Path, PathBuf};

parameters! {
    /// Parameters of `run`.
    struct Run {
        ..shards: ShardArguments;
        /// A TOML file, or the name of a built-in experiment or study (see `list experiments`,
        /// `list studies`).
        experiment: String, any().positional().form("EXPERIMENT");
        /// Folder for results; every experiment gets a subfolder.
        out: PathBuf, any().or("runs").form("DIR");
        /// Set a parameter of a study, or a key of an experiment file (`explain NAME` lists them);
        /// keys of its model are model.q, model.norm, ... Numbers are separated by commas and may
        /// be ranges (0.1..9:log5); other lists are written as in TOML:
        /// 'model.q=["a.csv", "b.csv"]'. Repeatable.
        set: Vec<String>, any().form("NAME=VALUE");
        /// Print the cells and which are finished; run nothing.
        dry_run: bool;
    }
}

/// The operation.
pub static OPERATION: Operation = Operation {
    name: "run",
    group: "Simulate",
    summary: "Run an experiment (a TOML file or a built-in name) or a study; repeat it to resume",
    notes: "Examples:
  metastable run regimes
  metastable run my-study.toml --out results --dry-run
  metastable run merging-times --set beta=5,10,20
  metastable run my-study.toml --set model.q=low-rank:rank=2 --set masses=power:0.5
  metastable run my-study.toml --out runs --shard 3/64      (one of 64 machines; then --merge)",
    parameters: Run::table,
    results: &[
        column("experiment", "name of the experiment"),
        column("study", "name of the study"),
        column("folder", "folder of the results"),
        column("drawn", "what is drawn at random"),
        column("shard", "the shard that was computed"),
        column("of", "number of all cells"),
        column("finished", "number of finished cells"),
        column("reusable", "cells that another run has"),
        column("files", "tables of a study"),
    ],
    tables: &[Table {
        name: "cells",
        what: "one row for each cell of the grid",
        rows: Rows::Objects("cells"),
        columns: &[
            column("cell", "its name"),
            column("dynamics", "name of the dynamics"),
            column("init", "law of the tokens"),
            column("n", "number of tokens"),
            column("d", "ambient dimension"),
            column("beta", "inverse temperature"),
            column("eta", "step of a layer"),
            column("model", "keys of the model"),
            column("runs", "number of runs"),
            column("one_cluster", "runs that ended in one cluster"),
            column("exceptions_below", "upper bound on the share of the others"),
            column("exceptions_confidence", "its confidence"),
            column("median_t", "median time at the end"),
            column("median_t_one_cluster", "median time of one cluster"),
            column("median_predicted_t", "median of its prediction"),
            column("worst_deviation", "largest deviation from it"),
            column("worst_inner_min", "smallest inner product"),
            column("failed", "runs that did not reach their end"),
        ],
    }],
    exits: &[
        (Exit::Shown, "computed"),
        (Exit::Failure, "some runs did not reach their end"),
        (Exit::Interrupted, "interrupted; the same command resumes"),
    ],
    run: |given, _| Run::of(given)?.run(),
    ..Operation::EMPTY
};

parameters! {
    /// Work divided among several machines.
    pub struct ShardArguments {
        /// Compute only shard k of K, from 0/K to (K-1)/K. Each of several machines that share the
        /// folder computes one.
        shard: Option<String>, any().form("k/K").excludes(&["merge"]).check(shard);
        /// Collect the results of all shards.
        merge: bool;
    }
}

/// **Errors** a text that is no shard.
fn shard(text: &str) -> Result<()> {
    Shard::parse(text).map(drop)
}

impl ShardArguments {
    /// The shard, if one is given.
    pub fn shard(&self) -> Result<Option<Shard>> {
        self.shard.as_deref().map(Shard::parse).transpose()
    }

    /// **Errors** `--shard` or `--merge` for work that is not divided; the message expects
    /// `expected`.
    pub fn refuse(&self, expected: &str) -> Result<()> {
        match (&self.shard, self.merge) {
            (Some(shard), _) => Err(Error::parameter("--shard", shard, expected)),
            (None, true) => Err(Error::parameter("--merge", "--merge", expected)),
            _ => Ok(()),
        }
    }
}

impl Run {
    /// A study instead of an experiment.
    fn study(&self, study: &crate::study::Study) -> Result<Answer> {
        self.shards
            .refuse("an experiment: a study is one computation of seconds and has no grid")?;
        if self.dry_run {
            let expected = "an experiment: a study has no grid";
            return Err(Error::parameter("--dry-run", study.name, expected));
        }
        super::study::run(study, &self.set, &self.out)
    }

    /// Runs it.
    fn run(self) -> Result<Answer> {
        let shard = self.shards.shard()?;
        if let Ok(study) = crate::study::find(&self.experiment) {
            return self.study(study);
        }
        let changes = assignments(&self.set, |text| pair(text, "KEY=VALUE"))?;
        let changes: Vec<_> =
            changes.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        let mut experiment = load(&self.experiment)?;
        if !changes.is_empty() {
            experiment = Experiment::with_overrides(&self.experiment, &changes)?;
        }
        let cells = plan(&experiment);
        let store = Store::reader(&self.out, &experiment)?;
        if self.dry_run {
            return Ok(planned(&experiment, &cells, &store));
        }
        if let Some(shard) = shard {
            let (done, all) = execute_shard(&experiment, &self.out, &shard)?;
            let folder = store.folder().display().to_string();
            let text = format!(
                "shard {shard}: {done} of {all} cells are finished, in {folder}\nwhen all shards are finished: metastable run {} --out {} --merge",
                quoted(&experiment.source),
                quoted(&self.out.display().to_string())
            );
            return Ok(Answer::new(
                json!({"experiment": experiment.name, "shard": shard.to_string(), "cells": done, "of": all, "folder": folder}),
                text,
            ));
        }
        if self.shards.merge {
            combine_shards(&experiment, &self.out).map(|_| ())?
        } else {
            execute(&experiment, &self.out)?
        }
        let (mut lines, mut rows, mut failed) = (Vec::new(), Vec::new(), 0);
        for (cell, tables) in results(&experiment, &self.out)? {
            let s = CellSummary::from_summary(&tables.summary);
            failed += s.failed;
            lines.push(line(&experiment, &cell, &s));
            let or_null =
                |v: f64| if v < 0.0 || v.is_nan() { serde_json::Value::Null } else { json!(v) };
            rows.push(json!({"cell": cell.id(&experiment), "dynamics": cell.dynamics, "init": cell.init, "n": cell.n, "d": cell.d,
                "beta": cell.beta, "eta": cell.eta, "model": cell.model, "runs": s.runs, "one_cluster": s.one_cluster, "exceptions_below": s.exceptions,
                "exceptions_confidence": CONFIDENCE, "median_t": s.time, "median_t_one_cluster": or_null(s.t_one_cluster),
                "median_predicted_t": or_null(s.predicted), "worst_deviation": or_null(s.deviation), "worst_inner_min": s.inner_min,
                "failed": s.failed}));
        }
        let (names, lines) = without_empty(header(&experiment), lines);
        let mut text = format!("{}\n{}", experiment.title, columns(&names, &lines));
        let drawn = sentences(&experiment);
        drawn.iter().for_each(|sentence| text.push_str(&format!("{sentence}\n")));
        text.push_str(&footer(store.folder()));
        if failed > 0 {
            note(&format!(
                "{failed} runs did not reach their end (see the column outcome of results.csv)"
            ));
        }
        let folder = store.folder().display().to_string();
        let json =
            json!({"experiment": experiment.name, "folder": folder, "cells": rows, "drawn": drawn});
        let end = if failed > 0 { Exit::Failure } else { Exit::Shown };
        Ok(Answer::new(json, text).ended(end))
    }
}

/// The cells and which of them are finished.
fn planned(experiment: &Experiment, cells: &[Cell], store: &Store) -> Answer {
    let beside = SiblingRuns::new(experiment, store);
    let state = |id: &str| {
        if store.has(id) {
            "done"
        } else if beside.has(id) {
            "reusable"
        } else {
            "to do"
        }
    };
    let ids: Vec<String> = cells.iter().map(|c| c.id(experiment)).collect();
    let states: Vec<&str> = ids.iter().map(|id| state(id)).collect();
    let count = |what: &str| states.iter().filter(|s| **s == what).count();
    let (finished, reusable) = (count("done"), count("reusable"));
    let lines: Vec<String> = (0..cells.len())
        .map(|k| format!("{} {} {}", ids[k], cells[k].label(), states[k]))
        .collect();
    let folder = store.folder().display().to_string();
    let others = if reusable > 0 {
        format!(", {reusable} reusable from other runs of the same experiment")
    } else {
        String::new()
    };
    let drawn = sentences(experiment);
    let json = json!({"cells": cells.len(), "finished": finished, "reusable": reusable, "folder": folder, "drawn": drawn});
    let drawn: String = drawn.iter().map(|sentence| format!("{sentence}\n")).collect();
    let text = format!(
        "{}\n{drawn}{} cells, {finished} finished{others}, in {folder}",
        lines.join("\n"),
        cells.len()
    );
    Answer::new(json, text)
}

/// Names of the printed columns. Axes with a single value are left out, except n, d and beta.
fn header(experiment: &Experiment) -> Vec<&'static str> {
    let mut names = vec!["cell", "dynamics"];
    names.extend((experiment.init.len() > 1).then_some("init"));
    names.extend(["n", "d", "beta"]);
    names.extend((experiment.eta.len() > 1).then_some("eta"));
    names.extend((!experiment.models.is_empty()).then_some("model"));
    names.extend([
        "runs",
        "one cluster",
        "exceptions <",
        "median t_one",
        "theory t_one",
        "deviation",
        "worst min<x,y>",
    ]);
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
    row.extend([
        s.runs.to_string(),
        format!("{:.3}", s.one_cluster),
        rounded(s.exceptions, 3),
        or_dash(s.t_one_cluster),
    ]);
    let inner = if s.inner_min.is_nan() { "-".to_owned() } else { format!("{:.6}", s.inner_min) };
    row.extend([or_dash(s.predicted), or_dash(s.deviation), inner]);
    row
}

/// Leaves out columns that contain only dashes, such as predicted times without a prediction.
fn without_empty(
    names: Vec<&'static str>,
    rows: Vec<Vec<String>>,
) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let keep: Vec<bool> = (0..names.len()).map(|c| rows.iter().any(|r| r[c] != "-")).collect();
    let filtered = |row: Vec<String>| {
        row.into_iter().zip(&keep).filter_map(|(cell, k)| k.then_some(cell)).collect()
    };
    let rows = rows.into_iter().map(filtered).collect();
    (names.into_iter().zip(&keep).filter_map(|(name, k)| k.then_some(name)).collect(), rows)
}

/// Largest number of printed rows; the files contain all.
const PRINTED: usize = 60;

/// Right-aligned columns, two spaces apart.
fn columns(names: &[&str], rows: &[Vec<String>]) -> String {
    let shown = &rows[..rows.len().min(PRINTED)];
    let width =
        |c: usize| shown.iter().map(|r| r[c].len()).chain([names[c].len()]).max().unwrap_or(0);
    let widths: Vec<usize> = (0..names.len()).map(width).collect();
    let aligned = |cells: Vec<&str>| {
        cells.iter().zip(&widths).map(|(c, w)| format!("{c:>w$}")).collect::<Vec<_>>().join("  ")
            + "\n"
    };
    let mut text = aligned(names.to_vec());
    shown.iter().for_each(|r| text.push_str(&aligned(r.iter().map(String::as_str).collect())));
    if rows.len() > PRINTED {
        text.push_str(&format!("... and {} more cells, in cells.csv\n", rows.len() - PRINTED));
    }
    text
}

/// The meaning of the columns and the folder of the results.
fn footer(folder: &Path) -> String {
    format!(
        "cell: first characters of its folder; exceptions <: upper bound (Clopper-Pearson, {} %) on the probability of more than one cluster at the end\n\
         t_one: time at which all tokens are one cluster (median of the runs where this happens); all columns: metastable list columns\nresults in {}\n",
        100.0 * CONFIDENCE,
        folder.display()
    )
}

/// Loads a file if the name looks like a path or exists, else a built-in experiment.
pub fn load(name: &str) -> Result<Experiment> {
    let path = Path::new(name);
    if path.exists() || name.ends_with(".toml") || name.contains('/') {
        return Experiment::load(path);
    }
    let known = || BUILT_IN.iter().map(|(n, _)| *n).chain(crate::study::ALL.iter().map(|s| s.name));
    if known().any(|n| n == name) {
        Experiment::built_in(name)
    } else {
        Err(Error::unknown("experiment or study", name, known()))
    }
}

/// Runs the missing cells of an experiment and reports progress.
pub fn execute(experiment: &Experiment, out: &Path) -> Result<()> {
    let _ending = super::cancel::ends_itself();
    run(experiment, out, session::current().cancel_flag(), &CellProgress(&experiment.name))
        .map(|_| ())
}

/// Runs the missing cells of a shard; returns the numbers of its cells and of all cells.
pub fn execute_shard(experiment: &Experiment, out: &Path, shard: &Shard) -> Result<(usize, usize)> {
    let _ending = super::cancel::ends_itself();
    run_shard(
        experiment,
        out,
        shard,
        session::current().cancel_flag(),
        &CellProgress(&experiment.name),
    )
}

struct CellProgress<'a>(&'a str);

impl Progress for CellProgress<'_> {
    fn reused(&self, cells: usize, total: usize) {
        super::output::note(&format!(
            "{cells} of {total} cells are reused from runs of {} with other values on its axes",
            self.0
        ));
    }

    fn finished(&self, done: usize, total: usize, cell: &Cell) {
        progress::report(Some(done as f64 / total as f64), || {
            format!("{}: {done} of {total} cells, {}", self.0, cell.label())
        });
    }
}
