//! A dynamics that is defined by a Python function.

use crate::arrays::matrix;
use metastable::attention::kernel::Workspace;
use metastable::attention::{Input, OutputForm, Properties, Sublayer};
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The exception raised by the function, and the flag that then ends the run.
#[derive(Clone, Default)]
pub struct FieldError {
    pub stop: Arc<AtomicBool>,
    error: Arc<Mutex<Option<PyErr>>>,
}

impl FieldError {
    /// The exception of the function, if it raised one.
    pub fn take(&self) -> Option<PyErr> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn record(&self, error: PyErr) {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The function `f(t, x)`, which returns an array of the shape of x, (n, d).
pub struct PythonField {
    pub f: Py<PyAny>,
    pub length_scale: f64,
    pub field_error: FieldError,
}

impl PythonField {
    fn call(&self, py: Python<'_>, input: &Input, out: &mut [f64]) -> PyResult<()> {
        let (n, d) = (input.tokens.n(), input.tokens.d());
        let x = matrix(py, input.tokens.coordinates().to_vec(), d)?;
        let answer = self.f.bind(py).call1((input.t, x))?;
        let wrong = |found: String| {
            PyValueError::new_err(format!(
                "the dynamics f(t, x): found {found}, expected an array of shape ({n}, {d}), as x"
            ))
        };
        if answer.is_none() {
            return Err(wrong("None (is a `return` missing?)".into()));
        }
        let answer = py.import("numpy")?.call_method1("asarray", (&answer, "float64"))?;
        let answer = answer.cast::<PyArrayDyn<f64>>()?.readonly();
        if answer.shape() != [n, d] {
            return Err(wrong(format!("an array of shape {:?}", answer.shape())));
        }
        let mut numbers = answer.as_array().iter().copied().collect::<Vec<f64>>();
        if let Some(k) = numbers.iter().position(|v| !v.is_finite()) {
            return Err(wrong(format!("{} for token {} at t = {:e}", numbers[k], k / d, input.t)));
        }
        out.swap_with_slice(&mut numbers);
        Ok(())
    }
}

impl Sublayer for PythonField {
    fn evaluate(&self, input: &Input, form: OutputForm, _: &mut Workspace, out: &mut [f64]) {
        let called = if self.field_error.stop.load(Ordering::Relaxed) {
            None
        } else {
            Some(Python::attach(|py| self.call(py, input, out)))
        };
        match called {
            Some(Ok(())) => form.of_sums(input.tokens, out),
            Some(Err(e)) => {
                self.field_error.record(e);
                out.fill(f64::NAN);
            }
            None => out.fill(f64::NAN),
        }
    }

    fn properties(&self) -> Properties {
        Properties::default()
    }

    fn length_scale(&self) -> f64 {
        self.length_scale
    }
}
