//! The weight that a token gives to itself.

use super::query_key_product::softmax_row;
use super::temperature_limits::row;
use crate::theorem::prelude::*;

/// Among tokens of equal length no token is nearer to a token than itself.
///
/// # Derivation
///
/// <x_i, x_j> <= |x_i| |x_j| = 1 = <x_i, x_i>, and the exponential is monotone.
pub static ENTRY: Claim = Claim {
    name: "self-weight-largest",
    title: "Q^T K = I, equal lengths: every token gives itself the largest weight",
    then: "For unit tokens and Q^T K = I, A_ii >= A_ij for all i and j.",
    domain: Domain { beta: Betas::Log(0.1, 30.0), ..Domain::SCORED },
    source: "Cauchy and Schwarz",
    trials: (10, 100),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        // The error of a score is a few beta eps.
        let error = 16.0 * f64::EPSILON * (1.0 + case.beta);
        let all =
            (0..x.n()).map(|i| largest(&row(&x, i, case.beta), i).with_evaluation_error(error));
        Ok(all.reduce(Finding::and).unwrap_or(Finding::HypothesesMissed))
    },
    control: Control {
        what: "the tokens 1 and 2 on the line",
        trial: |_| Ok(largest(&softmax_row(vec![1.0, 2.0]), 0)),
    },
    ..Claim::INEQUALITY
};

fn largest(weights: &[f64], own: usize) -> Finding {
    let others =
        weights.iter().enumerate().filter(|(j, _)| *j != own).map(|(_, w)| *w).fold(0.0, f64::max);
    Finding::at_least(weights[own], others)
}
