//! Runs one cell: draws the tokens of every realisation, moves them, records.

use super::experiment::{Experiment, Stepper};
use super::plan::Cell;
use crate::attention::{Dynamics, Spec, TimeScale, dynamics, layer::Layer};
use crate::error::{Error, Result};
use crate::flow::observable::{self, Setting, linear_times, log_times};
use crate::flow::{Frame, Observer, Options, Outcome, Recorder, Table, iterate, solve};
use crate::num::stream::Stream;
use crate::sphere::{Tokens, law::Law};
use crate::theory::collapse::Forecast;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// The tables of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Tables {
    /// Observables over time: `realisation, t, ...`, or their means.
    pub table: Table,
    /// One row per realisation.
    pub summary: Table,
}

/// Outcomes by their number in the summary.
pub const OUTCOMES: [&str; 6] = ["reached", "one-cluster", "event", "max-steps", "step-too-small", "non-finite"];

const SUMMARY: [&str; 8] = ["realisation", "outcome", "t", "clusters", "inner_min", "merges", "evaluations", "predicted_t"];

/// Runs all realisations; `None` when cancelled.
///
/// **Errors** a cell whose dynamics or law cannot be built (a law that needs a larger d, a USA rate beyond f64).
pub fn run(experiment: &Experiment, cell: &Cell, cancel: &AtomicBool) -> Result<Option<Tables>> {
    let scale = TimeScale::parse(&experiment.time_scale)?;
    let dynamics = dynamics::build(&cell.dynamics, false, &Spec { time_scale: scale, ..Spec::new(cell.beta, cell.n) })?;
    let runs: Vec<(Table, Vec<f64>)> = (0..experiment.realisations)
        .into_par_iter()
        .map(|m| realisation(experiment, cell, dynamics.as_ref(), m, cancel))
        .collect::<Result<_>>()?;
    if cancel.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let mut summary = Table { columns: SUMMARY.iter().map(ToString::to_string).collect(), rows: Vec::new() };
    let mut tables = Vec::new();
    for (table, row) in runs {
        tables.push(table);
        summary.rows.push(row);
    }
    let table = if experiment.mean { mean(&tables)? } else { stacked(tables) };
    Ok(Some(Tables { table, summary }))
}

fn realisation(experiment: &Experiment, cell: &Cell, dynamics: &dyn Dynamics, m: usize, cancel: &AtomicBool) -> Result<(Table, Vec<f64>)> {
    if cancel.load(Ordering::Relaxed) {
        return Ok((Table::default(), vec![0.0; SUMMARY.len()]));
    }
    let start = if experiment.tokens.is_empty() {
        let key = cell.stream_key();
        let mut stream = Stream::new(experiment.seed, &["init", &key, &m.to_string()]);
        Law::parse(&cell.init)?.sample(cell.n, cell.d, &mut stream)?
    } else {
        Tokens::new(cell.d, experiment.tokens.concat())?
    };
    let setting = Setting { n: cell.n, d: cell.d, beta: cell.beta };
    let observables = experiment.observables.iter().map(|o| observable::find(o)).collect::<Result<Vec<_>>>()?;
    let mut recorder = Recorder::new(setting, sample_times(experiment), false, observables);
    let usa = cell.dynamics == "usa" && experiment.time_scale == "u1";
    let mut forecast = (cell.dynamics == "sa" || usa).then(|| Forecast::new(cell.beta, usa, experiment.merge_radius.max(1e-12)));
    let (end, outcome, t, merges, evaluations) = match experiment.stepper {
        Stepper::Adaptive => {
            let options = Options {
                rtol: experiment.rtol,
                merge_radius: experiment.merge_radius,
                stop_at_one_cluster: experiment.stop_at_one_cluster,
                cancel: Some(cancel),
                ..Options::default()
            };
            let mut observers: Vec<&mut dyn Observer> = vec![&mut recorder];
            if let Some(f) = forecast.as_mut().filter(|_| experiment.stop_at_one_cluster) {
                observers.push(f);
            }
            let s = solve(dynamics, &start, experiment.t_end, &options, &mut observers)?;
            (s.clusters, s.outcome, s.t, s.merges.len(), s.stats.evaluations)
        }
        Stepper::Layer | Stepper::MeanShift => {
            let eta = cell.eta();
            let depth = experiment.layers > 0;
            let layers = if depth { experiment.layers } else { (experiment.t_end / eta - 1e-9).ceil() as usize };
            let dt = if depth { 1.0 } else { eta };
            let (end, done) = iterate(dynamics, &start, Layer::new(eta)?, layers, dt, Some(cancel), &mut [&mut recorder]);
            (end, Outcome::Reached, done as f64 * dt, 0, done as u64)
        }
    };
    let mut last = Vec::new();
    let labels: Vec<usize> = (0..end.n()).collect();
    (observable::clusters::ENTRY.measure)(&setting, &Frame { t, tokens: &end, labels: &labels, dynamics }, &mut last);
    (observable::inner_range::ENTRY.measure)(&setting, &Frame { t, tokens: &end, labels: &labels, dynamics }, &mut last);
    let code = OUTCOMES.iter().position(|o| *o == outcome.name()).unwrap_or(OUTCOMES.len());
    let predicted = forecast.and_then(|f| f.time()).unwrap_or(-1.0);
    let row = vec![m as f64, code as f64, t, last[0], last[1], merges as f64, evaluations as f64, predicted];
    let mut table = recorder.table;
    if !experiment.mean {
        table.columns.insert(0, "realisation".into());
        table.rows.iter_mut().for_each(|r| r.insert(0, m as f64));
    }
    Ok((table, row))
}

fn sample_times(experiment: &Experiment) -> Vec<f64> {
    if !experiment.times.is_empty() {
        experiment.times.clone()
    } else if experiment.layers > 0 {
        (0..=experiment.layers).map(|k| k as f64).collect()
    } else if experiment.log_from > 0.0 {
        log_times(experiment.log_from, experiment.t_end, experiment.samples)
    } else {
        linear_times(experiment.t_end, experiment.samples)
    }
}

fn stacked(tables: Vec<Table>) -> Table {
    let mut all = Table::default();
    for t in tables {
        all.columns = t.columns;
        all.rows.extend(t.rows);
    }
    all
}

/// Row by row means; runs must have the same sample times.
fn mean(tables: &[Table]) -> Result<Table> {
    let rows = tables.iter().map(|t| t.rows.len()).min().unwrap_or(0);
    if tables.iter().any(|t| t.rows.len() != rows) {
        return Err(Error::Numerical {
            what: "some realisations ended early, so their mean over time does not exist; set mean = false".into(),
        });
    }
    let mut out = tables.first().cloned().unwrap_or_default();
    for (k, row) in out.rows.iter_mut().enumerate() {
        for (c, v) in row.iter_mut().enumerate() {
            let column: Vec<f64> = tables.iter().map(|t| t.rows[k][c]).collect();
            *v = crate::num::sum::block_sum(&column) / tables.len() as f64;
        }
    }
    Ok(out)
}
