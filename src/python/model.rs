//! A model from Python strings and arrays.

use crate::arrays::numeric_array;
use crate::interaction::Interaction;
use crate::to_py_err;
use metastable::attention::Matrix;
use metastable::attention::interaction::check_coupling;
use metastable::attention::model::{FeedForwardWeights, Model, PatternSpec};
use metastable::attention::pattern::BiasTable;
use metastable::lab::model::{KEYS, ModelSpec, Words};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use std::path::Path;

/// Arguments of `Dynamics` that do not belong to its model.
const DYNAMICS_ARGUMENTS: [&str; 6] =
    ["beta", "causal", "time_scale", "kernel", "accuracy", "simd"];

/// The model described by the keys of `parts`, whose values are strings and file names as on the
/// command line, or arrays.
///
/// **Errors** an unknown key; values that the library rejects.
pub fn model(parts: &Bound<'_, PyDict>) -> PyResult<Model> {
    let mut words = Words::new();
    for (key, value) in parts {
        let key: String = key.extract()?;
        let Some(known) = KEYS.iter().map(|k| k.name).find(|k| *k == key) else {
            // Suggest arguments of `Dynamics` too: `bta` is probably `beta`.
            let names =
                KEYS.iter().map(|k| k.name).filter(|k| *k != "noise").chain(DYNAMICS_ARGUMENTS);
            return Err(to_py_err(&metastable::Error::unknown("argument of a model", &key, names)));
        };
        if known == "noise" {
            return Err(PyValueError::new_err(
                "noise: found an argument of a model, expected a call of noise(dynamics, tokens, t_end, kappa=K, step=H)",
            ));
        }
        if known == "rescaled" {
            if value.is_truthy()? {
                words.insert(known, vec!["true".into()]);
            }
            continue;
        }
        if matches!(known, "interaction" | "row_weights")
            && let Some(text) = Interaction::text_of(&value)?
        {
            words.insert(known, vec![text]);
            continue;
        }
        let values: Vec<String> =
            items(known, &value)?.iter().filter_map(|v| v.extract().ok()).collect();
        if !values.is_empty() {
            words.insert(known, values);
        }
    }
    // The activation of matrices given as arrays is applied below.
    let activation = words.get("activation").cloned().unwrap_or_default();
    let mlp_arrays =
        parts.get_item("mlp")?.filter(|v| !v.is_none() && !v.is_instance_of::<PyString>());
    if mlp_arrays.is_some() {
        words.remove("activation");
    }
    let model_spec = ModelSpec::new(words, Path::new("")).map_err(|problems| {
        let values: Vec<String> = problems.iter().map(|(key, e)| format!("{key}: {e}")).collect();
        PyValueError::new_err(values.join("\n"))
    })?;
    let mut model = model_spec.model;
    patterns(parts, &mut model)?;
    heads(parts, &mut model)?;
    if let Some(value) = arrays(parts, "coupling")?.first() {
        let (d, found) = crate::arrays::rows("coupling", value)?;
        let form = (found.data.len() / d.max(1), found.data);
        check_coupling(d, &form).map_err(|e| to_py_err(&e))?;
        model.coupling = Some(form);
    }
    if let Some(value) = mlp_arrays {
        model.feed_forward = Some(feed_forward(&value, activation.first().map(String::as_str))?);
    }
    model.scheme().map_err(|e| to_py_err(&e))?;
    Ok(model)
}

/// The items of a list or tuple of strings and arrays; any other value, a list of numbers included,
/// is a single item.
fn items<'py>(key: &str, value: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if value.is_none() {
        return Ok(Vec::new());
    }
    let listed = value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>();
    if listed && key != "mlp" {
        let items: Vec<_> = value.try_iter()?.collect::<PyResult<_>>()?;
        let whole = |v: &Bound<'py, PyAny>| {
            v.is_instance_of::<PyString>() || v.hasattr("ndim").unwrap_or(false)
        };
        if items.iter().all(whole) {
            return Ok(items);
        }
    }
    Ok(vec![value.clone()])
}

fn arrays<'py>(parts: &Bound<'py, PyDict>, key: &'static str) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let Some(value) = parts.get_item(key)? else { return Ok(Vec::new()) };
    Ok(items(key, &value)?.into_iter().filter(|v| !v.is_instance_of::<PyString>()).collect())
}

/// Masks and biases that are arrays.
fn patterns(parts: &Bound<'_, PyDict>, model: &mut Model) -> PyResult<()> {
    for value in arrays(parts, "mask")? {
        let found = numeric_array("mask", &value)?;
        let [n, m] = found.shape[..] else {
            return Err(PyValueError::new_err(format!(
                "mask: found the shape {:?}, expected n x n, True where row i sees column j",
                found.shape
            )));
        };
        if let Some(v) = found.data.iter().find(|v| (**v * (**v - 1.0)).abs() > 0.0 || v.is_nan()) {
            return Err(PyValueError::new_err(format!(
                "mask: found {v}, expected zeros and ones (1 where row i sees column j)"
            )));
        }
        let seen: Vec<bool> = found.data.iter().map(|v| *v > 0.5).collect();
        model
            .patterns
            .push(PatternSpec::Table(BiasTable::mask(n, m, &seen).map_err(|e| to_py_err(&e))?));
    }
    for value in arrays(parts, "bias")? {
        let found = numeric_array("bias", &value)?;
        let table = match found.shape[..] {
            [n, m] => BiasTable::biases(n, m, found.data),
            [h, n, m] => BiasTable::biases_by_head(h, n, m, found.data),
            _ => {
                return Err(PyValueError::new_err(format!(
                    "bias: found the shape {:?}, expected n x n or heads x n x n",
                    found.shape
                )));
            }
        };
        model.patterns.push(PatternSpec::Table(table.map_err(|e| to_py_err(&e))?));
    }
    Ok(())
}

/// Matrices of heads: one matrix (r x d), or several as an array (heads x r x d) or a list.
fn heads(parts: &Bound<'_, PyDict>, model: &mut Model) -> PyResult<()> {
    for (k, key) in ["q", "k", "v", "o"].into_iter().enumerate() {
        let mut matrices: Vec<Matrix> = Vec::new();
        for value in arrays(parts, key)? {
            let found = numeric_array(key, &value)?;
            match found.shape[..] {
                [r, _] => matrices.push((r, found.data)),
                [_, r, d] => matrices.extend(found.data.chunks(r * d).map(|m| (r, m.to_vec()))),
                _ => {
                    return Err(PyValueError::new_err(format!(
                        "{key}: found the shape {:?}, expected a matrix or heads x rows x columns",
                        found.shape
                    )));
                }
            }
        }
        if matrices.is_empty() {
            continue;
        }
        if model.heads.is_empty() {
            model.heads = vec![[None, None, None, None]; matrices.len()];
        }
        if model.heads.len() != matrices.len() {
            let message = format!(
                "{key}: found {} matrices, expected one per head ({})",
                matrices.len(),
                model.heads.len()
            );
            return Err(PyValueError::new_err(message));
        }
        model.heads.iter_mut().zip(matrices).for_each(|(head, matrix)| head[k] = Some(matrix));
    }
    Ok(())
}

/// The feed-forward sublayer with the arrays `(w1, b1, w2, b2)`.
fn feed_forward(
    value: &Bound<'_, PyAny>,
    activation: Option<&str>,
) -> PyResult<FeedForwardWeights> {
    let parts: Vec<Bound<'_, PyAny>> = value.try_iter()?.collect::<PyResult<_>>()?;
    let [w1, b1, w2, b2] = &parts[..] else {
        return Err(PyValueError::new_err(format!(
            "mlp: found {} arrays, expected (w1, b1, w2, b2)",
            parts.len()
        )));
    };
    let matrix = |name: &str, x: &Bound<'_, PyAny>| -> PyResult<Matrix> {
        let (d, found) = crate::arrays::rows(name, x)?;
        Ok((found.data.len() / d.max(1), found.data))
    };
    let activation = metastable::lab::model::activation(activation.unwrap_or("gelu"))
        .map_err(|e| to_py_err(&e))?;
    Ok(FeedForwardWeights {
        w1: matrix("w1", w1)?,
        b1: crate::arrays::list("b1", b1)?,
        w2: matrix("w2", w2)?,
        b2: crate::arrays::list("b2", b2)?,
        activation,
    })
}
