//! Runs: `solve`, `layers`, `noise`. A run returns a dictionary, from which Python builds its
//! result object.

use crate::arrays::{matrix, vector};
use crate::dynamics::Dynamics;
use crate::field::FieldError;
use crate::to_py_err;
use crate::work::interruptible;
use metastable::attention::{
    self, Energy, EnergyScale, kernel::EXACT_ACCURACY, layer::Layer, noise::Isotropic,
};
use metastable::flow::observable::{self, RunParameters};
use metastable::flow::{
    self, Frame, Observer, Options, Outcome, Recorder, SdeOptions, Solution, Splitting, Table,
    integrator, velocity_accuracy,
};
use metastable::sphere::Tokens;
use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::atomic::{AtomicBool, Ordering};

/// Recorded data: observables at given times or at every step, and the tokens at given times.
struct Recording {
    recorder: Recorder,
    frames: Option<FrameRecorder>,
}

impl Recording {
    fn new(
        x: &Tokens,
        beta: f64,
        times: Option<Vec<f64>>,
        t_end: f64,
        names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let unit = x.space().is_unit();
        let default: &[&str] =
            if unit { &["log-energy", "clusters", "inner-range"] } else { &["clusters"] };
        let names = names.unwrap_or_else(|| default.iter().map(ToString::to_string).collect());
        let observables = names
            .iter()
            .map(|o| observable::find(o))
            .collect::<metastable::Result<Vec<_>>>()
            .map_err(|e| to_py_err(&e))?;
        if let (false, Some(o)) = (unit, observables.iter().find(|o| o.needs_unit_vectors)) {
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
                return Err(PyValueError::new_err(
                    "t_eval: found times that are not ascending, expected ascending ones",
                ));
            }
        }
        let setting = RunParameters { n: x.n(), d: x.d(), beta };
        let every_step = times.is_none();
        let frames = times.clone().map(|times| FrameRecorder {
            times,
            next: 0,
            tokens: Vec::new(),
            radii: Vec::new(),
        });
        Ok(Self {
            recorder: Recorder::new(setting, times.unwrap_or_default(), every_step, observables),
            frames,
        })
    }

    fn observers(&mut self) -> Vec<&mut dyn Observer> {
        let mut all: Vec<&mut dyn Observer> = vec![&mut self.recorder];
        if let Some(frames) = &mut self.frames {
            all.push(frames);
        }
        all
    }

    /// The table and the tokens as NumPy arrays.
    fn write_into(
        self,
        py: Python<'_>,
        (n, d): (usize, usize),
        into: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        into.set_item("timeline", structured(py, &self.recorder.table)?)?;
        let Some(frames) = self.frames else { return Ok(()) };
        let count = frames.tokens.len() / (n * d).max(1);
        into.set_item("frames", frames.tokens.into_pyarray(py).reshape([count, n, d])?)?;
        if !frames.radii.is_empty() {
            into.set_item("frame_radii", matrix(py, frames.radii, n)?)?;
        }
        Ok(())
    }
}

/// Records the positions of all initial tokens, merged or not, at given times.
struct FrameRecorder {
    times: Vec<f64>,
    next: usize,
    tokens: Vec<f64>,
    radii: Vec<f64>,
}

impl Observer for FrameRecorder {
    fn next_time(&self) -> Option<f64> {
        self.times.get(self.next).copied()
    }

    fn observe(&mut self, frame: &Frame) {
        // One layer may pass several recording times; each gets a frame.
        let due =
            self.times[self.next..].iter().take_while(|s| **s <= frame.t * (1.0 + 1e-12)).count();
        self.next += due;
        for _ in 0..due {
            self.tokens.extend(frame.labels.iter().flat_map(|l| frame.tokens.row(*l)));
            self.radii
                .extend(frame.labels.iter().filter_map(|l| frame.tokens.extra_numbers().get(*l)));
        }
    }
}

/// A table as a structured array with one field per column.
fn structured<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyAny>> {
    let width = table.columns.len();
    let fields: Vec<(&str, &str)> = table.columns.iter().map(|c| (c.as_str(), "f8")).collect();
    let numbers = matrix(py, table.rows.concat(), width)?;
    let keywords = PyDict::new(py);
    keywords.set_item("dtype", PyList::new(py, fields)?)?;
    let recfunctions = py.import("numpy.lib.recfunctions")?;
    recfunctions.call_method("unstructured_to_structured", (numbers,), Some(&keywords))
}

/// The final state of a run as a dictionary, without the recorded data.
fn solution_dict<'py>(
    py: Python<'py>,
    end: &Solution,
    beta: Option<f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let into = PyDict::new(py);
    let d = end.clusters.d();
    let message = if end.outcome == Outcome::Reached {
        "the end time was reached".to_owned()
    } else {
        end.outcome.to_string()
    };
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
    let radii: Vec<f64> =
        end.labels.iter().filter_map(|l| end.clusters.extra_numbers().get(*l).copied()).collect();
    into.set_item("radii", if radii.is_empty() { None } else { Some(vector(py, radii)) })?;
    let merges = PyList::empty(py);
    for m in &end.merges {
        merges.append((m.t, vector(py, m.members.iter().map(|i| *i as i64).collect()), m.mass))?;
    }
    into.set_item("merges", merges)?;
    let unit = beta.filter(|_| end.clusters.space().is_unit());
    let energies =
        unit.map(|beta| Energy::new(beta, EnergyScale::Mean).value_and_log_unit(&end.clusters));
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
    let wrapper = dynamics.get();
    let x = wrapper.tokens(tokens, masses, radii, normalise)?;
    let beta = wrapper.inverse_temperature();
    let integrator = integrator(&method.to_ascii_lowercase()).map_err(|e| to_py_err(&e))?;
    let options = move || -> Options<'static> {
        Options {
            integrator,
            rtol,
            merge_radius,
            max_steps,
            stop_at_one_cluster,
            ..Options::default()
        }
    };
    options().validated().map_err(|e| to_py_err(&e))?;
    let recording = Recording::new(&x, beta.unwrap_or(0.0), t_eval, t_end, observables)?;
    let (built, field_error) =
        wrapper.built(py, &x, velocity_accuracy(rtol, beta.unwrap_or(1.0)))?;
    let shape = (x.n(), x.d());
    let (end, recording) = recorded(py, &field_error, recording, move |cancel, observers| {
        let options = Options { cancel: Some(cancel), ..options() };
        flow::solve(&built, &x, t_end, &options, observers)
    })?;
    let into = solution_dict(py, &end, beta)?;
    if end.merging_ignored && end.clusters_within(merge_radius).n() < end.clusters.n() {
        let why = "some tokens are nearer than merge_radius; tokens of this dynamics do not merge";
        into.set_item(
            "message",
            format!(
                "{}; {why}",
                into.get_item("message")?.map_or(String::new(), |m| m.to_string())
            ),
        )?;
    }
    recording.write_into(py, shape, &into)?;
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
    let wrapper = dynamics.get();
    let x = wrapper.tokens(tokens, masses, radii, normalise)?;
    let layer = Layer::new(eta).map_err(|e| to_py_err(&e))?;
    let depths = (0..=count).map(|k| k as f64 * dt).collect();
    let beta = wrapper.inverse_temperature().unwrap_or(0.0);
    let recording = Recording::new(&x, beta, Some(depths), count as f64 * dt, observables)?;
    run_unmerged(py, wrapper, x, recording, move |field, x, cancel, observers| {
        let (clusters, done) =
            flow::apply_layers(field, x, layer, count, dt, Some(cancel), observers)?;
        Ok((clusters, done as f64 * dt, Outcome::Reached, done as u64))
    })
}

#[pyfunction(name = "_noise")]
#[pyo3(signature = (dynamics, tokens, t_end, *, kappa, step, seed, t_eval, observables, masses, radii, normalise))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub fn noise<'py>(
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
    let wrapper = dynamics.get();
    let x = wrapper.tokens(tokens, masses, radii, normalise)?;
    let isotropic = Isotropic::new(kappa).map_err(|e| to_py_err(&e))?;
    let beta = wrapper.inverse_temperature().unwrap_or(0.0);
    let recording = Recording::new(&x, beta, t_eval, t_end, observables)?;
    run_unmerged(py, wrapper, x, recording, move |field, x, cancel, observers| {
        let plan = SdeOptions {
            noise: &isotropic,
            step,
            seed,
            splitting: Splitting::Strang,
            cancel: Some(cancel),
        };
        let (clusters, outcome) = flow::solve_sde(field, x, t_end, &plan, observers)?;
        let t = match outcome {
            Outcome::Interrupted { t } | Outcome::NonFinite { t, .. } => t,
            _ => t_end,
        };
        let steps = (t / step - 1e-9).ceil().max(0.0) as u64;
        Ok((clusters, t, outcome, steps))
    })
}

/// Runs `work` on the thread pool with the observers of a recording. After Ctrl-C, or an exception
/// of a Python function, the flag that it receives is true.
///
/// **Errors** the exception of the Python function; an error of `work`.
fn recorded<T: Send + 'static, W>(
    py: Python<'_>,
    field_error: &FieldError,
    mut recording: Recording,
    work: W,
) -> PyResult<(T, Recording)>
where
    W: FnOnce(&AtomicBool, &mut [&mut dyn Observer]) -> metastable::Result<T> + Send + 'static,
{
    let (stop, cancel) = (&field_error.stop, field_error.stop.clone());
    let (end, recording) = interruptible(py, &|| stop.store(true, Ordering::Relaxed), move || {
        let end = work(&cancel, &mut recording.observers());
        (end, recording)
    })?;
    if let Some(e) = field_error.take() {
        return Err(e);
    }
    Ok((end.map_err(|e| to_py_err(&e))?, recording))
}

/// The tokens at the end of a run without merging, the time, the outcome, and the number of steps.
type End = (Tokens, f64, Outcome, u64);

/// The result of a run without merging that `work` makes, as [`recorded`].
fn run_unmerged<'py, W>(
    py: Python<'py>,
    dynamics: &Dynamics,
    x: Tokens,
    recording: Recording,
    work: W,
) -> PyResult<Bound<'py, PyDict>>
where
    W: FnOnce(
            &attention::Dynamics,
            &Tokens,
            &AtomicBool,
            &mut [&mut dyn Observer],
        ) -> metastable::Result<End>
        + Send
        + 'static,
{
    let (built, field_error) = dynamics.built(py, &x, EXACT_ACCURACY)?;
    let (n, d) = (x.n(), x.d());
    let ((clusters, t, outcome, steps), recording) =
        recorded(py, &field_error, recording, move |cancel, observers| {
            work(&built, &x, cancel, observers)
        })?;
    let stats = flow::Stats { steps, rejected: 0, evaluations: steps, implicit: 0 };
    let (labels, merges, hits) = ((0..n).collect(), Vec::new(), Vec::new());
    let end =
        Solution { outcome, t, clusters, labels, merges, hits, stats, merging_ignored: false };
    let into = solution_dict(py, &end, dynamics.inverse_temperature())?;
    recording.write_into(py, (n, d), &into)?;
    Ok(into)
}
