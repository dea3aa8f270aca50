//! Conversion of NumPy arrays.

use crate::to_py_err;
use metastable::sphere::Tokens;
use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn,
    PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// A Python object that is an argument.
pub type Object<'a, 'py> = &'a Bound<'py, PyAny>;

/// The masses of tokens; `None`: all are equal.
pub type Masses<'a, 'py> = Option<Object<'a, 'py>>;

/// A two-dimensional array, or an exception.
pub type PyMatrix<'py> = PyResult<Bound<'py, PyArray2<f64>>>;

/// A one-dimensional array, or an exception.
pub type PyVector<'py> = PyResult<Bound<'py, PyArray1<f64>>>;

/// The numbers of a Python argument.
pub struct NumericArray {
    /// Shape.
    pub shape: Vec<usize>,
    /// Numbers, row by row.
    pub data: Vec<f64>,
    /// Relative rounding error of the original type, 6e-8 for float32.
    pub rounding: f64,
}

/// Reads an array, a list of lists or anything else that NumPy converts to an array; `what` names
/// it in errors.
///
/// **Errors** `TypeError` for objects, strings and complex numbers; `ValueError` for masked entries
/// and ragged rows.
pub fn numeric_array(what: &str, x: &Bound<'_, PyAny>) -> PyResult<NumericArray> {
    if let Ok(array) = x.cast_exact::<PyArrayDyn<f64>>() {
        return Ok(read(&array.readonly(), f64::EPSILON / 2.0));
    }
    let py = x.py();
    let numpy = py.import("numpy")?;
    let masked = numpy.getattr("ma")?;
    if x.is_instance(&masked.getattr("MaskedArray")?)?
        && masked.call_method1("is_masked", (x,))?.is_truthy()?
    {
        let expected = "numbers everywhere: drop or fill the masked rows first";
        return Err(PyValueError::new_err(format!(
            "{what}: found a masked array with masked entries, expected {expected}"
        )));
    }
    let array = numpy
        .call_method1("asarray", (x,))
        .map_err(|e| PyValueError::new_err(format!("{what}: {}", e.value(py))))?;
    let dtype = array.getattr("dtype")?;
    let kind: String = dtype.getattr("kind")?.extract()?;
    if !["b", "i", "u", "f"].contains(&kind.as_str()) {
        return Err(PyTypeError::new_err(format!(
            "{what}: found an array of dtype {dtype}, expected real numbers"
        )));
    }
    let size: usize = dtype.getattr("itemsize")?.extract()?;
    let rounding = match (kind.as_str(), size) {
        ("f", 2) => 2f64.powi(-11),
        ("f", 4) => 2f64.powi(-24),
        _ => f64::EPSILON / 2.0,
    };
    let array = array.call_method1("astype", ("float64",))?;
    Ok(read(&array.cast::<PyArrayDyn<f64>>()?.readonly(), rounding))
}

/// Copies an array with any strides.
fn read(array: &PyReadonlyArrayDyn<'_, f64>, rounding: f64) -> NumericArray {
    let data = match array.as_slice() {
        Ok(slice) if array.is_c_contiguous() => slice.to_vec(),
        // Not contiguous, or column-major: copy row by row.
        _ => array.as_array().iter().copied().collect(),
    };
    NumericArray { shape: array.shape().to_vec(), data, rounding }
}

/// One number; `what` names it in errors.
///
/// **Errors** an array or list of several numbers; a value that is not a number.
pub fn number(what: &str, x: &Bound<'_, PyAny>) -> PyResult<f64> {
    let rank = x.getattr("ndim").ok().and_then(|n| n.extract::<usize>().ok()).unwrap_or(0);
    if rank > 0 {
        let shape = x.getattr("shape")?;
        return Err(PyValueError::new_err(format!(
            "{what}: found an array of shape {shape}, expected one number"
        )));
    }
    let shown = x.repr().map_or_else(|_| "another object".to_owned(), |r| r.to_string());
    x.extract()
        .map_err(|_| PyValueError::new_err(format!("{what}: found {shown}, expected one number")))
}

/// Reads rows of d numbers and returns d. **Errors** an array that is not two-dimensional.
pub fn rows(what: &str, x: &Bound<'_, PyAny>) -> PyResult<(usize, NumericArray)> {
    let found = numeric_array(what, x)?;
    match found.shape[..] {
        [_, d] => Ok((d, found)),
        _ => {
            let message = format!(
                "{what}: found an array of shape {:?}, expected n x d, one token a row",
                found.shape
            );
            Err(PyValueError::new_err(message))
        }
    }
}

/// Reads a list of numbers. **Errors** an array that is not one-dimensional.
pub fn list(what: &str, x: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let found = numeric_array(what, x)?;
    if found.shape.len() == 1 {
        return Ok(found.data);
    }
    Err(PyValueError::new_err(format!(
        "{what}: found an array of shape {:?}, expected one number per token",
        found.shape
    )))
}

/// Unit vectors with masses. Rows in float32 or float16 need length 1 only up to the rounding of
/// their type; they are normalised to float64 accuracy.
pub fn unit_tokens(
    x: &Bound<'_, PyAny>,
    masses: Option<&Bound<'_, PyAny>>,
    normalise: bool,
) -> PyResult<Tokens> {
    unit_tokens_in(None, x, masses, normalise)
}

/// [`unit_tokens`] that reuses the memory of `reuse` if the shape fits and there are no masses.
pub fn unit_tokens_in(
    reuse: Option<Tokens>,
    x: &Bound<'_, PyAny>,
    masses: Option<&Bound<'_, PyAny>>,
    normalise: bool,
) -> PyResult<Tokens> {
    if let Ok(array) = x.cast_exact::<PyArray2<f64>>() {
        let array = array.readonly();
        // The common case: a single copy, into the tokens.
        if let (Ok(rows), true, false) = (array.as_slice(), array.is_c_contiguous(), normalise) {
            let d = array.shape()[1];
            let fits = |k: &Tokens| masses.is_none() && (k.n(), k.d()) == (array.shape()[0], d);
            let tokens = reuse
                .filter(fits)
                .map_or_else(|| Tokens::from_rows(d, rows), |k| k.with_rows(rows));
            return weighted(tokens.map_err(|e| to_py_err(&e))?, masses);
        }
    }
    let (d, given) = rows("tokens", x)?;
    let tokens = if normalise || is_unit(d, &given) {
        Tokens::normalised(d, given.data)
    } else {
        Tokens::new(d, given.data)
    };
    weighted(tokens.map_err(|e| to_py_err(&e))?, masses)
}

/// True for rows of a type coarser than float64 whose lengths are 1 up to its rounding. The bound
/// is the error of a sum of d rounded squares.
pub fn is_unit(d: usize, given: &NumericArray) -> bool {
    let bound = (d as f64 + 2.0) * given.rounding;
    let near = |row: &[f64]| (row.iter().map(|v| v * v).sum::<f64>().sqrt() - 1.0).abs() <= bound;
    given.rounding > f64::EPSILON && d > 1 && given.data.chunks_exact(d).all(near)
}

/// Sets the masses, if given.
pub fn weighted(x: Tokens, masses: Option<&Bound<'_, PyAny>>) -> PyResult<Tokens> {
    match masses {
        Some(masses) => x.with_masses(&list("masses", masses)?).map_err(|e| to_py_err(&e)),
        None => Ok(x),
    }
}

/// An n x width array that takes ownership of the numbers.
pub fn matrix<'py, T: Element>(
    py: Python<'py>,
    numbers: Vec<T>,
    width: usize,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let n = numbers.len() / width.max(1);
    numbers.into_pyarray(py).reshape([n, width])
}

/// A one-dimensional array that takes ownership of the numbers.
pub fn vector<T: Element>(py: Python<'_>, numbers: Vec<T>) -> Bound<'_, PyArray1<T>> {
    numbers.into_pyarray(py)
}

/// Writes into an array of the caller. **Errors** another type or shape, an array that is not
/// writeable.
pub fn write(out: &Bound<'_, PyAny>, numbers: &[f64], shape: [usize; 2]) -> PyResult<()> {
    let wrong = || {
        let found = out.cast::<PyUntypedArray>().map_or_else(
            |_| "no array".into(),
            |a| format!("an array of dtype {} and shape {:?}", a.dtype(), a.shape()),
        );
        PyValueError::new_err(format!(
            "out: found {found}, expected a writeable float64 array of shape {shape:?}, C order"
        ))
    };
    let array = out.cast::<PyArray2<f64>>().map_err(|_| wrong())?;
    let mut array = array.try_readwrite().map_err(|_| wrong())?;
    let fits = array.shape() == shape && array.is_c_contiguous();
    match array.as_slice_mut() {
        Ok(slice) if fits => slice.copy_from_slice(numbers),
        _ => return Err(wrong()),
    }
    Ok(())
}
