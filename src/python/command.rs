//! Commands of the program as functions: their JSON answers.

use crate::work::interruptible;
use metastable::cli::answer::{Answer, Refusal, answer, give_up};
use pyo3::exceptions::{PyArithmeticError, PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The answer of a command as JSON, what it said beside it, and its exit code.
#[pyfunction(name = "_command")]
pub fn command(py: Python<'_>, words: Vec<String>) -> PyResult<(String, Vec<String>, i32)> {
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = stop.clone();
    let end = || {
        stop.store(true, Ordering::Relaxed);
        give_up();
    };
    match interruptible(py, &end, move || answer(&words, &stopped))? {
        Ok(Answer { result, notes, code }) => Ok((result, notes, code)),
        Err(Refusal { message, code }) => {
            let said = crate::words(&message);
            Err(match code {
                4 => PyArithmeticError::new_err(said),
                5 => PyOSError::new_err(said),
                130 => PyKeyboardInterrupt::new_err(said),
                _ => PyValueError::new_err(said),
            })
        }
    }
}
