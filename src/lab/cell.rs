//! Runs one cell: draws the initial tokens of every realisation, integrates them, records
//! observables.

use super::draws::{masses_by_law, matrix_seed, noise_root};
use super::experiment::{Experiment, Stepping};
use super::model::{ModelSpec, NoiseSettings};
use super::plan::Cell;
use crate::attention::kernel::EXACT_ACCURACY;
use crate::attention::{Dynamics, Spec, TimeScale, dynamics, layer::Layer};
use crate::error::{Error, Result};
use crate::flow::observable::{self, RunParameters, linear_times, log_times};
use crate::flow::{
    Frame, Observer, Options, Outcome, Recorder, SDE_VELOCITY_ACCURACY, SdeOptions, Summary, Table,
    apply_layers_many, preferred_batch, solve, solve_many, solve_sde_many, velocity_accuracy,
};
use crate::num::{stream::Stream, threads::sequentially};
use crate::proofs::trajectory::{Neighbourhood, prove};
use crate::sphere::{Tokens, law::Law};
use crate::theory::collapse::CollapseTimePredictor;
use rayon::prelude::*;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

/// The tables of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellTables {
    /// Observables over time: `realisation, t, ...`, or their means.
    pub table: Table,
    /// One row per realisation.
    pub summary: Table,
}

/// Names of the outcomes; the summary holds their indices. Stored tables hold the indices too: add
/// a new outcome at the end.
pub const OUTCOMES: [&str; 7] =
    ["reached", "one-cluster", "event", "max-steps", "step-too-small", "non-finite", "stationary"];

/// For each outcome, whether the run ended as requested.
const SUCCESSES: [bool; 7] = [true, true, true, false, false, false, true];

/// True for the index of an outcome that is a failure.
pub(super) fn is_failure(code: f64) -> bool {
    !SUCCESSES.get(code as usize).copied().unwrap_or(false)
}

/// Column with the seed of the matrices of a realisation, for models whose matrices are drawn anew
/// in every realisation.
pub const MATRIX_SEED: &str = "matrix_seed";

/// Columns of every summary. [`MATRIX_SEED`] and `proved` follow them in experiments that have
/// these columns.
const SUMMARY: [&str; 9] = [
    "realisation",
    "outcome",
    "t",
    "t_one_cluster",
    "clusters",
    "inner_min",
    "merges",
    "evaluations",
    "predicted_t",
];

/// Runs all realisations of a cell; `cells` is the number of cells that run at the same time.
/// Returns `None` when cancelled.
///
/// **Errors** a cell whose dynamics or law cannot be built (a law that needs a larger d, a USA rate
/// beyond f64).
pub fn run(
    experiment: &Experiment,
    cell: &Cell,
    cells: usize,
    cancel: &AtomicBool,
) -> Result<Option<CellTables>> {
    let model_spec = experiment.model_of(&cell.model);
    // Errors of the dynamics are reported before anything runs.
    let shared = dynamics_of(experiment, cell, model_spec)?;
    let own = model_spec.model.needs_seed();
    let sweep = cells * experiment.realisations > 1;
    // Few cells share the threads. Batching changes no result. Realisations with matrices of their
    // own run one by one.
    let threads = rayon::current_num_threads().div_ceil(cells.max(1));
    let size = if own {
        1
    } else {
        experiment.realisations.div_ceil(threads).clamp(1, preferred_batch(cell.d))
    };
    let batches: Vec<Vec<usize>> = (0..experiment.realisations)
        .collect::<Vec<_>>()
        .chunks(size)
        .map(<[usize]>::to_vec)
        .collect();
    let forecast =
        matches!(experiment.stepper, Stepping::Adaptive) && experiment.stop_at_one_cluster;
    let batch = |m: &Vec<usize>| {
        let drawn = m.first().and_then(|m| matrix_seed(experiment, model_spec, cell, *m));
        let of_its_own = drawn
            .map(|seed| dynamics_of(experiment, cell, &model_spec.clone().with_seed(seed)))
            .transpose()?;
        let dynamics = of_its_own.as_ref().unwrap_or(&shared);
        if let Some(noise_settings) = &model_spec.noise_settings {
            with_noise(experiment, cell, dynamics, noise_settings, m, cancel)
        } else if forecast {
            m.iter()
                .map(|m| until_one_cluster(experiment, cell, dynamics, *m, cancel))
                .collect::<Result<Vec<_>>>()
        } else {
            run_batch(experiment, cell, dynamics, m, cancel)
        }
    };
    // In a sweep the threads run realisations; in a single run they serve the kernels.
    let runs: Vec<Vec<(Table, Vec<f64>)>> = if sweep {
        batches
            .par_iter()
            .with_max_len(1)
            .map(|m| sequentially(|| batch(m)))
            .collect::<Result<_>>()?
    } else {
        batches.iter().map(batch).collect::<Result<_>>()?
    };
    let runs = runs.into_iter().flatten();
    if cancel.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let mut summary =
        Table { columns: SUMMARY.iter().map(ToString::to_string).collect(), rows: Vec::new() };
    let mut tables = Vec::new();
    for (table, row) in runs {
        tables.push(table);
        summary.rows.push(row);
    }
    if own {
        summary.columns.push(MATRIX_SEED.into());
        let seed = |m: usize| {
            matrix_seed(experiment, model_spec, cell, m).map_or(f64::NAN, |seed| seed as f64)
        };
        summary.rows.iter_mut().enumerate().for_each(|(m, row)| row.push(seed(m)));
    }
    if experiment.certify {
        summary.columns.push("proved".into());
        let proved = (0..experiment.realisations)
            .into_par_iter()
            .map(|m| proved(experiment, cell, m))
            .collect::<Result<Vec<f64>>>()?;
        summary.rows.iter_mut().zip(proved).for_each(|(row, p)| row.push(p));
    }
    let table = if experiment.mean { mean(&tables, experiment.band)? } else { stacked(tables) };
    Ok(Some(CellTables { table, summary }))
}

/// The dynamics of a cell with this model.
fn dynamics_of(experiment: &Experiment, cell: &Cell, model_spec: &ModelSpec) -> Result<Dynamics> {
    let scale = TimeScale::parse(&experiment.time_scale)?;
    let accuracy = match experiment.stepper {
        _ if model_spec.noise_settings.is_some() => SDE_VELOCITY_ACCURACY,
        Stepping::Adaptive => velocity_accuracy(experiment.rtol, cell.beta),
        Stepping::Layer | Stepping::MeanShift => EXACT_ACCURACY,
    };
    let spec = experiment.method.spec(Spec {
        time_scale: scale,
        accuracy,
        ..Spec::new(cell.beta, cell.n)
    })?;
    model_spec.model.build(&cell.dynamics, false, &spec, cell.d)
}

/// 1 where the start of realisation m is proved to converge to one point, else 0.
fn proved(experiment: &Experiment, cell: &Cell, m: usize) -> Result<f64> {
    let Some(variant) = dynamics::find(&cell.dynamics, false)?.variant else { return Ok(0.0) };
    let near = Neighbourhood::new(variant, cell.beta, &start(experiment, cell, m)?, 0.0)?;
    Ok(f64::from(u8::from(prove(&near)?.is_ok())))
}

/// The initial tokens of realisation m.
fn start(experiment: &Experiment, cell: &Cell, m: usize) -> Result<Tokens> {
    let model = &experiment.model_of(&cell.model).model;
    let x = if experiment.tokens.is_empty() {
        let mut stream =
            Stream::new(experiment.seed, &["init", &cell.stream_key(), &m.to_string()]);
        model.tokens_from_unit_vectors(
            &Law::parse(&cell.init)?.sample(cell.n, cell.d, &mut stream)?,
            None,
        )?
    } else {
        model.tokens_from_rows(cell.d, experiment.tokens.concat(), false, None)?
    };
    match experiment.mass_law.as_str() {
        _ if !experiment.masses.is_empty() => x.with_masses(&experiment.masses),
        law if !law.is_empty() => x.with_masses(&masses_by_law(law, experiment.seed, cell, m)?),
        _ => Ok(x),
    }
}

fn recorder(experiment: &Experiment, cell: &Cell) -> Result<Recorder> {
    let observables =
        experiment.observables.iter().map(|o| observable::find(o)).collect::<Result<Vec<_>>>()?;
    Ok(Recorder::new(setting(cell), sample_times(experiment), false, observables))
}

fn setting(cell: &Cell) -> RunParameters {
    RunParameters { n: cell.n, d: cell.d, beta: cell.beta }
}

fn options<'a>(experiment: &Experiment, cancel: &'a AtomicBool) -> Result<Options<'a>> {
    experiment.method.options(Options {
        rtol: experiment.rtol,
        merge_radius: experiment.merge_radius,
        stop_at_one_cluster: experiment.stop_at_one_cluster,
        cancel: Some(cancel),
        ..Options::default()
    })
}

/// One realisation by adaptive steps until one cluster is left, with a forecast of when.
fn until_one_cluster(
    experiment: &Experiment,
    cell: &Cell,
    dynamics: &Dynamics,
    m: usize,
    cancel: &AtomicBool,
) -> Result<(Table, Vec<f64>)> {
    let (start, mut recorder) = (start(experiment, cell, m)?, recorder(experiment, cell)?);
    let variant = dynamics::find(&cell.dynamics, false)?
        .variant
        .filter(|_| experiment.model_of(&cell.model).is_plain());
    let scale = TimeScale::parse(&experiment.time_scale)?;
    let mut forecast =
        CollapseTimePredictor::new(variant, scale, cell.beta, experiment.merge_radius.max(1e-12));
    let mut observers: Vec<&mut dyn Observer> = vec![&mut recorder];
    if let Some(f) = &mut forecast {
        observers.push(f);
    }
    let end =
        solve(dynamics, &start, experiment.t_end, &options(experiment, cancel)?, &mut observers)?
            .into();
    let predicted = forecast.and_then(|f| f.time()).unwrap_or(-1.0);
    Ok(result_of(experiment, cell, dynamics, m, &end, predicted, recorder))
}

/// Realisations m with noise, each with its own seed, integrated as one batch where possible.
fn with_noise(
    experiment: &Experiment,
    cell: &Cell,
    dynamics: &Dynamics,
    noise_settings: &NoiseSettings,
    m: &[usize],
    cancel: &AtomicBool,
) -> Result<Vec<(Table, Vec<f64>)>> {
    let systems = m.iter().map(|m| start(experiment, cell, *m)).collect::<Result<Vec<_>>>()?;
    let mut recorders = m.iter().map(|_| recorder(experiment, cell)).collect::<Result<Vec<_>>>()?;
    let root = noise_root(noise_settings, experiment.seed);
    let seeds: Vec<u64> = m
        .iter()
        .map(|m| Stream::new(root, &["noise", &cell.stream_key(), &m.to_string()]).next_u64())
        .collect();
    let plan = SdeOptions {
        noise: &noise_settings.noise,
        step: noise_settings.step,
        seed: 0,
        splitting: noise_settings.splitting,
        cancel: Some(cancel),
    };
    let ends = solve_sde_many(dynamics, &systems, experiment.t_end, &plan, &seeds, &mut recorders)?;
    let steps = (experiment.t_end / noise_settings.step - 1e-9).ceil().max(0.0) as u64;
    let rows = m.iter().zip(ends).zip(recorders).map(|((m, (clusters, outcome)), recorder)| {
        let t = if let Outcome::NonFinite { t, .. } = outcome { t } else { experiment.t_end };
        let end =
            Summary { outcome, t, clusters, merges: 0, evaluations: 12 * steps, one_cluster: None };
        result_of(experiment, cell, dynamics, *m, &end, -1.0, recorder)
    });
    Ok(rows.collect())
}

/// Realisations m, integrated as one batch where possible.
fn run_batch(
    experiment: &Experiment,
    cell: &Cell,
    dynamics: &Dynamics,
    m: &[usize],
    cancel: &AtomicBool,
) -> Result<Vec<(Table, Vec<f64>)>> {
    let systems = m.iter().map(|m| start(experiment, cell, *m)).collect::<Result<Vec<_>>>()?;
    let mut recorders = m.iter().map(|_| recorder(experiment, cell)).collect::<Result<Vec<_>>>()?;
    let ends = match experiment.stepper {
        Stepping::Adaptive => solve_many(
            dynamics,
            &systems,
            experiment.t_end,
            &options(experiment, cancel)?,
            &mut recorders,
        )?,
        Stepping::Layer | Stepping::MeanShift => {
            layers(experiment, cell, dynamics, systems, cancel, &mut recorders)?
        }
    };
    let rows = m.iter().zip(&ends).zip(recorders);
    Ok(rows
        .map(|((m, end), recorder)| result_of(experiment, cell, dynamics, *m, end, -1.0, recorder))
        .collect())
}

/// Applies residual layers to the systems.
fn layers(
    experiment: &Experiment,
    cell: &Cell,
    dynamics: &Dynamics,
    mut systems: Vec<Tokens>,
    cancel: &AtomicBool,
    recorders: &mut [Recorder],
) -> Result<Vec<Summary>> {
    let eta = cell.eta()?;
    let depth = experiment.layers > 0;
    let layers =
        if depth { experiment.layers } else { (experiment.t_end / eta - 1e-9).ceil() as usize };
    let dt = if depth { 1.0 } else { eta };
    let done = apply_layers_many(
        dynamics,
        &mut systems,
        Layer::new(eta)?,
        layers,
        dt,
        Some(cancel),
        recorders,
    )?;
    let end = |clusters: Tokens| Summary {
        outcome: Outcome::Reached,
        t: done as f64 * dt,
        clusters,
        merges: 0,
        evaluations: done as u64,
        one_cluster: None,
    };
    Ok(systems.into_iter().map(end).collect())
}

/// The table of one realisation and its row of the summary.
fn result_of(
    experiment: &Experiment,
    cell: &Cell,
    dynamics: &Dynamics,
    m: usize,
    end: &Summary,
    predicted: f64,
    recorder: Recorder,
) -> (Table, Vec<f64>) {
    let (mut found, last) = (Vec::new(), &end.clusters);
    let labels: Vec<usize> = (0..last.n()).collect();
    let frame = Frame {
        t: end.t,
        tokens: last,
        labels: &labels,
        dynamics,
        work: &RefCell::default(),
        merge_radius: experiment.merge_radius,
    };
    (observable::clusters::ENTRY.measure)(&setting(cell), &frame, &mut found);
    (observable::inner_range::ENTRY.measure)(&setting(cell), &frame, &mut found);
    let code = OUTCOMES.iter().position(|o| *o == end.outcome.name()).unwrap_or(OUTCOMES.len());
    let inner_min = if last.space().is_unit() { found[1] } else { f64::NAN };
    let one_cluster = end.one_cluster.unwrap_or(f64::NAN);
    let row = vec![
        m as f64,
        code as f64,
        end.t,
        one_cluster,
        found[0],
        inner_min,
        end.merges as f64,
        end.evaluations as f64,
        predicted,
    ];
    let mut table = recorder.table;
    if !experiment.mean {
        table.columns.insert(0, "realisation".into());
        table.rows.iter_mut().for_each(|r| r.insert(0, m as f64));
    }
    (table, row)
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

/// Means over the realisations, row by row, and the ends of the interval that holds the share
/// `band` of them. All runs must have the same sample times.
fn mean(tables: &[Table], band: f64) -> Result<Table> {
    let rows = tables.iter().map(|t| t.rows.len()).min().unwrap_or(0);
    if tables.iter().any(|t| t.rows.len() != rows) {
        return Err(Error::Numerical {
            what:
                "some realisations ended early, so their mean over time does not exist; set mean \
                = false"
                    .into(),
        });
    }
    let mut out = tables.first().cloned().unwrap_or_default();
    if band > 0.0 {
        let names: Vec<String> = out
            .columns
            .iter()
            .skip(1)
            .flat_map(|c| [format!("{c}_low"), format!("{c}_high")])
            .collect();
        out.columns.extend(names);
    }
    // The same number of realisations is left out at both ends. For 20 realisations and 90 % these
    // are the smallest and the largest.
    let outside =
        ((0.5 * (1.0 - band) * tables.len() as f64 + 1e-9) as usize).min((tables.len() - 1) / 2);
    for (k, row) in out.rows.iter_mut().enumerate() {
        let mut ends = Vec::new();
        for (c, v) in row.iter_mut().enumerate() {
            let mut column: Vec<f64> = tables.iter().map(|t| t.rows[k][c]).collect();
            *v = crate::num::sum::block_sum(&column) / tables.len() as f64;
            if band > 0.0 && c > 0 {
                column.sort_by(f64::total_cmp);
                ends.extend([column[outside], column[column.len() - 1 - outside]]);
            }
        }
        row.extend(ends);
    }
    Ok(out)
}
