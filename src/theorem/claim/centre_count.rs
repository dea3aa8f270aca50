//! How many strong centres there are.

use super::{Case, Claim, Context, Control, Expected, Finding, Margin, always};
use crate::clusters::centres::strong;
use crate::error::Result;
use crate::num::stats::mean_and_error;
use crate::theory::parking::strong_centres;

/// 2411.04990, Lemma C.1, with the cap of S^2 corrected.
pub static ENTRY: Claim = Claim {
    name: "centre-count",
    title: "Expected number of strong Renyi centres",
    statement: "n uniform tokens have (1 - (1 - p)^n)/p strong centres in the mean, p the share of a cap of radius delta = 0.4: the mean of 200 draws is within five standard errors.",
    hypotheses: "uniform tokens",
    applies: always,
    citation: "arXiv:2411.04990, Lemma C.1 (p = sin^2(delta/2) on S^2)",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(100, 2, 0.0, "causal-sa"), Case::new(300, 3, 0.0, "causal-sa"), Case::new(100, 4, 0.0, "causal-sa")],
    quick: 3,
    trials: (1, 4),
    trial: |case, ctx| mean(case, ctx, 1.0),
    control: Control { what: "a third of it at d = 3", trial: |ctx| mean(&Case::new(300, 3, 0.0, "causal-sa"), ctx, 1.0 / 3.0) },
};

/// Five standard errors minus the deviation of the mean from `factor` times the formula.
pub fn mean(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let expected = factor * strong_centres(case.n, case.d, 0.4)?;
    let mut counts = Vec::new();
    for _ in 0..200 {
        counts.push(strong(&ctx.tokens(case, "uniform")?, 0.4).len() as f64);
    }
    let (mean, error) = mean_and_error(&counts);
    Ok(Finding::Margin(Margin { value: 5.0 * error - (mean - expected).abs(), sampling: error, ..Margin::default() }))
}
