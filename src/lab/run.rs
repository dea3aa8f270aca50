//! Runs the unfinished cells of an experiment and collects all of them.

use super::Experiment;
use super::arrays::{csv_text, npy_bytes, write_atomically};
use super::cell::{self, CellTables};
use super::plan::{Cell, plan};
use super::provenance::Provenance;
use super::store::Store;
use crate::error::{Error, Result};
use crate::flow::Table;
use crate::num::stats::{failure_bound, median};
use rayon::prelude::*;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Told after every finished cell; the null implementation is `()`.
pub trait Progress: Sync {
    /// `done` of `total` cells are finished, the last one being `cell`.
    fn finished(&self, done: usize, total: usize, cell: &Cell);
}

impl Progress for () {
    fn finished(&self, _: usize, _: usize, _: &Cell) {}
}

/// Runs what is missing. The same call again resumes; finished cells are never run or written again.
///
/// **Errors** [`Error::Interrupted`] when cancelled (finished cells are kept), else the first cell that cannot be run.
pub fn run(experiment: &Experiment, root: &Path, cancel: &AtomicBool, progress: &dyn Progress) -> Result<Store> {
    let store = Store::open(root, experiment)?;
    store.sweep();
    let cells = plan(experiment);
    let missing: Vec<&Cell> = cells.iter().filter(|c| !store.has(&c.id(experiment))).collect();
    let done = AtomicUsize::new(cells.len() - missing.len());
    let sweep = missing.len() * experiment.realisations > 1;
    // One cell per task: a kill loses the cells in work only.
    missing.par_iter().with_max_len(1).try_for_each(|cell| -> Result<()> {
        if cancel.load(Ordering::Relaxed) {
            return Ok(());
        }
        let started = std::time::Instant::now();
        let tables = cell::run(experiment, cell, sweep, cancel).map_err(|e| Error::Parameter {
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
            resume: format!("{} of {} cells are finished; the same command resumes", done.load(Ordering::Relaxed), cells.len()),
        });
    }
    collect(experiment, &store)?;
    Ok(store)
}

/// All finished cells of an experiment, in grid order.
///
/// **Errors** a cell that is missing or damaged.
pub fn results(experiment: &Experiment, root: &Path) -> Result<Vec<(Cell, CellTables)>> {
    let store = Store::reader(root, experiment);
    plan(experiment).into_iter().map(|cell| store.read(&cell.id(experiment)).map(|(_, t)| (cell, t))).collect()
}

/// Writes `results.csv`, `results.npy` (all summaries with their cells' parameters) and `cells.csv` (one row per cell).
fn collect(experiment: &Experiment, store: &Store) -> Result<()> {
    let mut all = Table::default();
    let mut per_cell = String::new();
    let provenance = Provenance::new(&experiment.title, &experiment.resolved(), format!("metastable run {}", experiment.source));
    provenance.csv_header().iter().for_each(|l| per_cell.push_str(&format!("# {l}\n")));
    per_cell.push_str("dynamics,init,n,d,beta,eta,realisations,one_cluster,exceptions_below,median_t,median_predicted_t,worst_deviation,worst_inner_min\n");
    for cell in plan(experiment) {
        let (_, tables) = store.read(&cell.id(experiment))?;
        all.columns = ["n", "d", "beta"].iter().map(ToString::to_string).chain(tables.summary.columns.iter().cloned()).collect();
        for row in &tables.summary.rows {
            all.rows.push([cell.n as f64, cell.d as f64, cell.beta].iter().chain(row).copied().collect());
        }
        let line = CellSummary::of(&tables.summary);
        let init = cell.init.replace(',', ";");
        per_cell.push_str(&format!(
            "{},{init},{},{},{},{},{},{},{},{},{},{},{}\n",
            cell.dynamics,
            cell.n,
            cell.d,
            cell.beta,
            cell.eta,
            line.runs,
            line.one_cluster,
            line.exceptions,
            line.time,
            line.predicted,
            line.deviation,
            line.inner_min
        ));
    }
    write_atomically(&store.folder().join("results.csv"), csv_text(&all, &provenance.csv_header()).as_bytes())?;
    write_atomically(&store.folder().join("results.npy"), &npy_bytes(&all))?;
    write_atomically(&store.folder().join("cells.csv"), per_cell.as_bytes())
}

/// Confidence of the bounds on shares.
pub const CONFIDENCE: f64 = 0.999;

/// A cell's realisations in one line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellSummary {
    /// Realisations.
    pub runs: usize,
    /// Share that ended as one cluster.
    pub one_cluster: f64,
    /// Upper bound (Clopper-Pearson, at [`CONFIDENCE`]) on the probability of anything else.
    pub exceptions: f64,
    /// Median end time.
    pub time: f64,
    /// Median of the theory's time; -1 when it predicts none.
    pub predicted: f64,
    /// Largest relative deviation of a run's time from the theory's; -1 when it predicts none.
    pub deviation: f64,
    /// Smallest final inner product over all runs.
    pub inner_min: f64,
    /// Runs with an honest bad end (budget of steps, step too small, not finite).
    pub failed: usize,
}

impl CellSummary {
    /// From the summary table of a cell.
    pub fn of(summary: &Table) -> Self {
        let column = |name: &str| summary.column(name);
        let (outcome, t, predicted, inner) = (column("outcome"), column("t"), column("predicted_t"), column("inner_min"));
        let clusters = column("clusters");
        let single = |k: usize| super::cell::OUTCOMES.get(outcome[k] as usize) == Some(&"one-cluster") || clusters[k] < 1.5;
        let held = (0..t.len()).filter(|k| single(*k)).count();
        let pairs: Vec<(f64, f64)> = t.iter().copied().zip(predicted.iter().copied()).filter(|(_, p)| *p > 0.0).collect();
        let deviation = pairs.iter().map(|(t, p)| (t / p - 1.0).abs()).fold(-1.0, f64::max);
        let forecasts: Vec<f64> = pairs.iter().map(|p| p.1).collect();
        Self {
            runs: t.len(),
            one_cluster: held as f64 / t.len().max(1) as f64,
            exceptions: failure_bound(t.len() - held, t.len(), CONFIDENCE),
            time: median(&t),
            predicted: if forecasts.is_empty() { -1.0 } else { median(&forecasts) },
            deviation,
            inner_min: inner.iter().copied().fold(1.0, f64::min),
            failed: outcome.iter().filter(|o| super::cell::is_bad_end(**o)).count(),
        }
    }
}
