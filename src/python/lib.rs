//! `metastable._metastable`: the compiled part of the Python package. Tokens are NumPy arrays; long
//! work releases the interpreter's lock and ends at Ctrl-C; errors of the library become Python
//! exceptions with the same message. The public names are in `metastable/__init__.py`.

mod arrays;
mod command;
mod dynamics;
mod energy;
mod field;
mod interaction;
mod model;
mod run;
mod work;

use metastable::Error;
use metastable::lab::provenance::{built_from, head_commit};
use pyo3::exceptions::{PyArithmeticError, PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;

/// Converts an error to the Python exception: `OSError` for files, `ArithmeticError` for failed
/// computations, `KeyboardInterrupt`, else `ValueError`.
fn to_py_err(e: &Error) -> PyErr {
    let message = e.to_string();
    match e {
        Error::Io { .. } => PyOSError::new_err(message),
        Error::Numerical { .. } | Error::Arithmetic { .. } => PyArithmeticError::new_err(message),
        Error::Interrupted { .. } => PyKeyboardInterrupt::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

/// The commit from which the module is built.
static COMMIT: [u8; 40] = head_commit(include_bytes!(env!("METASTABLE_GIT_LOG")));

#[pymodule]
fn _metastable(m: &Bound<'_, PyModule>) -> PyResult<()> {
    built_from(&COMMIT, env!("METASTABLE_RUSTC"));
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add_class::<dynamics::Dynamics>()?;
    m.add_class::<energy::Energy>()?;
    m.add_class::<interaction::Interaction>()?;
    m.add_class::<energy::InteractionEnergy>()?;
    m.add_function(wrap_pyfunction!(interaction::rebuild_interaction, m)?)?;
    m.add_function(wrap_pyfunction!(dynamics::rebuild, m)?)?;
    m.add_function(wrap_pyfunction!(dynamics::field, m)?)?;
    m.add_function(wrap_pyfunction!(dynamics::draw, m)?)?;
    m.add_function(wrap_pyfunction!(run::solve, m)?)?;
    m.add_function(wrap_pyfunction!(run::layers, m)?)?;
    m.add_function(wrap_pyfunction!(run::noise, m)?)?;
    m.add_function(wrap_pyfunction!(command::command, m)?)?;
    m.add_function(wrap_pyfunction!(command::operations, m)?)?;
    m.add_function(wrap_pyfunction!(work::threads, m)?)?;
    m.add_function(wrap_pyfunction!(work::after_fork, m)?)
}
