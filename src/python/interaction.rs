//! `Interaction`: a function of the inner product, from text or from a Python function.

use crate::arrays::{number, numeric_array, vector};
use crate::to_py_err;
use metastable::attention::interaction::{self, ALL};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

/// A function phi(s) of the inner product s in [-1, 1], in the place of exp(beta s).
///
/// `phi` is a name (`power`, `relu`, `sigmoid`, ..., see `names("interactions")`) or a formula of s
/// with its parameters as keywords; or a Python function of an array, which is sampled at
/// Chebyshev points until the series is exact to rounding. `error` is then the largest difference
/// found at twice as many other points, and else the measured error of the series. The object is
/// accepted as `interaction` by `Dynamics`, `velocity`, `solve`, `energy`, `saddles` and `measure`.
///
/// >>> import numpy as np, metastable as ms
/// >>> cubic = ms.Interaction("s^p", p=3)
/// >>> float(cubic.value(0.5)), cubic.text
/// (0.125, 's^p; p=3')
/// >>> tanh = ms.Interaction(lambda s: 1 + np.tanh(2 * s))
/// >>> tanh.error < 1e-14, tanh.terms < 60
/// (True, True)
#[pyclass(frozen, module = "metastable", name = "Interaction")]
pub struct Interaction {
    phi: interaction::Interaction,
    text: String,
    error: f64,
}

impl Interaction {
    /// From its text and its error; the measured error of the series if none is known.
    fn of_text(text: String, error: Option<f64>) -> PyResult<Self> {
        let phi = interaction::Interaction::parse(&text, &[]).map_err(|e| to_py_err(&e))?;
        let error = error.unwrap_or_else(|| phi.error());
        Ok(Self { phi, text, error })
    }

    /// From a Python function.
    ///
    /// **Errors** an exception of the function, another shape, values that are not finite, a
    /// function that is not smooth.
    fn of_function(f: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut raised = None;
        let values = |s: &[f64]| {
            values(f, s).map_err(|e| {
                raised = Some(e);
                metastable::Error::Numerical { what: "the function raised an exception".into() }
            })
        };
        match interaction::Interaction::text_of_values(values) {
            Ok((text, error)) => Self::of_text(text, Some(error)),
            Err(e) => Err(raised.unwrap_or_else(|| to_py_err(&e))),
        }
    }

    /// The text of an argument: an `Interaction`, a text or a function; `None` for other objects.
    pub fn text_of(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        if let Ok(own) = value.cast::<Self>() {
            return Ok(Some(own.get().text.clone()));
        }
        if value.is_callable() {
            return Ok(Some(Self::of_function(value)?.text));
        }
        Ok(None)
    }

    fn mapped<'py>(
        &self,
        s: &Bound<'py, PyAny>,
        f: impl Fn(f64) -> metastable::Result<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let found = numeric_array("s", s)?;
        let reach = self.phi.reach();
        let at = |s: &f64| {
            if s.abs() <= reach {
                return f(*s).map_err(|e| to_py_err(&e));
            }
            Err(PyValueError::new_err(format!("s: found {s}, expected a number in [-1, 1]")))
        };
        let all = found.data.iter().map(at).collect::<PyResult<Vec<f64>>>()?;
        vector(s.py(), all).call_method1("reshape", (PyTuple::new(s.py(), found.shape)?,))
    }
}

/// The values of a function of an array.
fn values(f: &Bound<'_, PyAny>, s: &[f64]) -> PyResult<Vec<f64>> {
    let py = f.py();
    let answer = f.call1((vector(py, s.to_vec()),)).map_err(|e| {
        let message = format!(
            "interaction: the function raised {e}; expected a function of an array s that returns \
             an array of the same shape"
        );
        let wrapped = PyValueError::new_err(message);
        wrapped.set_cause(py, Some(e));
        wrapped
    })?;
    let wrong = |found: String| {
        let expected = format!("({},), that of s", s.len());
        Err(PyValueError::new_err(format!(
            "interaction: the function returned {found}, expected an array of shape {expected}"
        )))
    };
    if answer.is_none() {
        return wrong("None (is a `return` missing?)".into());
    }
    let found = numeric_array("interaction", &answer)?;
    if found.shape != [s.len()] {
        let shape = PyTuple::new(py, &found.shape)?;
        return wrong(format!("an array of shape {shape}"));
    }
    Ok(found.data)
}

#[pymethods]
impl Interaction {
    #[new]
    #[pyo3(signature = (phi, **parameters))]
    fn new(phi: &Bound<'_, PyAny>, parameters: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut given = Vec::new();
        for (key, value) in parameters.into_iter().flatten() {
            let key: String = key.extract()?;
            let value = number(&key, &value)?;
            given.push(format!("{key}={value}"));
        }
        if let Ok(text) = phi.cast::<PyString>() {
            let text = text.to_string();
            let named = ALL.iter().any(|e| e.name == text.trim());
            let mark = if named { ":" } else { "; " };
            let values =
                if given.is_empty() { String::new() } else { mark.to_owned() + &given.join(",") };
            return Self::of_text(text.trim().to_owned() + &values, None);
        }
        if !phi.is_callable() {
            let message = format!(
                "phi: found {}, expected a name, a formula such as \"s^p\" or a function of an \
                 array",
                phi.repr()?
            );
            return Err(PyTypeError::new_err(message));
        }
        if let Some(first) = given.first() {
            return Err(PyValueError::new_err(format!(
                "phi: found the parameter {first} together with a function, expected none"
            )));
        }
        Self::of_function(phi)
    }

    /// The text by which the program knows the interaction.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// The largest difference found between the function and its series.
    #[getter]
    fn error(&self) -> f64 {
        self.error
    }

    /// The number of terms of the series, the largest one of its pieces.
    #[getter]
    fn terms(&self) -> usize {
        self.phi.terms()
    }

    /// phi(s), of the shape of s.
    ///
    /// >>> import metastable as ms
    /// >>> ms.Interaction("relu", p=2).value([-1.0, 0.5])
    /// array([0.  , 0.25])
    fn value<'py>(&self, s: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.mapped(s, |s| self.phi.value(s))
    }

    /// phi'(s), of the shape of s.
    ///
    /// >>> import metastable as ms
    /// >>> float(ms.Interaction("s^3").derivative(0.5))
    /// 0.75
    fn derivative<'py>(&self, s: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.mapped(s, |s| self.phi.derivative(s))
    }

    /// W(s) with W' = phi, of the shape of s: the energy is the mean of W/2 over all pairs.
    ///
    /// >>> import metastable as ms
    /// >>> float(ms.Interaction("s^3").potential(1.0))
    /// 0.25
    fn potential<'py>(&self, s: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.mapped(s, |s| Ok(self.phi.potential(s)))
    }

    fn __repr__(&self) -> String {
        if self.text.len() <= 80 {
            return format!("metastable.Interaction('{}')", self.text);
        }
        let Self { phi, error, .. } = self;
        format!("<metastable.Interaction of {} terms, error {error:.1e}>", phi.terms())
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let rebuild = py.import("metastable._metastable")?.getattr("_rebuild_interaction")?;
        Ok((rebuild, (&self.text, self.error).into_pyobject(py)?))
    }
}

/// Rebuilds a pickled interaction.
#[pyfunction(name = "_rebuild_interaction")]
pub fn rebuild_interaction(text: String, error: f64) -> PyResult<Interaction> {
    Interaction::of_text(text, Some(error))
}
