//! Runs the unfinished cells of an experiment and collects the results of all cells.

use super::Experiment;
use super::arrays::{npy_table, write_atomically};
use super::cell::{self, CellTables, MATRIX_SEED};
use super::plan::{Cell, plan};
use super::provenance::Provenance;
use super::reuse::reuse;
use super::shard::Shard;
use super::store::Store;
use crate::error::{Error, Result, format_number};
use crate::flow::Table;
use crate::num::stats::{failure_bound, median, nan_max, nan_min};
use rayon::prelude::*;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Observer of the progress of an experiment; `()` does nothing.
pub trait Progress: Sync {
    /// `done` of `total` cells are finished, the last one being `cell`.
    fn finished(&self, done: usize, total: usize, cell: &Cell);

    /// `cells` of `total` cells were copied from sibling runs.
    fn reused(&self, _cells: usize, _total: usize) {}
}

impl Progress for () {
    fn finished(&self, _: usize, _: usize, _: &Cell) {}
}

/// Runs the missing cells. The same call resumes an interrupted run: finished cells are not run
/// again. Cells that a sibling run has finished (the same experiment with other values on its axes,
/// in a folder beside) are copied.
///
/// **Errors** [`Error::Interrupted`] when cancelled (finished cells are kept), else the first cell
/// that cannot be run.
pub fn run(
    experiment: &Experiment,
    root: &Path,
    cancel: &AtomicBool,
    progress: &dyn Progress,
) -> Result<Store> {
    let store = Store::open(root, experiment)?;
    store.sweep();
    let cells = plan(experiment);
    complete(experiment, &store, &cells, cancel, progress)?;
    collect_all(experiment, store, &cells)
}

/// Collects the results of an experiment whose cells are all finished.
fn collect_all(experiment: &Experiment, store: Store, cells: &[Cell]) -> Result<Store> {
    store.collect_small_cells(&cells.iter().map(|c| c.id(experiment)).collect::<Vec<_>>())?;
    collect(experiment, &store)?;
    Ok(store)
}

/// Runs the missing cells of a shard, while other machines run the other shards in the same folder.
/// Returns the numbers of cells in the shard and in the experiment.
///
/// **Errors** as [`run`].
pub fn run_shard(
    experiment: &Experiment,
    root: &Path,
    part: &Shard,
    cancel: &AtomicBool,
    progress: &dyn Progress,
) -> Result<(usize, usize)> {
    let store = Store::open_shared(root, experiment)?;
    let all = plan(experiment);
    let cells: Vec<Cell> = all.iter().filter(|c| part.holds(&c.id(experiment))).cloned().collect();
    complete(experiment, &store, &cells, cancel, progress)?;
    Ok((cells.len(), all.len()))
}

/// Collects the results of an experiment whose shards are all finished.
///
/// **Errors** cells that are missing, with the way to run them.
pub fn combine_shards(experiment: &Experiment, root: &Path) -> Result<Store> {
    let store = Store::open(root, experiment)?;
    let cells = plan(experiment);
    let ids: Vec<String> = cells.iter().map(|c| c.id(experiment)).collect();
    let missing: Vec<&String> = ids.iter().filter(|id| !store.has(id)).collect();
    if let Some(first) = missing.first() {
        return Err(Error::Parameter {
            name: store.folder().display().to_string(),
            found: format!(
                "{} of {} cells; {first} is missing",
                ids.len() - missing.len(),
                ids.len()
            ),
            expected: "all of them: run the missing shards again (they resume), or the experiment \
                without shards"
                .into(),
        });
    }
    collect_all(experiment, store, &cells)
}

/// Runs those of the cells that are not finished.
fn complete(
    experiment: &Experiment,
    store: &Store,
    cells: &[Cell],
    cancel: &AtomicBool,
    progress: &dyn Progress,
) -> Result<()> {
    let reused = reuse(experiment, store, cells)?;
    if reused > 0 {
        progress.reused(reused, cells.len());
    }
    let missing: Vec<&Cell> = cells.iter().filter(|c| !store.has(&c.id(experiment))).collect();
    let done = AtomicUsize::new(cells.len() - missing.len());
    // One cell per task: a kill loses only the cells being computed.
    missing.par_iter().with_max_len(1).try_for_each(|cell| -> Result<()> {
        if cancel.load(Ordering::Relaxed) {
            return Ok(());
        }
        let started = std::time::Instant::now();
        let tables =
            cell::run(experiment, cell, missing.len(), cancel).map_err(|e| Error::Parameter {
                name: format!("cell {}", cell.label()),
                found: e.to_string(),
                expected: "a cell that can be run; change the grid".into(),
            })?;
        if let Some(tables) = tables {
            store.write(experiment, cell, &tables, started.elapsed().as_secs_f64())?;
            progress.finished(done.fetch_add(1, Ordering::Relaxed) + 1, cells.len(), cell);
        }
        Ok(())
    })?;
    if cancel.load(Ordering::Relaxed) {
        return Err(Error::Interrupted {
            resume: format!(
                "{} of {} cells are finished; the same command resumes",
                done.load(Ordering::Relaxed),
                cells.len()
            ),
        });
    }
    Ok(())
}

/// All finished cells of an experiment, in grid order.
///
/// **Errors** a cell that is missing or damaged.
pub fn results(experiment: &Experiment, root: &Path) -> Result<Vec<(Cell, CellTables)>> {
    let store = Store::reader(root, experiment)?;
    plan(experiment)
        .into_iter()
        .map(|cell| store.read(&cell.id(experiment)).map(|(_, t)| (cell, t)))
        .collect()
}

/// Writes `results.csv` (one row per realisation, with every axis of the grid), `results.npy` (the
/// same in numbers, one field per column) and `cells.csv` (one row per cell). If many small cells
/// share a file, their tables are joined too.
fn collect(experiment: &Experiment, store: &Store) -> Result<()> {
    let mut all = Table::default();
    let (mut per_run, mut per_cell) = (String::new(), String::new());
    let provenance = Provenance::new(
        &experiment.title,
        &experiment.resolved(),
        format!("metastable run {}", experiment.source),
    );
    let cells = plan(experiment);
    for (k, cell) in cells.iter().enumerate() {
        let (id, axes) = (cell.id(experiment), Axes::of(experiment, cell, k)?);
        let (_, mut tables) = store.read(&id)?;
        complete_columns(experiment, &mut tables.summary);
        if k == 0 {
            let summary = tables.summary.columns.iter().cloned();
            all.columns = axes_of(experiment).map(str::to_owned).chain(summary).collect();
            let drawn = super::draws::sentences(experiment).join("\n# ");
            let numbers = if drawn.is_empty() {
                legend(experiment)
            } else {
                format!("{}\n# {drawn}", legend(experiment))
            };
            per_run = head(&provenance, &all.columns, &format!("in results.npy: {numbers}"));
            let proofs = experiment.certify.then_some("proved_share");
            per_cell = head(
                &provenance,
                &axes_of(experiment)
                    .chain(PER_CELL)
                    .chain(proofs)
                    .map(str::to_owned)
                    .collect::<Vec<_>>(),
                &drawn,
            );
        }
        for row in &tables.summary.rows {
            all.rows.push(axes.numbers.iter().chain(row).copied().collect());
            let words = tables.summary.columns.iter().zip(row).map(|(c, v)| match c.as_str() {
                "outcome" => super::cell::OUTCOMES
                    .get(*v as usize)
                    .map_or("unknown".to_owned(), ToString::to_string),
                _ => format_number(*v),
            });
            per_run.push_str(&format!(
                "{},{}\n",
                axes.words(&id),
                words.collect::<Vec<_>>().join(",")
            ));
        }
        let line = CellSummary::from_summary(&tables.summary);
        let proved = tables.summary.column("proved");
        let share = (!proved.is_empty()).then(|| proved.iter().sum::<f64>() / proved.len() as f64);
        let numbers = [
            line.runs as f64,
            line.one_cluster,
            line.exceptions,
            line.time,
            line.t_one_cluster,
            line.predicted,
            line.deviation,
            line.inner_min,
            line.failed as f64,
        ];
        let numbers: Vec<String> = numbers.into_iter().chain(share).map(format_number).collect();
        per_cell.push_str(&format!("{},{}\n", axes.words(&id), numbers.join(",")));
    }
    write_atomically(&store.folder().join("results.csv"), per_run.as_bytes())?;
    write_atomically(&store.folder().join("results.npy"), &npy_table(&all))?;
    write_atomically(&store.folder().join("cells.csv"), per_cell.as_bytes())?;
    super::joined_tables::write(experiment, store, &provenance)
}

/// Adds the columns that other cells of the grid have to the summary of a cell, which does not know
/// the other models of the grid.
fn complete_columns(experiment: &Experiment, summary: &mut Table) {
    let wanted = experiment.all_models().iter().any(|m| m.model.needs_seed());
    if wanted && summary.column(MATRIX_SEED).is_empty() {
        summary.columns.push(MATRIX_SEED.into());
        summary.rows.iter_mut().for_each(|row| row.push(f64::NAN));
    }
}

/// The axes of the grid: the first columns of results.
const AXES: [&str; 7] = ["cell", "dynamics", "init", "n", "d", "beta", "eta"];

/// The axes, with the model if there are several.
fn axes_of(experiment: &Experiment) -> impl Iterator<Item = &'static str> {
    AXES.into_iter().chain((!experiment.models.is_empty()).then_some("model"))
}

const PER_CELL: [&str; 9] = [
    "realisations",
    "one_cluster",
    "exceptions_below",
    "median_t",
    "median_t_one_cluster",
    "median_predicted_t",
    "worst_deviation",
    "worst_inner_min",
    "failed",
];

/// Meanings of the columns of results.
pub const COLUMNS: [(&str, &str); 29] = [
    (
        "cell",
        "the id of the cell: the name of its folder in cells/, or of its line in cells.jsonl if \
        there are many small cells; in results.npy and tables.npy its row in cells.csv, from 0",
    ),
    ("dynamics", "dynamics; in results.npy its index in the list of the experiment, from 0"),
    (
        "init",
        "law of the initial tokens, `tokens` for explicit ones; in results.npy its index in the \
        list of the experiment, from 0",
    ),
    ("n", "number of tokens"),
    ("d", "ambient dimension"),
    ("beta", "inverse temperature"),
    ("eta", "step size of a layer; inf for mean shift, 0 in continuous time"),
    (
        "model",
        "the settings of the model in which the models of the grid differ (metastable explain \
        model); in results.npy its index in the grid, from 0",
    ),
    ("realisation", "index of the run in its cell, from 0"),
    (
        "outcome",
        "why the run ended (see `explain reached`, ...); in results.npy its index in the list in \
        record.json",
    ),
    ("t", "time at which the run ended"),
    (
        "t_one_cluster",
        "time at which all tokens had merged into one cluster; NaN if they did not, or if the \
        method does not merge tokens",
    ),
    (
        "clusters",
        "number of clusters at the end: tokens nearer than half a kernel width are linked",
    ),
    (
        "inner_min",
        "smallest inner product of two tokens at the end; NaN if they are not unit vectors",
    ),
    ("merges", "number of merges: two tokens become one"),
    ("evaluations", "number of evaluations of the velocity"),
    (
        "predicted_t",
        "predicted time to one cluster, from the last two clusters; -1 if there is no prediction, \
        and without stop_at_one_cluster",
    ),
    (
        MATRIX_SEED,
        "seed of the random matrices of this realisation, if they are drawn anew in every \
        realisation; NaN for a model without such matrices; --q low-rank:rank=1,seed=S gives the \
        same matrix",
    ),
    (
        "proved",
        "1 if interval arithmetic proves that the start converges to one point, else 0 (`certify = \
        true`)",
    ),
    ("proved_share", "share of starts that provably converge to one point (`certify = true`)"),
    ("realisations", "runs of the cell"),
    ("one_cluster", "share of runs that ended as one cluster"),
    ("exceptions_below", "upper bound (Clopper-Pearson, 99.9 %) on the probability of another end"),
    ("median_t", "median of t"),
    (
        "median_t_one_cluster",
        "median of t_one_cluster over the runs that reached one cluster; NaN if none did",
    ),
    ("median_predicted_t", "median of predicted_t; -1 if there is none"),
    ("worst_deviation", "largest |t / predicted_t - 1|; -1 if there is no prediction"),
    ("worst_inner_min", "smallest inner_min; NaN if the tokens are not unit vectors"),
    ("failed", "number of failed runs: step budget spent, step too small, velocity not finite"),
];

/// The head of a CSV file: provenance, meanings of the columns, names of the columns.
fn head(provenance: &Provenance, columns: &[String], more: &str) -> String {
    let mut out: String = provenance.csv_header().iter().map(|l| format!("# {l}\n")).collect();
    for column in columns {
        if let Some((_, meaning)) = COLUMNS.iter().find(|(name, _)| name == column) {
            out.push_str(&format!("# {column}: {meaning}\n"));
        }
    }
    if !more.is_empty() {
        out.push_str(&format!("# {more}\n"));
    }
    out.push_str(&format!("{}\n", columns.join(",")));
    out
}

/// The words behind the numbers in `results.npy`.
fn legend(experiment: &Experiment) -> String {
    let list = |names: &[String]| {
        names.iter().enumerate().map(|(k, n)| format!("{k} = {n}")).collect::<Vec<_>>().join(", ")
    };
    let outcomes: Vec<String> = super::cell::OUTCOMES.iter().map(ToString::to_string).collect();
    format!(
        "dynamics {}; init {}; outcome {}",
        list(&experiment.dynamics),
        list(&experiment.init),
        list(&outcomes)
    )
}

/// The position of a cell in the grid.
struct Axes<'a> {
    cell: &'a Cell,
    numbers: Vec<f64>,
}

impl<'a> Axes<'a> {
    fn of(experiment: &Experiment, cell: &'a Cell, k: usize) -> Result<Self> {
        let place = |list: &[String], name: &str| {
            list.iter().position(|n| n == name).map_or(-1.0, |p| p as f64)
        };
        let (dynamics, init) =
            (place(&experiment.dynamics, &cell.dynamics), place(&experiment.init, &cell.init));
        let model =
            experiment.models.iter().position(|m| m.label(&experiment.models) == cell.model);
        let numbers =
            [k as f64, dynamics, init, cell.n as f64, cell.d as f64, cell.beta, cell.eta()?];
        Ok(Self { cell, numbers: numbers.into_iter().chain(model.map(|m| m as f64)).collect() })
    }

    /// The fields of a row of CSV.
    fn words(&self, id: &str) -> String {
        let Cell { dynamics, init, n, d, beta, eta, model } = self.cell;
        let init = if init.is_empty() { "tokens" } else { init };
        let model = if model.is_empty() { String::new() } else { format!(",{}", one_field(model)) };
        format!("{id},{dynamics},{},{n},{d},{beta},{eta}{model}", one_field(init))
    }
}

/// A text as one field of CSV without quotes: commas become semicolons.
fn one_field(words: &str) -> String {
    words.replace(',', ";").replace(['"', '\n', '\r'], " ")
}

/// Confidence of the bounds on shares.
pub const CONFIDENCE: f64 = 0.999;

/// Summary of the realisations of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellSummary {
    /// Number of realisations.
    pub runs: usize,
    /// Share that ended as one cluster.
    pub one_cluster: f64,
    /// Upper bound (Clopper-Pearson, at [`CONFIDENCE`]) on the probability of anything else.
    pub exceptions: f64,
    /// Median end time.
    pub time: f64,
    /// Median time to one cluster over the runs that reached it; NaN if none did.
    pub t_one_cluster: f64,
    /// Median of the predicted time; -1 if there is no prediction.
    pub predicted: f64,
    /// Largest relative deviation of the time of a run from its prediction; -1 if there is none.
    pub deviation: f64,
    /// Smallest final inner product over all runs; NaN if the tokens are not unit vectors.
    pub inner_min: f64,
    /// Number of failed runs: step budget spent, step too small, velocity not finite.
    pub failed: usize,
}

impl CellSummary {
    /// Summarises the table `summary` of a cell.
    pub fn from_summary(summary: &Table) -> Self {
        let column = |name: &str| summary.column(name);
        let (outcome, t, predicted, inner) =
            (column("outcome"), column("t"), column("predicted_t"), column("inner_min"));
        let clusters = column("clusters");
        let single = |k: usize| {
            super::cell::OUTCOMES.get(outcome[k] as usize) == Some(&"one-cluster")
                || clusters[k] < 1.5
        };
        let count = (0..t.len()).filter(|k| single(*k)).count();
        let pairs: Vec<(f64, f64)> =
            t.iter().copied().zip(predicted.iter().copied()).filter(|(_, p)| *p > 0.0).collect();
        let deviation = pairs.iter().map(|(t, p)| (t / p - 1.0).abs()).fold(-1.0, nan_max);
        let formed: Vec<f64> =
            column("t_one_cluster").into_iter().filter(|t| t.is_finite()).collect();
        let forecasts: Vec<f64> = pairs.iter().map(|p| p.1).collect();
        Self {
            runs: t.len(),
            one_cluster: count as f64 / t.len().max(1) as f64,
            exceptions: failure_bound(t.len() - count, t.len(), CONFIDENCE),
            time: median(&t),
            t_one_cluster: if formed.is_empty() { f64::NAN } else { median(&formed) },
            predicted: if forecasts.is_empty() { -1.0 } else { median(&forecasts) },
            deviation,
            inner_min: inner.iter().copied().fold(1.0, nan_min),
            failed: outcome.iter().filter(|o| super::cell::is_failure(**o)).count(),
        }
    }
}
