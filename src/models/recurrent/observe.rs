//! Measurements of every map: cosines, ranks, changes by layer, and the dependence of rows on each
//! other.

use super::cell::CellInTime;
use super::lyapunov::{exponents, mixing};
use super::{MapSpec, NamedMap, linearise_layer};
use crate::error::{Error, Result};
use crate::num::cloud::{directions, effective_rank, equal_rows_residual, mean_cosine};
use crate::num::{linearised::Linearised, stream::Stream, sum::dot};

/// Measurements of the rows at one layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerSummary {
    /// [`mean_cosine`].
    pub mean_cosine: f64,
    /// [`effective_rank`].
    pub effective_rank: f64,
    /// [`equal_rows_residual`].
    pub residual: f64,
    /// `|X+ - X| / |X|` for the next layer, which tells how far layers are from a differential
    /// equation; NaN after the last layer.
    pub change: f64,
}

/// Measurements of a map.
#[derive(Clone, Debug)]
pub struct MapSummary {
    /// The rows before every layer and after the last.
    pub layers: Vec<LayerSummary>,
    /// The mixing matrix of all layers, with rows that sum to 1.
    pub mixing: Vec<f64>,
    /// Lyapunov exponents per unit of time: for a cell those of its state, from row to row;
    /// otherwise those of all rows, from layer to layer.
    pub exponents: Vec<f64>,
    /// True if the exponents are from row to row.
    pub in_time: bool,
    /// Number of multiplications of a layer.
    pub multiplications: usize,
}

/// Number of measured steps of a cell, after a tenth as many steps that are not measured.
const STEPS: usize = 400;

/// Measures a map on uniformly distributed unit rows, with `count` exponents.
///
/// **Errors** sizes outside the ranges of the maps, numbers that are not finite.
pub fn summarise(named: &NamedMap, spec: &MapSpec, count: usize) -> Result<MapSummary> {
    let spec = spec.checked()?;
    let map = (named.build)(&spec);
    let start = unit_rows(&spec);
    let mut x = start.clone();
    let (mut layers, mut multiplications) = (Vec::new(), 0);
    for layer in 0..=spec.layers {
        let summary = |change| LayerSummary {
            mean_cosine: mean_cosine(&x, spec.d),
            effective_rank: effective_rank(&x, spec.d),
            residual: equal_rows_residual(&x, spec.d),
            change,
        };
        if layer == spec.layers {
            layers.push(summary(f64::NAN));
            break;
        }
        let here = linearise_layer(map.as_ref(), layer, spec.d, &x);
        multiplications = here.multiplications();
        let next = here.value().to_vec();
        let moved: f64 = next.iter().zip(&x).map(|(a, b)| (a - b).powi(2)).sum();
        layers.push(summary((moved / dot(&x, &x)).sqrt()));
        x = next;
    }
    if let Some(k) = x.iter().position(|v| !v.is_finite()) {
        return Err(Error::Numerical {
            what: format!(
                "{}: number {k} after {} layers is {}; take a smaller gain",
                named.name, spec.layers, x[k]
            ),
        });
    }
    let mut mixing = mixing(map.as_ref(), &start, spec.d, spec.layers);
    for row in mixing.chunks_exact_mut(spec.n) {
        let sum: f64 = row.iter().sum();
        row.iter_mut().for_each(|v| *v /= sum);
    }
    let (exponents, in_time) = match map.cell() {
        Some(cell) => {
            let time = CellInTime { cell, size: 0.0, seed: spec.seed };
            let state = first_state(cell.width(), spec.seed);
            (exponents(&time, &state, cell.width(), (STEPS / 10, STEPS), count), true)
        }
        None => {
            let unit = (named.unit)(spec.layers);
            let all = exponents(map.as_ref(), &start, spec.d, (0, spec.layers), count);
            (all.iter().map(|e| e * unit).collect(), false)
        }
    };
    Ok(MapSummary { layers, mixing, exponents, in_time, multiplications })
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
