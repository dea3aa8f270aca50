//! A model from Python's words and arrays.

use crate::arrays::given;
use crate::raised;
use metastable::attention::Matrix;
use metastable::attention::model::{Model, Positions, Units};
use metastable::attention::pattern::BiasTable;
use metastable::lab::model::{Described, KEYS, Words};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use std::path::Path;

/// Arguments of `Dynamics` that are no part of its model.
const OWN: [&str; 6] = ["beta", "causal", "time_scale", "kernel", "accuracy", "simd"];

/// The model that the keys of `parts` describe: words and names of files as on the command line, or arrays in their place.
///
/// **Errors** an unknown key, what the library refuses.
pub fn model(parts: &Bound<'_, PyDict>) -> PyResult<Model> {
    let mut words = Words::new();
    for (key, value) in parts {
        let key: String = key.extract()?;
        let Some(known) = KEYS.iter().map(|k| k.0).find(|k| *k == key) else {
            // Those of a dynamics come by the same door: `bta` is meant for `beta`.
            let names = KEYS.iter().map(|k| k.0).filter(|k| *k != "noise").chain(OWN);
            return Err(raised(&metastable::Error::unknown("argument of a model", &key, names)));
        };
        if known == "noise" {
            return Err(PyValueError::new_err(
                "noise: found it beside a model, expected noise(dynamics, tokens, t_end, kappa=K, step=H), which moves tokens with it",
            ));
        }
        if known == "rescaled" {
            if value.is_truthy()? {
                words.insert(known, vec!["true".into()]);
            }
            continue;
        }
        let said: Vec<String> = each(known, &value)?.iter().filter_map(|v| v.extract().ok()).collect();
        if !said.is_empty() {
            words.insert(known, said);
        }
    }
    // An activation belongs to the matrices beside it.
    let activation = words.get("activation").cloned().unwrap_or_default();
    let given_units = parts.get_item("mlp")?.filter(|v| !v.is_none() && !v.is_instance_of::<PyString>());
    if given_units.is_some() {
        words.remove("activation");
    }
    let described = Described::new(words, Path::new("")).map_err(|problems| {
        let said: Vec<String> = problems.iter().map(|(key, e)| format!("{key}: {}", crate::words(&e.to_string()))).collect();
        PyValueError::new_err(said.join("\n"))
    })?;
    let mut model = described.model;
    patterns(parts, &mut model)?;
    heads(parts, &mut model)?;
    if let Some(value) = given_units {
        model.units = Some(units(&value, activation.first().map(String::as_str))?);
    }
    model.scheme().map_err(|e| raised(&e))?;
    Ok(model)
}

/// A value, or those of a list or tuple of words and arrays; a list of numbers is an array.
fn each<'py>(key: &str, value: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if value.is_none() {
        return Ok(Vec::new());
    }
    let listed = value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>();
    if listed && key != "mlp" {
        let items: Vec<_> = value.try_iter()?.collect::<PyResult<_>>()?;
        let whole = |v: &Bound<'py, PyAny>| v.is_instance_of::<PyString>() || v.hasattr("ndim").unwrap_or(false);
        if items.iter().all(whole) {
            return Ok(items);
        }
    }
    Ok(vec![value.clone()])
}

fn arrays<'py>(parts: &Bound<'py, PyDict>, key: &'static str) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let Some(value) = parts.get_item(key)? else { return Ok(Vec::new()) };
    Ok(each(key, &value)?.into_iter().filter(|v| !v.is_instance_of::<PyString>()).collect())
}

/// Masks and biases that are arrays.
fn patterns(parts: &Bound<'_, PyDict>, model: &mut Model) -> PyResult<()> {
    for value in arrays(parts, "mask")? {
        let found = given("mask", &value)?;
        let [n, m] = found.shape[..] else {
            return Err(PyValueError::new_err(format!(
                "mask: found the shape {:?}, expected n x n, True where row i sees column j",
                found.shape
            )));
        };
        if let Some(v) = found.data.iter().find(|v| (**v * (**v - 1.0)).abs() > 0.0 || v.is_nan()) {
            return Err(PyValueError::new_err(format!("mask: found {v}, expected zeros and ones (1 where row i sees column j)")));
        }
        let seen: Vec<bool> = found.data.iter().map(|v| *v > 0.5).collect();
        model.patterns.push(Positions::Table(BiasTable::mask(n, m, &seen).map_err(|e| raised(&e))?));
    }
    for value in arrays(parts, "bias")? {
        let found = given("bias", &value)?;
        let table = match found.shape[..] {
            [n, m] => BiasTable::biases(n, m, found.data),
            [h, n, m] => BiasTable::biases_by_head(h, n, m, found.data),
            _ => return Err(PyValueError::new_err(format!("bias: found the shape {:?}, expected n x n or heads x n x n", found.shape))),
        };
        model.patterns.push(Positions::Table(table.map_err(|e| raised(&e))?));
    }
    Ok(())
}

/// Matrices of heads: one (r x d), several in an array (heads x r x d) or a list.
fn heads(parts: &Bound<'_, PyDict>, model: &mut Model) -> PyResult<()> {
    for (k, key) in ["q", "k", "v", "o"].into_iter().enumerate() {
        let mut matrices: Vec<Matrix> = Vec::new();
        for value in arrays(parts, key)? {
            let found = given(key, &value)?;
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
            let said = format!("{key}: found {} matrices, expected one per head ({})", matrices.len(), model.heads.len());
            return Err(PyValueError::new_err(said));
        }
        model.heads.iter_mut().zip(matrices).for_each(|(head, matrix)| head[k] = Some(matrix));
    }
    Ok(())
}

/// The feed-forward sublayer of `(w1, b1, w2, b2)`.
fn units(value: &Bound<'_, PyAny>, activation: Option<&str>) -> PyResult<Units> {
    let parts: Vec<Bound<'_, PyAny>> = value.try_iter()?.collect::<PyResult<_>>()?;
    let [w1, b1, w2, b2] = &parts[..] else {
        return Err(PyValueError::new_err(format!("mlp: found {} arrays, expected (w1, b1, w2, b2)", parts.len())));
    };
    let matrix = |name: &str, x: &Bound<'_, PyAny>| -> PyResult<Matrix> {
        let (d, found) = crate::arrays::rows(name, x)?;
        Ok((found.data.len() / d.max(1), found.data))
    };
    let activation = metastable::lab::model::activation(activation.unwrap_or("gelu")).map_err(|e| raised(&e))?;
    Ok(Units {
        first: matrix("w1", w1)?,
        shift: crate::arrays::list("b1", b1)?,
        second: matrix("w2", w2)?,
        last: crate::arrays::list("b2", b2)?,
        activation,
    })
}
