//! Commands of the program as functions with JSON results.

use crate::work::interruptible;
use metastable::cli::call::{Answer, Refusal, answer, descriptions};
use pyo3::exceptions::{PyArithmeticError, PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs a command and returns its JSON result, its notes and its exit code.
#[pyfunction(name = "_command")]
pub fn command(py: Python<'_>, words: Vec<String>) -> PyResult<(String, Vec<String>, i32)> {
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = stop.clone();
    let end = || stop.store(true, Ordering::Relaxed);
    match interruptible(py, &end, move || answer(&words, &stopped))? {
        Ok(Answer { result, notes, code }) => Ok((result, notes, code)),
        Err(Refusal { message, code }) => Err(match code {
            4 => PyArithmeticError::new_err(message),
            5 => PyOSError::new_err(message),
            130 => PyKeyboardInterrupt::new_err(message),
            _ => PyValueError::new_err(message),
        }),
    }
}

/// The descriptions of all operations as one JSON text.
#[pyfunction(name = "_operations")]
pub fn operations() -> String {
    descriptions()
}
