//! Fit of SA to the hidden states of a trained model: the inverse temperature whose velocity best
//! matches the drift of the model from layer to layer. Drifts are compared by inner products of
//! tokens, which do not depend on the rotations that a model is free to make.

use super::{Options, solve};
use crate::attention::{Spec, dynamics};
use crate::error::{Error, Result};
use crate::num::cloud::{COSINE_BINS, cosine_bin};
use crate::num::pairs;
use crate::num::sum::dot;
use crate::sphere::Tokens;
use argmin::core::{CostFunction, Executor};
use argmin::solver::brent::BrentOpt;

/// The fitted SA and its comparison with the model.
#[derive(Clone, Debug)]
pub struct SaFit {
    /// Fitted inverse temperature.
    pub beta: f64,
    /// Fitted time per layer (least squares).
    pub time_per_layer: f64,
    /// Cosine of the angle between the drifts of inner products of the model and of SA at `beta`,
    /// over all layers; 1 if the model moves as SA does.
    pub alignment: f64,
    /// Histogram of the inner products of the model's tokens: fractions of the pairs i < j per bin
    /// of [-1, 1], one row per layer.
    pub model: Vec<Vec<f64>>,
    /// The same histogram for SA started from layer 0.
    pub sa: Vec<Vec<f64>>,
    /// The model's tokens, one entry per layer.
    pub model_tokens: Vec<Tokens>,
    /// The tokens of SA, one entry per layer.
    pub sa_tokens: Vec<Tokens>,
}

struct DriftFit {
    layers: Vec<Tokens>,
    steps: Vec<Vec<f64>>,
}

impl DriftFit {
    /// `(<step, rate>, |rate|^2, |step|^2)` summed over layers, for the SA rates
    /// `G_ij' = <x_i', x_j> + <x_i, x_j'>` at `beta`.
    fn products(&self, beta: f64) -> Result<(f64, f64, f64)> {
        let n = self.layers[0].n();
        let sa = dynamics::build("sa", false, &Spec::new(beta, n))?;
        let mut sums = (0.0, 0.0, 0.0);
        for (x, step) in self.layers.iter().zip(&self.steps) {
            let v = sa.velocity(x);
            let row = |i: usize| &v[i * x.d()..(i + 1) * x.d()];
            let rate: Vec<f64> =
                pairs(n).map(|(i, j)| dot(row(i), x.row(j)) + dot(x.row(i), row(j))).collect();
            sums =
                (sums.0 + dot(step, &rate), sums.1 + dot(&rate, &rate), sums.2 + dot(step, step));
        }
        Ok(sums)
    }
}

/// Changes of all inner products from each layer to the next.
fn drifts(layers: &[Tokens]) -> Vec<Vec<f64>> {
    layers
        .windows(2)
        .map(|w| pairs(w[0].n()).map(|(i, j)| w[1].inner(i, j) - w[0].inner(i, j)).collect())
        .collect()
}

impl CostFunction for DriftFit {
    type Param = f64;
    type Output = f64;

    fn cost(&self, log_beta: &f64) -> std::result::Result<f64, argmin::core::Error> {
        let (cross, square, total) = self.products(log_beta.exp())?;
        // Squared residual at the best time per layer, relative to the total: 1 - cos^2 for aligned
        // drifts, above 1 for opposed ones.
        Ok(1.0 - cross.signum() * cross * cross / (square * total).max(f64::MIN_POSITIVE))
    }
}

/// Fits SA to hidden states (one [`Tokens`] per layer, at least two layers of the same shape).
///
/// The fit minimises `sum_l sum_{j<i} (G_ij^{l+1} - G_ij^l - tau G_ij'(x^l; beta))^2` over
/// `tau > 0` and `beta` in [0.01, 1000] (argmin, Brent in log beta from the best point of a coarse
/// grid); if `beta` is given, over tau alone. **Errors** fewer than two layers, different shapes,
/// no beta with a positive alignment.
pub fn fit_sa(layers: Vec<Tokens>, beta: Option<f64>) -> Result<SaFit> {
    if layers.len() < 2 || layers.iter().any(|x| (x.n(), x.d()) != (layers[0].n(), layers[0].d())) {
        return Err(Error::parameter(
            "layers",
            layers.len(),
            "at least two layers of the same shape",
        ));
    }
    let model = layers.iter().map(histogram).collect();
    let range = beta.map_or("every beta in [0.01, 1000]".to_owned(), |b| format!("beta = {b}"));
    let beta = beta.map_or_else(|| fit_beta(&layers), Ok)?;
    let drift = DriftFit { steps: drifts(&layers), layers };
    let (cross, square, total) = drift.products(beta)?;
    if cross.is_nan() || cross <= 0.0 {
        return Err(Error::Numerical {
            what: format!(
                "the layers move against the SA velocity at {range}; no positive time per layer fits"
            ),
        });
    }
    let time_per_layer = cross / square;
    let sa = dynamics::build("sa", false, &Spec::new(beta, drift.layers[0].n()))?;
    let options = Options { rtol: 1e-8, merge_radius: 0.0, ..Options::default() };
    let mut sa_tokens = vec![drift.layers[0].clone()];
    for l in 1..drift.layers.len() {
        sa_tokens.push(solve(&sa, &sa_tokens[l - 1], time_per_layer, &options, &mut [])?.clusters);
    }
    let rows = sa_tokens.iter().map(histogram).collect();
    let alignment = cross / (square * total).sqrt();
    Ok(SaFit {
        beta,
        time_per_layer,
        alignment,
        model,
        sa: rows,
        model_tokens: drift.layers,
        sa_tokens,
    })
}

/// The inverse temperature in [0.01, 1000] at which SA matches the drift of the layers best.
fn fit_beta(layers: &[Tokens]) -> Result<f64> {
    let drift = DriftFit { steps: drifts(layers), layers: layers.to_vec() };
    let grid: Vec<f64> =
        (0..=10).map(|k| (0.01f64).ln() + (1e5f64).ln() * f64::from(k) / 10.0).collect();
    let cost = |b: &f64| drift.cost(b).unwrap_or(f64::INFINITY);
    let best =
        (0..grid.len()).min_by(|&a, &b| cost(&grid[a]).total_cmp(&cost(&grid[b]))).unwrap_or(0);
    let (low, high) = (grid[best.saturating_sub(1)], grid[(best + 1).min(grid.len() - 1)]);
    let failed = |e: &dyn std::fmt::Display| Error::Numerical {
        what: format!("the fit of beta failed: {e}"),
    };
    let fit = Executor::new(drift, BrentOpt::new(low, high))
        .configure(|s| s.max_iters(40))
        .run()
        .map_err(|e| failed(&e))?;
    fit.state().best_param.map(f64::exp).ok_or_else(|| failed(&"no minimum"))
}

fn histogram(x: &Tokens) -> Vec<f64> {
    let mut bins = vec![0.0; COSINE_BINS];
    pairs(x.n()).for_each(|(i, j)| bins[cosine_bin(x.inner(i, j), COSINE_BINS)] += 1.0);
    let total: f64 = bins.iter().sum();
    bins.iter().map(|b| b / total.max(1.0)).collect()
}
