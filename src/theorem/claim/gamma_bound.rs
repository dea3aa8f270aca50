//! The bound on the gamma curve, corrected.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::error::Result;
use crate::theory::equiangular::Equiangular;

/// 2312.10794, (D.8), for `t >= n e^beta / 2`.
pub static ENTRY: Claim = Claim {
    name: "gamma-bound",
    title: "Decay bound of gamma, corrected",
    statement: "1 - gamma(t) <= (1/2) exp( n^2 e^beta / (2 (n + e^{beta/2})) - n t / (n + e^{beta/2}) ) for t >= n e^beta / 2 (SA).",
    hypotheses: "t >= n e^beta / 2",
    applies: super::always,
    citation: "arXiv:2312.10794, (D.8), restricted to the times where its proof works",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(2, 2, 0.0, "sa"), Case::new(8, 8, 1.0, "sa"), Case::new(32, 32, 0.5, "sa"), Case::new(4, 4, 3.0, "sa")],
    quick: 4,
    trials: (10, 50),
    trial: |case, ctx| {
        let start = 0.5 * case.n as f64 * case.beta.exp();
        let t = start * (1.0 + 2.0 * ctx.stream.uniform());
        bound(case, t)
    },
    control: Control { what: "t = 0, n = 2, beta = 0", trial: |_| bound(&Case::new(2, 2, 0.0, "sa"), 0.0) },
};

/// Relative margin of the bound at time t.
pub fn bound(case: &Case, t: f64) -> Result<Finding> {
    let n = case.n as f64;
    let gap = 1.0 - Equiangular::sa(case.n, case.beta).at(0.0, t)?;
    let width = n + (0.5 * case.beta).exp();
    let right = 0.5 * (n * n * case.beta.exp() / (2.0 * width) - n * t / width).exp();
    Ok(Finding::at_most(gap / right, 1.0))
}

/// The trial of the printed claim.
pub fn printed_trial(case: &Case, _: &mut Context) -> Result<Finding> {
    bound(case, 0.0)
}
