//! Tokens over time: `solve`, `layers`, `noise`. The parts of a run are handed to Python as a dictionary, of which it makes its result object.

use crate::arrays::{matrix, vector};
use crate::dynamics::Dynamics;
use crate::raised;
use crate::work::interruptible;
use metastable::attention::{Energy, EnergyScale, kernel::EXACT, layer::Layer, noise::Isotropic};
use metastable::flow::observable::{self, Setting};
use metastable::flow::{
    self, Frame, Observer, Options, Outcome, Recorder, Solution, Splitting, Table, Walk, integrator, velocity_accuracy,
};
use metastable::sphere::Tokens;
use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::atomic::Ordering;

/// What is watched: tables of observables at given times or at every step, and the tokens at given times.
struct Watch {
    recorder: Recorder,
    stills: Option<Stills>,
}

impl Watch {
    fn new(x: &Tokens, beta: f64, times: Option<Vec<f64>>, t_end: f64, names: Option<Vec<String>>) -> PyResult<Self> {
        let unit = x.space().is_unit();
        let usual: &[&str] = if unit { &["log-energy", "clusters", "inner-range"] } else { &["clusters"] };
        let names = names.unwrap_or_else(|| usual.iter().map(ToString::to_string).collect());
        let observables = names.iter().map(|o| observable::find(o)).collect::<metastable::Result<Vec<_>>>().map_err(|e| raised(&e))?;
        if let (false, Some(o)) = (unit, observables.iter().find(|o| o.needs_unit)) {
            return Err(PyValueError::new_err(format!(
                "observables: found {}, expected positions, clusters or masses off the sphere",
                o.name
            )));
        }
        if let Some(times) = &times {
            if let Some(t) = times.iter().find(|t| !(**t >= 0.0 && **t <= t_end)) {
                return Err(PyValueError::new_err(format!(
                    "t_eval: found {t} (from the start), expected times inside the run, of length {t_end}"
                )));
            }
            if times.windows(2).any(|p| p[0] >= p[1]) {
                return Err(PyValueError::new_err("t_eval: found times that are not ascending, expected ascending ones"));
            }
        }
        let setting = Setting { n: x.n(), d: x.d(), beta };
        let every_step = times.is_none();
        let stills = times.clone().map(|times| Stills { times, next: 0, tokens: Vec::new(), radii: Vec::new() });
        Ok(Self { recorder: Recorder::new(setting, times.unwrap_or_default(), every_step, observables), stills })
    }

    fn observers(&mut self) -> Vec<&mut dyn Observer> {
        let mut all: Vec<&mut dyn Observer> = vec![&mut self.recorder];
        if let Some(stills) = &mut self.stills {
            all.push(stills);
        }
        all
    }

    /// The table and the tokens as NumPy arrays.
    fn tell(self, py: Python<'_>, (n, d): (usize, usize), into: &Bound<'_, PyDict>) -> PyResult<()> {
        into.set_item("timeline", structured(py, &self.recorder.table)?)?;
        let Some(stills) = self.stills else { return Ok(()) };
        let count = stills.tokens.len() / (n * d).max(1);
        into.set_item("frames", stills.tokens.into_pyarray(py).reshape([count, n, d])?)?;
        if !stills.radii.is_empty() {
            into.set_item("frame_radii", matrix(py, stills.radii, n)?)?;
        }
        Ok(())
    }
}

/// One row for every initial token, merged or not, at each of some times.
struct Stills {
    times: Vec<f64>,
    next: usize,
    tokens: Vec<f64>,
    radii: Vec<f64>,
}

impl Observer for Stills {
    fn next_time(&self) -> Option<f64> {
        self.times.get(self.next).copied()
    }

    fn observe(&mut self, frame: &Frame) {
        // A layer may pass several times at once; each has its frame.
        let due = self.times[self.next..].iter().take_while(|s| **s <= frame.t * (1.0 + 1e-12)).count();
        self.next += due;
        for _ in 0..due {
            self.tokens.extend(frame.labels.iter().flat_map(|l| frame.tokens.row(*l)));
            self.radii.extend(frame.labels.iter().filter_map(|l| frame.tokens.own().get(*l)));
        }
    }
}

/// A table as a structured array, one field a column.
fn structured<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyAny>> {
    let width = table.columns.len();
    let fields: Vec<(&str, &str)> = table.columns.iter().map(|c| (c.as_str(), "f8")).collect();
    let numbers = matrix(py, table.rows.concat(), width)?;
    let keywords = PyDict::new(py);
    keywords.set_item("dtype", PyList::new(py, fields)?)?;
    let recfunctions = py.import("numpy.lib.recfunctions")?;
    recfunctions.call_method("unstructured_to_structured", (numbers,), Some(&keywords))
}

/// What a run ends with, beside what was watched.
fn told<'py>(py: Python<'py>, end: &Solution, beta: Option<f64>) -> PyResult<Bound<'py, PyDict>> {
    let into = PyDict::new(py);
    let d = end.clusters.d();
    let message = if end.outcome == Outcome::Reached { "the end time was reached".to_owned() } else { end.outcome.to_string() };
    let status = match end.outcome {
        Outcome::Reached | Outcome::Stationary { .. } => 0,
        _ if end.outcome.is_success() => 1,
        _ => -1,
    };
    into.set_item("success", end.outcome.is_success())?;
    into.set_item("status", status)?;
    into.set_item("message", message)?;
    into.set_item("outcome", end.outcome.name())?;
    into.set_item("t", end.t)?;
    into.set_item("tokens", matrix(py, end.tokens(), d)?)?;
    into.set_item("labels", vector(py, end.labels.iter().map(|l| *l as i64).collect()))?;
    into.set_item("clusters", matrix(py, end.clusters.coordinates().to_vec(), d)?)?;
    into.set_item("masses", vector(py, end.clusters.masses().to_vec()))?;
    let radii: Vec<f64> = end.labels.iter().filter_map(|l| end.clusters.own().get(*l).copied()).collect();
    into.set_item("radii", if radii.is_empty() { None } else { Some(vector(py, radii)) })?;
    let merges = PyList::empty(py);
    for m in &end.merges {
        merges.append((m.t, vector(py, m.members.iter().map(|i| *i as i64).collect()), m.mass))?;
    }
    into.set_item("merges", merges)?;
    let unit = beta.filter(|_| end.clusters.space().is_unit());
    let energies = unit.map(|beta| Energy::new(beta, EnergyScale::Mean).value_and_log_unit(&end.clusters));
    let (energy, log_energy) = energies.map_or((None, None), |(e, log)| (e.ok(), Some(log)));
    into.set_item("energy", energy)?;
    into.set_item("log_energy", log_energy)?;
    into.set_item("nfev", end.stats.evaluations)?;
    into.set_item("nsteps", end.stats.steps)?;
    into.set_item("nrejected", end.stats.rejected)?;
    into.set_item("merging_ignored", end.merging_ignored)?;
    Ok(into)
}

#[pyfunction(name = "_solve")]
#[pyo3(signature = (dynamics, tokens, t_end, *, t_eval, observables, rtol, merge_radius, method, max_steps, stop_at_one_cluster, masses, radii, normalise))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub fn solve<'py>(
    py: Python<'py>,
    dynamics: &Bound<'py, Dynamics>,
    tokens: &Bound<'py, PyAny>,
    t_end: f64,
    t_eval: Option<Vec<f64>>,
    observables: Option<Vec<String>>,
    rtol: f64,
    merge_radius: f64,
    method: &str,
    max_steps: u64,
    stop_at_one_cluster: bool,
    masses: Option<&Bound<'py, PyAny>>,
    radii: Option<&Bound<'py, PyAny>>,
    normalise: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let mine = dynamics.get();
    let x = mine.tokens(tokens, masses, radii, normalise)?;
    let beta = mine.inverse_temperature();
    let integrator = integrator(&method.to_ascii_lowercase()).map_err(|e| raised(&e))?;
    let numbers = Options { integrator, rtol, merge_radius, max_steps, stop_at_one_cluster, ..Options::default() };
    numbers.validated().map_err(|e| raised(&e))?;
    let mut watch = Watch::new(&x, beta.unwrap_or(0.0), t_eval, t_end, observables)?;
    let (built, trouble) = mine.built(py, &x, velocity_accuracy(rtol, beta.unwrap_or(1.0)))?;
    let (shape, stop) = ((x.n(), x.d()), trouble.stop.clone());
    let inside = stop.clone();
    let (end, watch) = interruptible(py, &|| stop.store(true, Ordering::Relaxed), move || {
        let options =
            Options { integrator, rtol, merge_radius, max_steps, stop_at_one_cluster, cancel: Some(&inside), ..Options::default() };
        let end = flow::solve(&built, &x, t_end, &options, &mut watch.observers());
        (end, watch)
    })?;
    if let Some(e) = trouble.take() {
        return Err(e);
    }
    let end = end.map_err(|e| raised(&e))?;
    let into = told(py, &end, beta)?;
    if end.merging_ignored && end.clusters_within(merge_radius).n() < end.clusters.n() {
        let why = "tokens came nearer than merge_radius and stay apart: those of this dynamics never become one";
        into.set_item("message", format!("{}; {why}", into.get_item("message")?.map_or(String::new(), |m| m.to_string())))?;
    }
    watch.tell(py, shape, &into)?;
    Ok(into)
}

#[pyfunction(name = "_layers")]
#[pyo3(signature = (dynamics, tokens, count, eta, dt, *, observables, masses, radii, normalise))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub fn layers<'py>(
    py: Python<'py>,
    dynamics: &Bound<'py, Dynamics>,
    tokens: &Bound<'py, PyAny>,
    count: usize,
    eta: f64,
    dt: f64,
    observables: Option<Vec<String>>,
    masses: Option<&Bound<'py, PyAny>>,
    radii: Option<&Bound<'py, PyAny>>,
    normalise: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let mine = dynamics.get();
    let x = mine.tokens(tokens, masses, radii, normalise)?;
    let layer = Layer::new(eta).map_err(|e| raised(&e))?;
    let depths = (0..=count).map(|k| k as f64 * dt).collect();
    let mut watch = Watch::new(&x, mine.inverse_temperature().unwrap_or(0.0), Some(depths), count as f64 * dt, observables)?;
    let (built, trouble) = mine.built(py, &x, EXACT)?;
    let (shape, stop, n) = ((x.n(), x.d()), trouble.stop.clone(), x.n());
    let inside = stop.clone();
    let (end, watch) = interruptible(py, &|| stop.store(true, Ordering::Relaxed), move || {
        let end = flow::iterate(&built, &x, layer, count, dt, Some(&inside), &mut watch.observers());
        (end, watch)
    })?;
    if let Some(e) = trouble.take() {
        return Err(e);
    }
    let (clusters, done) = end.map_err(|e| raised(&e))?;
    ended(py, clusters, n, (done as f64 * dt, Outcome::Reached, done as u64), watch, shape, mine)
}

#[pyfunction(name = "_noise")]
#[pyo3(signature = (dynamics, tokens, t_end, *, kappa, step, seed, t_eval, observables, masses, radii, normalise))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub fn walk<'py>(
    py: Python<'py>,
    dynamics: &Bound<'py, Dynamics>,
    tokens: &Bound<'py, PyAny>,
    t_end: f64,
    kappa: f64,
    step: f64,
    seed: u64,
    t_eval: Option<Vec<f64>>,
    observables: Option<Vec<String>>,
    masses: Option<&Bound<'py, PyAny>>,
    radii: Option<&Bound<'py, PyAny>>,
    normalise: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let mine = dynamics.get();
    let x = mine.tokens(tokens, masses, radii, normalise)?;
    let noise = Isotropic::new(kappa).map_err(|e| raised(&e))?;
    let mut watch = Watch::new(&x, mine.inverse_temperature().unwrap_or(0.0), t_eval, t_end, observables)?;
    let (built, trouble) = mine.built(py, &x, EXACT)?;
    let (shape, stop, n) = ((x.n(), x.d()), trouble.stop.clone(), x.n());
    let inside = stop.clone();
    let (end, watch) = interruptible(py, &|| stop.store(true, Ordering::Relaxed), move || {
        let plan = Walk { noise: &noise, step, seed, splitting: Splitting::Strang, cancel: Some(&inside) };
        let end = flow::walk(&built, &x, t_end, &plan, &mut watch.observers());
        (end, watch)
    })?;
    if let Some(e) = trouble.take() {
        return Err(e);
    }
    let (clusters, outcome) = end.map_err(|e| raised(&e))?;
    let t = match outcome {
        Outcome::Interrupted { t } | Outcome::NonFinite { t, .. } => t,
        _ => t_end,
    };
    let steps = (t / step - 1e-9).ceil().max(0.0) as u64;
    ended(py, clusters, n, (t, outcome, steps), watch, shape, mine)
}

/// The end of a run whose tokens never become one.
fn ended<'py>(
    py: Python<'py>,
    clusters: Tokens,
    n: usize,
    (t, outcome, steps): (f64, Outcome, u64),
    watch: Watch,
    shape: (usize, usize),
    dynamics: &Dynamics,
) -> PyResult<Bound<'py, PyDict>> {
    let stats = flow::Stats { steps, rejected: 0, evaluations: steps, implicit: 0 };
    let (labels, merges, hits) = ((0..n).collect(), Vec::new(), Vec::new());
    let end = Solution { outcome, t, clusters, labels, merges, hits, stats, merging_ignored: false };
    let into = told(py, &end, dynamics.inverse_temperature())?;
    watch.tell(py, shape, &into)?;
    Ok(into)
}
