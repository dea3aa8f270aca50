//! A dynamics of one's own: a Python function.

use crate::arrays::matrix;
use metastable::attention::kernel::Workspace;
use metastable::attention::{At, Facts, Form, Sublayer};
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What went wrong in the function, and the flag that ends the run for it.
#[derive(Clone, Default)]
pub struct Trouble {
    pub stop: Arc<AtomicBool>,
    error: Arc<Mutex<Option<PyErr>>>,
}

impl Trouble {
    /// The exception of the function, if it raised one.
    pub fn take(&self) -> Option<PyErr> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn book(&self, error: PyErr) {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// `f(t, x)`, for x of shape n x d an array of the same shape.
pub struct PythonField {
    pub f: Py<PyAny>,
    pub length_scale: f64,
    pub trouble: Trouble,
}

impl PythonField {
    fn call(&self, py: Python<'_>, at: &At, out: &mut [f64]) -> PyResult<()> {
        let (n, d) = (at.tokens.n(), at.tokens.d());
        let x = matrix(py, at.tokens.coordinates().to_vec(), d)?;
        let answer = self.f.bind(py).call1((at.t, x))?;
        let wrong = |found: String| {
            PyValueError::new_err(format!("the dynamics f(t, x): found {found}, expected an array of shape ({n}, {d}), as x"))
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
            return Err(wrong(format!("{} for token {} at t = {:e}", numbers[k], k / d, at.t)));
        }
        out.swap_with_slice(&mut numbers);
        Ok(())
    }
}

impl Sublayer for PythonField {
    fn evaluate(&self, at: &At, form: Form, _: &mut Workspace, out: &mut [f64]) {
        let called = if self.trouble.stop.load(Ordering::Relaxed) { None } else { Some(Python::attach(|py| self.call(py, at, out))) };
        match called {
            Some(Ok(())) => form.of_sums(at.tokens, out),
            Some(Err(e)) => {
                self.trouble.book(e);
                out.fill(f64::NAN);
            }
            None => out.fill(f64::NAN),
        }
    }

    fn facts(&self) -> Facts {
        Facts::default()
    }

    fn length_scale(&self) -> f64 {
        self.length_scale
    }
}
