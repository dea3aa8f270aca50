//! The bound on the gamma curve, corrected.

use super::{Case, Claim, Context, Control, Expected, Finding, Margin};
use crate::attention::TimeScale;
use crate::error::Result;
use crate::theory::equiangular::Equiangular;

/// 2312.10794, (D.8), for `t >= n e^beta / 2`.
pub static ENTRY: Claim = Claim {
    name: "gamma-bound",
    title: "Decay bound of gamma, corrected",
    statement: "1 - gamma(t) <= (1/2) exp( n^2 e^beta / (2 (n + e^{beta/2})) - n t / (n + e^{beta/2}) ) for t >= n e^beta / 2 (SA), \
                and 1 - gamma(t) <= (1/2) exp(-e^{beta/2} (t - n/2)) for t >= n/2 (USA).",
    hypotheses: "t >= n e^beta / 2 (SA), t >= n/2 (USA)",
    applies: super::always,
    citation: "arXiv:2312.10794, (D.8), restricted to the times where its proof works",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[
        Case::new(2, 2, 0.0, "sa"),
        Case::new(2, 2, 0.5, "sa"),
        Case::new(3, 3, 0.0, "sa"),
        Case::new(2, 2, 0.0, "usa"),
        Case::new(8, 8, 1.0, "usa"),
        Case::new(8, 8, 1.0, "sa"),
        Case::new(32, 32, 0.5, "sa"),
        Case::new(4, 4, 3.0, "sa"),
    ],
    quick: 8,
    trials: (10, 50),
    trial: |case, ctx| {
        let start = 0.5 * case.n as f64 * if case.dynamics == "usa" { 1.0 } else { case.beta.exp() };
        // Half of the times near the start, where the bound is tight.
        let t = start * (1.0 + 2.0 * ctx.stream.uniform().powi(if ctx.stream.index(2) == 0 { 1 } else { 8 }));
        bound(case, t)
    },
    control: Control { what: "t = 0, n = 2, beta = 0", trial: |_| bound(&Case::new(2, 2, 0.0, "sa"), 0.0) },
};

/// Margin of the bound at time t, in logarithms (1 - gamma may be 1e-30).
pub fn bound(case: &Case, t: f64) -> Result<Finding> {
    let n = case.n as f64;
    let (depth, log_right) = if case.dynamics == "usa" {
        let curve = Equiangular::usa(case.n, case.beta, TimeScale::U1)?;
        (curve.depth(0.0, t)?, -(0.5 * case.beta).exp() * (t - 0.5 * n))
    } else {
        let width = n + (0.5 * case.beta).exp();
        (Equiangular::sa(case.n, case.beta).depth(0.0, t)?, n * n * case.beta.exp() / (2.0 * width) - n * t / width)
    };
    let value = 0.5f64.ln() + log_right + depth;
    Ok(Finding::Margin(Margin { value, evaluation: 1e-10 * (1.0 + depth), ..Margin::default() }))
}

/// The trial of the printed claim.
pub fn printed_trial(case: &Case, _: &mut Context) -> Result<Finding> {
    bound(case, 0.0)
}
