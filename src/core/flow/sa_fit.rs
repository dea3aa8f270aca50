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
    same_shapes(&layers)?;
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

/// SA fitted to one step of a model, from one layer to the next.
#[derive(Clone, Copy, Debug)]
pub struct LayerFit {
    /// Fitted inverse temperature, in [0.01, 1000].
    pub beta: f64,
    /// Standard error of beta: a jackknife over ten groups of tokens (over the tokens, if they are
    /// fewer), to first order.
    pub error: f64,
    /// Fitted time of the step.
    pub time: f64,
    /// Cosine of the angle between the changes of all inner products in the model and under SA.
    pub alignment: f64,
}

/// Fits SA to each step of hidden states, as [`fit_sa`] to all of them.
///
/// The jackknife leaves out the pairs of a group of tokens, but not their attraction: in the model
/// they act, too. `None` where no beta inside [0.01, 1000] fits best, for example because the layer
/// moves against the velocity of SA at every beta, because all beta fit alike, or because the best
/// one hangs on one group. Cost: about 50 velocities per step. **Errors** as [`fit_sa`].
///
/// ```
/// use metastable::attention::{Spec, dynamics};
/// use metastable::flow::{Options, sa_fit::fit_layers, solve};
/// use metastable::num::stream::Stream;
/// use metastable::sphere::law::Law;
///
/// let x = Law::parse("uniform")?.sample(40, 5, &mut Stream::new(1, &["fit"]))?;
/// let sa = dynamics::build("sa", false, &Spec::new(4.0, 40))?;
/// let y = solve(&sa, &x, 0.01, &Options::default(), &mut [])?.clusters;
/// let fit = fit_layers(&[x, y])?[0].expect("a fit");
/// assert!((fit.beta - 4.0).abs() < 0.1 && fit.alignment > 0.999);
/// # Ok::<(), metastable::Error>(())
/// ```
pub fn fit_layers(layers: &[Tokens]) -> Result<Vec<Option<LayerFit>>> {
    same_shapes(layers)?;
    layers.windows(2).map(fit_step).collect()
}

/// Largest number of groups of the jackknife.
const GROUPS: usize = 10;

/// Sums of a quantity over the pairs of each two groups of tokens.
type GroupSums = [[f64; GROUPS]; GROUPS];

/// The sum over all pairs without a token of group g; over all pairs for `None`.
fn without(sums: &GroupSums, g: Option<usize>) -> f64 {
    let kept = || (0..GROUPS).filter(|k| Some(*k) != g);
    kept().map(|a| kept().map(|b| sums[a][b]).sum::<f64>()).sum()
}

/// `(<step, rate>, |rate|^2, |step|^2)` by groups of tokens.
fn grouped_products(x: &Tokens, step: &[f64], beta: f64) -> Result<[GroupSums; 3]> {
    let v = dynamics::build("sa", false, &Spec::new(beta, x.n()))?.velocity(x);
    let row = |i: usize| &v[i * x.d()..(i + 1) * x.d()];
    let mut sums = [[[0.0; GROUPS]; GROUPS]; 3];
    for ((i, j), s) in pairs(x.n()).zip(step) {
        let rate = dot(row(i), x.row(j)) + dot(x.row(i), row(j));
        for (sum, value) in sums.iter_mut().zip([s * rate, rate * rate, s * s]) {
            sum[i % GROUPS][j % GROUPS] += value;
        }
    }
    Ok(sums)
}

fn fit_step(layers: &[Tokens]) -> Result<Option<LayerFit>> {
    let steps = drifts(layers);
    let beta = fit_beta(layers)?;
    // Three costs around the minimum, with each group left out: the parabola through them has the
    // minimum of that cost to first order.
    let h = 0.05;
    let at: Vec<[GroupSums; 3]> = [-h, 0.0, h]
        .into_iter()
        .map(|shift| grouped_products(&layers[0], &steps[0], beta * f64::exp(shift)))
        .collect::<Result<_>>()?;
    let cost = |sums: &[GroupSums; 3], g: Option<usize>| {
        let [cross, square, total] = [0, 1, 2].map(|k| without(&sums[k], g));
        1.0 - cross.signum() * cross * cross / (square * total)
    };
    let minimum = |g: Option<usize>| {
        let [low, mid, high] = [0, 1, 2].map(|k| cost(&at[k], g));
        let bend = low - 2.0 * mid + high;
        (bend > 0.0).then(|| 0.5 * h * (low - high) / bend)
    };
    let whole = [0, 1, 2].map(|k| without(&at[1][k], None));
    let inside = beta > 0.0101 && beta < 990.0;
    let groups = GROUPS.min(layers[0].n());
    // A beta that hangs on one group is not determined.
    let left: Option<Vec<f64>> = (0..groups).map(|g| minimum(Some(g))).collect();
    let (Some(left), true) = (left, inside && whole[0] > 0.0) else {
        return Ok(None);
    };
    let mean = left.iter().sum::<f64>() / groups as f64;
    let spread: f64 = left.iter().map(|m| (m - mean) * (m - mean)).sum();
    Ok(Some(LayerFit {
        beta,
        error: beta * (spread * (groups as f64 - 1.0) / groups as f64).sqrt(),
        time: whole[0] / whole[1],
        alignment: whole[0] / (whole[1] * whole[2]).sqrt(),
    }))
}

fn same_shapes(layers: &[Tokens]) -> Result<()> {
    if layers.len() < 2 || layers.iter().any(|x| (x.n(), x.d()) != (layers[0].n(), layers[0].d())) {
        return Err(Error::parameter(
            "layers",
            layers.len(),
            "at least two layers of the same shape",
        ));
    }
    Ok(())
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
