//! Expected modes on S^2.

use super::{Case, Claim, Context, Control, Expected, Finding, Margin};
use crate::clusters::modes;
use crate::error::Result;
use crate::num::stats::mean_and_error;
use crate::theory::kac_rice::expected_modes_sphere;

/// Derived: the limit is an isotropic Gaussian field, whose Kac-Rice integral is elementary.
pub static ENTRY: Claim = Claim {
    name: "sphere-modes",
    title: "Expected number of modes on S^2: 1 + 2 q / sqrt(3 + 1/q), q = (beta/2) I_{5/2}(2 beta)/I_{3/2}(2 beta)",
    statement: "n uniform points of S^2, kernel e^{beta <x, y>}, beta << n: the mean of 40 certified counts is within five standard errors (and 1 %) of the formula, about beta / sqrt 3.",
    hypotheses: "uniform points, beta << n",
    applies: |case| case.d == 3 && case.beta * 15.0 < case.n as f64,
    citation: "Kac-Rice for the stationary field of arXiv:2412.09080 on S^2 (derived)",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(200, 3, 8.0, "sa"), Case::new(200, 3, 2.0, "sa"), Case::new(1000, 3, 25.0, "sa"), Case::new(2000, 3, 60.0, "sa")],
    quick: 1,
    trials: (1, 3),
    trial: |case, ctx| deviation(case, ctx, expected_modes_sphere(case.beta)?),
    control: Control { what: "beta modes", trial: |ctx| deviation(&Case::new(200, 3, 8.0, "sa"), ctx, 8.0) },
};

fn deviation(case: &Case, ctx: &mut Context, expected: f64) -> Result<Finding> {
    let mut counts = Vec::new();
    for _ in 0..40 {
        let Ok(count) = modes::sphere(&ctx.tokens(case, "uniform")?, case.beta)?.proved() else {
            return Ok(Finding::Unfinished("a count could not be proved".into()));
        };
        counts.push(count as f64);
    }
    let (mean, error) = mean_and_error(&counts);
    let value = 5.0 * error + 0.01 * expected - (mean - expected).abs();
    Ok(Finding::Margin(Margin { value, sampling: error, ..Margin::default() }))
}
