//! What can be measured of every map: cosines, ranks, changes, and which row hears which.

use super::cell::InTime;
use super::lyapunov::{exponents, mixing};
use super::{MapSpec, NamedMap, at};
use crate::error::{Error, Result};
use crate::num::{dense::symmetric_eigenvalues, linearised::Linearised, stream::Stream, sum::dot};

/// Mean cosine of two different rows; 1 for a single row.
pub fn mean_cosine(x: &[f64], d: usize) -> f64 {
    let n = x.len() / d;
    let mut total = vec![0.0; d];
    for row in x.chunks_exact(d) {
        let size = dot(row, row).sqrt();
        total.iter_mut().zip(row).for_each(|(t, v)| *t += v / size);
    }
    let n = n as f64;
    if n > 1.0 { (dot(&total, &total) - n) / (n * (n - 1.0)) } else { 1.0 }
}

/// `e^H` of the shares of the squared singular values of the matrix of rows.
pub fn effective_rank(x: &[f64], d: usize) -> f64 {
    let n = x.len() / d;
    let gram: Vec<f64> = (0..n * n).map(|k| dot(&x[k / n * d..][..d], &x[k % n * d..][..d])).collect();
    let Some(values) = symmetric_eigenvalues(&gram, n) else { return f64::NAN };
    let total: f64 = values.iter().map(|v| v.max(0.0)).sum();
    let shares = values.iter().map(|v| v.max(0.0) / total).filter(|p| *p > 0.0);
    shares.map(|p| -p * p.ln()).sum::<f64>().exp()
}

/// `|X - 1 mean| / |X|`: 0 when all rows are equal.
pub fn rank_one_residual(x: &[f64], d: usize) -> f64 {
    let n = (x.len() / d) as f64;
    let mean: Vec<f64> = (0..d).map(|c| x.iter().skip(c).step_by(d).sum::<f64>() / n).collect();
    let apart: f64 = x.iter().enumerate().map(|(k, v)| (v - mean[k % d]).powi(2)).sum();
    (apart / dot(x, x)).sqrt()
}

/// What one layer sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerView {
    /// [`mean_cosine`].
    pub mean_cosine: f64,
    /// [`effective_rank`].
    pub effective_rank: f64,
    /// [`rank_one_residual`].
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
            residual: rank_one_residual(&x, spec.d),
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
    for row in x.chunks_exact_mut(spec.d) {
        let size = dot(row, row).sqrt();
        row.iter_mut().for_each(|v| *v /= size);
    }
    x
}

fn first_state(width: usize, seed: u64) -> Vec<f64> {
    let mut state = vec![0.0; width];
    Stream::new(seed, &["compare", "state"]).normals(&mut state);
    state.iter_mut().for_each(|v| *v *= 0.1);
    state
}
