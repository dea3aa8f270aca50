//! `metastable._metastable`: what the Python package needs of the library. Tokens are NumPy arrays, long work releases the interpreter's lock and ends at
//! Ctrl-C, errors are `ValueError` with the library's sentence. Everything people see is in `metastable/__init__.py`.

mod arrays;
mod command;
mod dynamics;
mod energy;
mod field;
mod model;
mod run;
mod work;

use metastable::Error;
use metastable::lab::provenance::{built_from, head_commit};
use pyo3::exceptions::{PyArithmeticError, PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;

/// The library's sentence as the exception that Python expects: `OSError` for files, `ArithmeticError` for computations that fail, else `ValueError`.
fn raised(e: &Error) -> PyErr {
    let said = words(&e.to_string());
    match e {
        Error::Io { .. } => PyOSError::new_err(said),
        Error::Numerical { .. } | Error::Arithmetic { .. } => PyArithmeticError::new_err(said),
        Error::Interrupted { .. } => PyKeyboardInterrupt::new_err(said),
        _ => PyValueError::new_err(said),
    }
}

/// A sentence that speaks of arguments as Python writes them: `--merge-radius`, `merge-radius` and `t-end` become `merge_radius` and `t_end`.
fn words(sentence: &str) -> String {
    let mut said = String::with_capacity(sentence.len());
    for (k, part) in sentence.split("--").enumerate() {
        let flag = k > 0 && part.starts_with(|c: char| c.is_ascii_lowercase());
        let end = if flag { part.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(part.len()) } else { 0 };
        said.push_str(if k > 0 && !flag { "--" } else { "" });
        said.push_str(&part[..end].replace('-', "_"));
        said.push_str(&part[end..]);
    }
    let names = ["merge-radius", "t-end", "time-scale", "energy-scale", "max-steps"];
    let said = names.iter().fold(said, |said, name| said.replace(name, &name.replace('-', "_")));
    said.replace("the time normalisation u2", "time_scale='u2'")
}

static COMMIT: [u8; 40] = head_commit(include_bytes!(env!("METASTABLE_GIT_LOG")));

#[pymodule]
fn _metastable(m: &Bound<'_, PyModule>) -> PyResult<()> {
    built_from(&COMMIT, env!("METASTABLE_RUSTC"));
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add_class::<dynamics::Dynamics>()?;
    m.add_class::<energy::Energy>()?;
    m.add_function(wrap_pyfunction!(dynamics::rebuilt, m)?)?;
    m.add_function(wrap_pyfunction!(dynamics::field, m)?)?;
    m.add_function(wrap_pyfunction!(dynamics::draw, m)?)?;
    m.add_function(wrap_pyfunction!(run::solve, m)?)?;
    m.add_function(wrap_pyfunction!(run::layers, m)?)?;
    m.add_function(wrap_pyfunction!(run::walk, m)?)?;
    m.add_function(wrap_pyfunction!(command::command, m)?)?;
    m.add_function(wrap_pyfunction!(work::threads, m)?)?;
    m.add_function(wrap_pyfunction!(work::forked, m)?)
}
