//! Softmax between its two limits.

use crate::num::softmax::{log_sum_exp, softmax};
use crate::theorem::prelude::*;

/// Small beta gives all tokens the same weight, large beta selects the maximum. The logarithm of
/// the sum is a smooth maximum.
///
/// # Derivation
///
/// Scores lie in [-beta, beta], so e^{-2 beta}/n <= A_ij <= e^{2 beta}/n, and 1 - e^{-2 beta} <=
/// e^{2 beta} - 1. The sum of n exponentials lies between its largest term and n times that. If
/// there are two maximisers and all other scores are lower by at least `gap`, the others together
/// have at most (n-1) e^{-beta gap} times the weight of one maximiser.
pub static ENTRY: Claim = Claim {
    name: "temperature-limits",
    title: "Softmax: |A_ij - 1/n| <= (e^{2 beta} - 1)/n; log-sum-exp is within log(n)/beta of the \
            maximum; tied maxima share the weight",
    lets: "A_ij = softmax_j(beta s_j), s_j = <x_i, x_j>, for tokens on the sphere",
    then: "Then |A_ij - 1/n| <= (e^{2 beta} - 1)/n and max_j s_j <= (1/beta) log sum_j e^{beta \
           s_j} <= max_j s_j + log(n)/beta. If x_1 occurs twice, both copies have weights within \
           n e^{-beta gap} of 1/2, where 1 - gap is the next inner product.",
    tested: "to 1e-13",
    domain: Domain::SCORED,
    source: "derived",
    trials: (20, 200),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        limits(&x, case.beta, 2.0)
    },
    control: Control {
        what: "the exponent beta instead of 2 beta, for antipodal tokens",
        trial: |_| {
            let mut angles = vec![std::f64::consts::PI; 7];
            angles.push(0.0);
            limits(&Tokens::from_angles(&angles)?, 0.1, 1.0)
        },
    },
    ..Claim::IDENTITY
};

/// The weights of token i.
pub(crate) fn row(x: &Tokens, i: usize, beta: f64) -> Vec<f64> {
    let mut weights: Vec<f64> = (0..x.n()).map(|j| beta * x.inner(i, j)).collect();
    softmax(&mut weights, &vec![1.0; x.n()]);
    weights
}

fn limits(x: &Tokens, beta: f64, exponent: f64) -> Result<Finding> {
    let n = x.n() as f64;
    let mut excess = 0.0;
    for i in 0..x.n() {
        let weights = row(x, i, beta);
        let off = weights.iter().map(|a| (a - 1.0 / n).abs()).fold(0.0, nan_max);
        excess = nan_max(excess, off - (exponent * beta).exp_m1() / n);
        let scores: Vec<f64> = (0..x.n()).map(|j| x.inner(i, j)).collect();
        let top = vector::max(&scores);
        let smooth = log_sum_exp(&scores.iter().map(|s| beta * s).collect::<Vec<f64>>());
        excess = nan_max(
            excess,
            nan_max(beta * top - smooth, smooth - beta * top - n.ln()) / (1.0 + beta),
        );
    }
    // The first token twice: its row has two maximisers, 1 - gap is the next inner product.
    let next = (1..x.n()).map(|j| x.inner(0, j)).fold(-1.0, f64::max);
    let twice = Tokens::normalised(x.d(), [x.row(0), x.coordinates()].concat())?;
    let weights = row(&twice, 0, beta);
    let apart = nan_max((weights[0] - 0.5).abs(), (weights[1] - 0.5).abs());
    excess = nan_max(excess, apart - n * (-beta * (1.0 - next)).exp());
    Ok(Finding::identity(excess.max(0.0), 1e-13))
}
