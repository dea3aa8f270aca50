//! What can be measured of every map: cosines, ranks, changes, and which row hears which.

use super::cell::InTime;
use super::lyapunov::{exponents, mixing};
use super::{MapSpec, NamedMap, at};
use crate::error::{Error, Result};
use crate::num::cloud::{directions, effective_rank, equal_rows_residual, mean_cosine};
use crate::num::{linearised::Linearised, stream::Stream, sum::dot};

/// What one layer sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerView {
    /// [`mean_cosine`].
    pub mean_cosine: f64,
    /// [`effective_rank`].
    pub effective_rank: f64,
    /// [`equal_rows_residual`].
    pub residual: f64,
    /// `|X+ - X| / |X|` of the layer that follows: how far layers are from an equation; NaN after the last.
    pub change: f64,
}

/// What is measured of a map.
#[derive(Clone, Debug)]
pub struct Portrait {
    /// Before every layer and after the last.
    pub layers: Vec<LayerView>,
    /// The mixing matrix of all layers, every row over its sum.
    pub mixing: Vec<f64>,
    /// The exponents in a unit of time: of the state, from row to row, for a cell; else of all rows, from layer to layer.
    pub exponents: Vec<f64>,
    /// True where they are from row to row.
    pub in_time: bool,
    /// Multiplications of a layer.
    pub multiplications: usize,
}

/// Steps of a cell whose exponents are measured, after a tenth as many that are not.
const STEPS: usize = 400;

/// Measures a map on uniform unit rows, with so many exponents.
///
/// **Errors** a specification that no map is made for, numbers that are not finite.
pub fn portrait(named: &NamedMap, spec: &MapSpec, count: usize) -> Result<Portrait> {
    let spec = spec.checked()?;
    let map = (named.build)(&spec);
    let start = unit_rows(&spec);
    let mut x = start.clone();
    let (mut layers, mut multiplications) = (Vec::new(), 0);
    for layer in 0..=spec.layers {
        let view = |change| LayerView {
            mean_cosine: mean_cosine(&x, spec.d),
            effective_rank: effective_rank(&x, spec.d),
            residual: equal_rows_residual(&x, spec.d),
            change,
        };
        if layer == spec.layers {
            layers.push(view(f64::NAN));
            break;
        }
        let here = at(map.as_ref(), layer, spec.d, &x);
        multiplications = here.multiplications();
        let next = here.value().to_vec();
        let moved: f64 = next.iter().zip(&x).map(|(a, b)| (a - b).powi(2)).sum();
        layers.push(view((moved / dot(&x, &x)).sqrt()));
        x = next;
    }
    if let Some(k) = x.iter().position(|v| !v.is_finite()) {
        return Err(Error::Numerical {
            what: format!("{}: number {k} after {} layers is {}; take a smaller gain", named.name, spec.layers, x[k]),
        });
    }
    let mut mixing = mixing(map.as_ref(), &start, spec.d, spec.layers);
    for row in mixing.chunks_exact_mut(spec.n) {
        let sum: f64 = row.iter().sum();
        row.iter_mut().for_each(|v| *v /= sum);
    }
    let (exponents, in_time) = match map.cell() {
        Some(cell) => {
            let time = InTime { cell, size: 0.0, seed: spec.seed };
            let state = first_state(cell.width(), spec.seed);
            (exponents(&time, &state, cell.width(), (STEPS / 10, STEPS), count), true)
        }
        None => {
            let unit = (named.unit)(spec.layers);
            let all = exponents(map.as_ref(), &start, spec.d, (0, spec.layers), count);
            (all.iter().map(|e| e * unit).collect(), false)
        }
    };
    Ok(Portrait { layers, mixing, exponents, in_time, multiplications })
}

fn unit_rows(spec: &MapSpec) -> Vec<f64> {
    let mut x = vec![0.0; spec.n * spec.d];
    Stream::new(spec.seed, &["compare", "rows"]).normals(&mut x);
    directions(&x, spec.d)
}

fn first_state(width: usize, seed: u64) -> Vec<f64> {
    let mut state = vec![0.0; width];
    Stream::new(seed, &["compare", "state"]).normals(&mut state);
    state.iter_mut().for_each(|v| *v *= 0.1);
    state
}
