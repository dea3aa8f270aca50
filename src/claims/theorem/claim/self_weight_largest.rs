//! A token and itself.

use super::query_key_product::soft;
use super::temperature_limits::row;
use crate::theorem::prelude::*;

/// Among equal lengths nobody is nearer than oneself.
///
/// # Derivation
///
/// <x_i, x_j> <= |x_i| |x_j| = 1 = <x_i, x_i>, and the exponential is monotone.
pub static ENTRY: Claim = Claim {
    name: "self-weight-largest",
    title: "Q^T K = I, equal lengths: every token gives itself the largest weight",
    statement: "Unit tokens, Q^T K = I: A_ii >= A_ij for all i and j.",
    domain: Domain { beta: Betas::Log(0.1, 30.0), ..Domain::SCORED },
    citation: "Cauchy and Schwarz",
    trials: (10, 100),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        // Scores are known to some units of beta u.
        let error = 16.0 * f64::EPSILON * (1.0 + case.beta);
        let all = (0..x.n()).map(|i| largest(&row(&x, i, case.beta), i).with_error(error));
        Ok(all.reduce(Finding::and).unwrap_or(Finding::Missed))
    },
    control: Control { what: "tokens 1 and 2 on the line", trial: |_| Ok(largest(&soft(vec![1.0, 2.0]), 0)) },
    ..Claim::INEQUALITY
};

fn largest(weights: &[f64], own: usize) -> Finding {
    let others = weights.iter().enumerate().filter(|(j, _)| *j != own).map(|(_, w)| *w).fold(0.0, f64::max);
    Finding::at_least(weights[own], others)
}
