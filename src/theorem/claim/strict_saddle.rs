//! The explicit strict-saddle bound for d >= 3.

use super::{Case, Claim, Context, Control, Expected, Finding, Margin};
use crate::attention::{Energy, EnergyScale};
use crate::error::Result;
use crate::num::stats::nan_max;

/// `lambda_max(Hess) >= (1/(n (d-1))) sum ...` for equal masses, any configuration.
pub static ENTRY: Claim = Claim {
    name: "strict-saddle",
    title: "Strict-saddle bound for d >= 3",
    statement: "For d >= 3, beta >= 0 and every configuration, lambda_max(Hess E_beta) >= (1/(n^3 (d-1))) sum_ij e^{beta G_ij} (1 - G_ij)(d - 2 - G_ij + \
                beta (1 - G_ij^2)), which is positive except at consensus.",
    hypotheses: "d >= 3, beta >= 0, equal masses",
    applies: |case| case.d >= 3 && case.beta >= 0.0,
    citation: "curvature identity; arXiv:2405.18273",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(5, 3, 2.0, "usa"), Case::new(6, 4, 8.0, "usa"), Case::new(10, 3, 20.0, "usa")],
    quick: 3,
    trials: (10, 100),
    trial: |case, ctx| bound(case, ctx, 1.0),
    control: Control { what: "the bound without its division by n (d-1)", trial: |ctx| bound(&Case::new(5, 3, 2.0, "usa"), ctx, 10.0) },
};

fn bound(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let x = ctx.tokens(case, "uniform")?;
    let spectrum = Energy::new(case.beta, EnergyScale::Mean).hessian_eigenvalues(&x)?;
    let top = spectrum.last().copied().unwrap_or(f64::NEG_INFINITY);
    let (n, d) = (case.n as f64, case.d as f64);
    let mut sum = 0.0;
    for i in 0..case.n {
        for j in 0..case.n {
            let g = x.inner(i, j);
            sum += (case.beta * g).exp() * (1.0 - g) * (d - 2.0 - g + case.beta * (1.0 - g * g));
        }
    }
    // |U_v|^2 summed over v is n (d-1), so the mean curvature is the sum over n (d-1).
    let claimed = factor * sum / (n * n) / (n * (d - 1.0));
    let scale = spectrum.iter().fold(0.0f64, |m, v| nan_max(m, v.abs()));
    // Eigenvalues are known to 64 u of the largest.
    Ok(Finding::Margin(Margin { value: (top - claimed) / scale, evaluation: 64.0 * f64::EPSILON, ..Margin::default() }))
}
