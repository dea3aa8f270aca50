//! `Dynamics`: the right-hand side as a Python object that can be called and pickled.

use crate::arrays::{is_unit, list, matrix, number, rows, unit_tokens_in, weighted, write};
use crate::field::{FieldError, PythonField};
use crate::to_py_err;
use crate::work::{interruptible, start_pool};
use metastable::attention::dynamics::NamedDynamics;
use metastable::attention::kernel::{EXACT_ACCURACY, KernelChoice, MIN_PARALLEL_WORK, Workspace};
use metastable::attention::model::{Model, Weighting};
use metastable::attention::{
    self, Spec, TimeScale,
    normalisation::{self, Normalisation},
};
use metastable::num::{
    simd::Isa, stats::first_nonfinite, stream::Stream, threads::keep_workers_spinning,
};
use metastable::sphere::{Tokens, law::Law};
use numpy::{PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Number of pairs times d from which a velocity can be interrupted (about a tenth of a second).
const INTERRUPTIBLE_WORK: f64 = 1e9;

/// A registered dynamics with its parameters.
struct Registered {
    entry: &'static NamedDynamics,
    model: Model,
    spec: Spec,
    accuracy: Option<f64>,
    /// The dynamics built last, with its n, d and accuracy.
    last: Mutex<Option<Built>>,
    buffers: Mutex<VelocityBuffers>,
}

/// Buffers of the last velocity, reused by the next: mapping new memory page by page takes longer
/// than filling it.
#[derive(Default)]
struct VelocityBuffers {
    work: Workspace,
    x: Option<Tokens>,
    v: Vec<f64>,
}

/// n, d, accuracy, and the dynamics built for them.
type Built = (usize, usize, f64, Arc<attention::Dynamics>);

enum Kind {
    Registered(Box<Registered>),
    /// A Python function, its length scale, and a model with its normalisation.
    Function(Py<PyAny>, f64, Box<Model>),
}

/// A dynamics: the right-hand side that moves tokens. `name` is a registered dynamics (see
/// `names("dynamics")`; default sa).
///
/// `causal`: token i sees the tokens j <= i. `time_scale` of USA: u1 to u4. `accuracy`: relative
/// error of every velocity (default 1e-13). `kernel`, `simd`: algorithm and instruction set of the
/// sums. The other keywords describe a model, as strings of the command line or as arrays: `norm`,
/// `space`, `rescaled`, `weights`, `mask` and `bias` (an (n, n) array or a list), `rotary`, the
/// matrices `q`, `k`, `v`, `o` of one head (r, d) or of several (heads, r, d), `mlp` as (w1, b1,
/// w2, b2), `activation`, `interaction` (an `Interaction`, a text or a function of an array) in the
/// place of exp(beta s), `row_weights` (the same) by whose sums the rows of sa are divided, and the
/// symmetric matrix `coupling` (d, d).
///
/// >>> import numpy as np, metastable as ms
/// >>> sa = ms.Dynamics("sa", beta=4.0, mask="window:w=2", v=np.eye(3))
/// >>> sa.velocity(ms.tokens("uniform", n=5, d=3)).shape
/// (5, 3)
/// >>> sa.name, sa.beta, sa.space
/// ('sa', 4.0, 'sphere')
#[pyclass(frozen, module = "metastable", name = "Dynamics")]
pub struct Dynamics {
    kind: Kind,
    name: String,
    beta: Option<f64>,
    arguments: Py<PyDict>,
}

#[pymethods]
impl Dynamics {
    #[new]
    #[pyo3(signature = (name=None, *, beta, causal=false, time_scale="u1", kernel="auto", accuracy=None, simd="auto", **model))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        py: Python<'_>,
        name: Option<&str>,
        beta: &Bound<'_, PyAny>,
        causal: bool,
        time_scale: &str,
        kernel: &str,
        accuracy: Option<f64>,
        simd: &str,
        model: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let beta = number("beta", beta)?;
        let arguments = model.map_or_else(|| Ok(PyDict::new(py)), |m| m.copy())?;
        let model = crate::model::model(&arguments)?;
        let name = name.unwrap_or(model.weights.map_or("sa", Weighting::dynamics));
        let entry = attention::dynamics::find(name, causal).map_err(|e| to_py_err(&e))?;
        let scale = TimeScale::parse(time_scale).map_err(|e| to_py_err(&e))?;
        if scale != TimeScale::default()
            && entry.variant.and_then(|v| v.weights.time_scale(scale)).is_none()
        {
            let expected = "none: only dynamics with exponential weights have a time normalisation";
            return Err(PyValueError::new_err(format!(
                "time_scale: found {time_scale}, expected {expected}"
            )));
        }
        if let Some(a) = accuracy.filter(|a| !(1e-13..=0.1).contains(a)) {
            return Err(PyValueError::new_err(format!(
                "accuracy: found {a}, expected a number in [1e-13, 0.1]"
            )));
        }
        let kernel_choice = KernelChoice::parse(kernel).map_err(|e| to_py_err(&e))?;
        let isa = Isa::parse(simd).map_err(|e| to_py_err(&e))?;
        let spec = Spec { time_scale: scale, kernel: kernel_choice, isa, ..Spec::new(beta, 2) };
        // `causal` is part of the registered name.
        arguments.set_item("accuracy", accuracy)?;
        for (key, value) in [("time_scale", time_scale), ("kernel", kernel), ("simd", simd)] {
            arguments.set_item(key, value)?;
        }
        // Report early what cannot be built for any tokens.
        entry.build(&spec).map_err(|e| to_py_err(&e))?;
        let registered = Registered {
            entry,
            model,
            spec,
            accuracy,
            last: Mutex::new(None),
            buffers: Mutex::default(),
        };
        Ok(Self {
            kind: Kind::Registered(Box::new(registered)),
            name: entry.name.to_owned(),
            beta: Some(beta),
            arguments: arguments.unbind(),
        })
    }

    /// Name of the registered dynamics, or of the function.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Inverse temperature; `None` for a function.
    #[getter]
    fn beta(&self) -> Option<f64> {
        self.beta
    }

    /// The space its tokens live in: sphere, flat or polar.
    #[getter]
    fn space(&self) -> PyResult<&'static str> {
        Ok(self.model().scheme().map_err(|e| to_py_err(&e))?.space().name())
    }

    /// Description of the time normalisation; `None` if there is none.
    #[getter]
    fn normalisation(&self) -> Option<&'static str> {
        match &self.kind {
            Kind::Registered(r) if !r.model.is_exponential() => None,
            Kind::Registered(r) => {
                r.entry.variant.and_then(|v| v.weights.time_scale(r.spec.time_scale))
            }
            Kind::Function(..) => None,
        }
    }

    /// The velocity of every token, an array of shape (n, d), written into `out` if given. With
    /// radii (`norm="pre"`) the shape is (n, d + 1), and the last column is the rate of the radius.
    /// `t` is the time, for a function that depends on it.
    ///
    /// >>> import numpy as np, metastable as ms
    /// >>> sa, out = ms.Dynamics("sa", beta=0.0), np.empty((2, 2))
    /// >>> sa.velocity(np.eye(2), out) is out
    /// True
    /// >>> out
    /// array([[0. , 0.5],
    ///        [0.5, 0. ]])
    #[pyo3(signature = (tokens, out=None, *, masses=None, radii=None, normalise=false, t=0.0))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn velocity<'py>(
        &self,
        py: Python<'py>,
        tokens: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
        masses: Option<&Bound<'py, PyAny>>,
        radii: Option<&Bound<'py, PyAny>>,
        normalise: bool,
        t: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        // A second thread of the caller finds the buffers taken and allocates its own.
        let mut buffers = self.buffers().map(|mut k| std::mem::take(&mut *k)).unwrap_or_default();
        let x = self.tokens_in(buffers.x.take(), tokens, masses, radii, normalise)?;
        let (n, d, own) = (x.n(), x.d(), x.space().extra_per_token());
        let found = match out {
            None => empty(py, n, d + own)?,
            Some(out) => out.clone(),
        };
        if out.is_none() && own == 0 {
            // Write into the new array directly.
            let mut array = found.cast::<PyArray2<f64>>()?.try_readwrite()?;
            self.rates(py, &x, t, &mut buffers.work, array.as_slice_mut()?)?;
        } else {
            buffers.v.resize(n * (d + own), 0.0);
            self.rates(py, &x, t, &mut buffers.work, &mut buffers.v)?;
            let v = if own == 0 { &buffers.v } else { &with_radius_rates(n, d, own, &buffers.v) };
            write(&found, v, [n, d + own])?;
        }
        buffers.x = masses.is_none().then_some(x);
        if let Some(mut slot) = self.buffers() {
            *slot = buffers;
        }
        Ok(found)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        if let Kind::Function(f, ..) = &self.kind {
            return Ok(format!("metastable.field({})", f.bind(py).repr()?));
        }
        let is_default = |key: &str, value: &Bound<'_, PyAny>| match key {
            "accuracy" => value.is_none(),
            "time_scale" => value.eq("u1").unwrap_or(false),
            "kernel" | "simd" => value.eq("auto").unwrap_or(false),
            _ => false,
        };
        let mut text =
            format!("metastable.Dynamics('{}', beta={}", self.name, self.beta.unwrap_or(f64::NAN));
        for (key, value) in self.arguments.bind(py) {
            let key: String = key.extract()?;
            if !is_default(&key, &value) {
                text.push_str(&format!(", {key}={}", value.repr()?));
            }
        }
        Ok(text + ")")
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let module = py.import("metastable._metastable")?;
        if let Kind::Function(f, scale, _) = &self.kind {
            let norm = self.arguments.bind(py).get_item("norm")?;
            return Ok((module.getattr("field")?, (f, norm, scale).into_pyobject(py)?));
        }
        Ok((
            module.getattr("_rebuild")?,
            (&self.name, self.beta, &self.arguments).into_pyobject(py)?,
        ))
    }
}

impl Dynamics {
    /// beta, if there is one.
    pub fn inverse_temperature(&self) -> Option<f64> {
        self.beta
    }

    fn model(&self) -> &Model {
        match &self.kind {
            Kind::Registered(r) => &r.model,
            Kind::Function(.., model) => model,
        }
    }

    /// Reads tokens of its space.
    pub fn tokens(
        &self,
        x: &Bound<'_, PyAny>,
        masses: Option<&Bound<'_, PyAny>>,
        radii: Option<&Bound<'_, PyAny>>,
        normalise: bool,
    ) -> PyResult<Tokens> {
        self.tokens_in(None, x, masses, radii, normalise)
    }

    /// [`Dynamics::tokens`] that reuses the memory of `reuse` if the shape fits and there are no
    /// masses.
    fn tokens_in(
        &self,
        reuse: Option<Tokens>,
        x: &Bound<'_, PyAny>,
        masses: Option<&Bound<'_, PyAny>>,
        radii: Option<&Bound<'_, PyAny>>,
        normalise: bool,
    ) -> PyResult<Tokens> {
        let plain = *self.model() == Model::default();
        if plain && radii.is_none() {
            return unit_tokens_in(reuse, x, masses, normalise);
        }
        let (d, given) = rows("tokens", x)?;
        let radii = radii.map(|r| list("radii", r)).transpose()?;
        let space = self.model().scheme().map_err(|e| to_py_err(&e))?.space();
        let normalise =
            normalise || (space.is_unit() && space.extra_per_token() == 0 && is_unit(d, &given));
        let x = self
            .model()
            .tokens_from_rows(d, given.data, normalise, radii.as_deref())
            .map_err(|e| to_py_err(&e))?;
        weighted(x, masses)
    }

    /// The dynamics for tokens of this shape, and the error state of a Python function.
    pub fn built(
        &self,
        py: Python<'_>,
        x: &Tokens,
        accuracy: f64,
    ) -> PyResult<(Arc<attention::Dynamics>, FieldError)> {
        let field_error = FieldError::default();
        let (n, d) = (x.n(), x.d());
        match &self.kind {
            Kind::Function(f, length_scale, model) => {
                let field = PythonField {
                    f: f.clone_ref(py),
                    length_scale: *length_scale,
                    field_error: field_error.clone(),
                };
                let scheme = model.scheme().map_err(|e| to_py_err(&e))?;
                Ok((
                    Arc::new(attention::Dynamics::single(field).with_normalisation(scheme)),
                    field_error,
                ))
            }
            Kind::Registered(r) => {
                let accuracy = r.accuracy.unwrap_or(accuracy);
                let mut last = r.last.lock().unwrap_or_else(PoisonError::into_inner);
                let same = |l: &&Built| l.0 == n && l.1 == d && l.2.total_cmp(&accuracy).is_eq();
                if let Some(known) = last.as_ref().filter(same) {
                    return Ok((known.3.clone(), field_error));
                }
                let spec = Spec { n, accuracy, ..r.spec.clone() };
                let one =
                    r.model.build(r.entry.name, false, &spec, d).map_err(|e| to_py_err(&e))?;
                let one = Arc::new(one);
                *last = Some((n, d, accuracy, one.clone()));
                Ok((one, field_error))
            }
        }
    }

    /// The buffers of the last velocity; `None` for a function, or while another thread accesses
    /// them.
    fn buffers(&self) -> Option<MutexGuard<'_, VelocityBuffers>> {
        match &self.kind {
            Kind::Registered(r) => r.buffers.try_lock().ok(),
            Kind::Function(..) => None,
        }
    }

    /// Rates of all numbers of `x` at time t, without the interpreter's lock.
    ///
    /// **Errors** a velocity that exceeds f64; an exception of a Python function.
    fn rates(
        &self,
        py: Python<'_>,
        x: &Tokens,
        t: f64,
        work: &mut Workspace,
        v: &mut [f64],
    ) -> PyResult<()> {
        let (dynamics, field_error) = self.built(py, x, EXACT_ACCURACY)?;
        dynamics.kernel(x).map_err(|e| to_py_err(&e))?;
        let size = x.n() as f64 * x.n() as f64 * x.d() as f64;
        // With a speed bound no velocity can be infinite or NaN.
        let bounded = dynamics.properties().speed_bound.is_some_and(f64::is_finite);
        if size > INTERRUPTIBLE_WORK {
            let (x, stop) = (x.clone(), field_error.stop.clone());
            let mut own = std::mem::take(work);
            let rates = move || {
                let mut v = vec![0.0; x.numbers().len()];
                dynamics.rates(t, &x, &mut own, &mut v);
                (own, v)
            };
            let (own, rates) = interruptible(py, &|| stop.store(true, Ordering::Relaxed), rates)?;
            *work = own;
            v.copy_from_slice(&rates);
        } else {
            start_pool()?;
            py.detach(|| {
                keep_workers_spinning(size >= MIN_PARALLEL_WORK as f64, || {
                    dynamics.rates(t, x, work, v)
                })
            });
        }
        if let Some(e) = field_error.take() {
            return Err(e);
        }
        if !bounded && first_nonfinite(v).is_some() {
            let quantity =
                format!("a velocity of {} at beta = {}", self.name, self.beta.unwrap_or(f64::NAN));
            let scaled = self.normalisation().is_some();
            let hint = if scaled {
                "use time_scale='u2' (e^{beta (G-1)}) or sa"
            } else {
                "use smaller matrices and radii"
            }
            .to_owned();
            return Err(to_py_err(&metastable::Error::Beyond { quantity, hint }));
        }
        Ok(())
    }
}

/// An uninitialised array of this shape.
fn empty<'py>(py: Python<'py>, n: usize, d: usize) -> PyResult<Bound<'py, PyAny>> {
    static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    EMPTY.import(py, "numpy", "empty")?.call1(((n, d),))
}

/// Velocities, with the rates of the radii as last column.
fn with_radius_rates(n: usize, d: usize, own: usize, v: &[f64]) -> Vec<f64> {
    let (rows, rates) = v.split_at(n * d);
    (0..n)
        .flat_map(|i| {
            rows[i * d..(i + 1) * d].iter().chain(&rates[i * own..(i + 1) * own]).copied()
        })
        .collect()
}

/// Rebuilds a pickled dynamics.
#[pyfunction(name = "_rebuild")]
pub fn rebuild<'py>(
    py: Python<'py>,
    name: &str,
    beta: f64,
    arguments: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let keywords = arguments.copy()?;
    keywords.set_item("beta", beta)?;
    py.get_type::<Dynamics>().call((name,), Some(&keywords))
}

/// A dynamics from a Python function: `f(t, x)` takes the time and an array of shape (n, d) and
/// returns an array of the same shape. On the sphere (`norm="post"`) the tangent part of f(t, x)
/// moves the tokens, so f = -x moves nothing; with `norm="none"` tokens live in R^d.
/// `length_scale`, at most 1, is the length over which f changes by a factor e: the unit of `rtol`.
/// Tokens of such a dynamics never merge, because f may depend on their index: `merge_radius` is
/// ignored, and the result has `merging_ignored`. Use `clusters` to find clusters.
///
/// >>> import numpy as np, metastable as ms
/// >>> turn = ms.field(lambda t, x: np.stack([-x[:, 1], x[:, 0], 0 * x[:, 2]], axis=1))
/// >>> ms.velocity([[1.0, 0.0, 0.0]], turn) + 0.0
/// array([[0., 1., 0.]])
#[pyfunction]
#[pyo3(signature = (f, norm=None, length_scale=1.0))]
pub fn field(
    py: Python<'_>,
    f: Bound<'_, PyAny>,
    norm: Option<&str>,
    length_scale: f64,
) -> PyResult<Dynamics> {
    if !f.is_callable() {
        return Err(PyValueError::new_err(format!(
            "f: found {}, expected a function f(t, x)",
            f.repr()?
        )));
    }
    if !(length_scale > 0.0 && length_scale <= 1.0) {
        return Err(PyValueError::new_err(format!(
            "length_scale: found {length_scale}, expected a number in (0, 1]"
        )));
    }
    let norm = norm.unwrap_or("post");
    normalisation::find(norm).map_err(|e| to_py_err(&e))?;
    let arguments = PyDict::new(py);
    arguments.set_item("norm", norm)?;
    let model = Model { normalisation: Some(norm.to_owned()), ..Model::default() };
    let name =
        f.getattr("__name__").and_then(|n| n.extract()).unwrap_or_else(|_| "field".to_owned());
    Ok(Dynamics {
        kind: Kind::Function(f.unbind(), length_scale, Box::new(model)),
        name,
        beta: None,
        arguments: arguments.unbind(),
    })
}

/// Tokens drawn from a law, equal to those of the program for the same seed.
#[pyfunction(name = "_draw")]
pub fn draw<'py>(
    py: Python<'py>,
    law: &str,
    n: usize,
    d: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyAny>> {
    if n == 0 || d < 2 {
        return Err(PyValueError::new_err(format!(
            "n, d: found {n}, {d}, expected n >= 1 and d >= 2"
        )));
    }
    let x = Law::parse(law)
        .and_then(|l| l.sample(n, d, &mut Stream::new(seed, &["cli", "init"])))
        .map_err(|e| to_py_err(&e))?;
    Ok(matrix(py, x.coordinates().to_vec(), d)?.into_any())
}
