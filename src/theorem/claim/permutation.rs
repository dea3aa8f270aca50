//! Permutation equivariance.

use super::{Case, Claim, Context, Control, Expected, Finding, flowed};
use crate::error::Result;
use crate::num::stats::nan_max;
use crate::sphere::Tokens;

/// The flow of SA and USA commutes with permutations; the causal flow does not.
pub static ENTRY: Claim = Claim {
    name: "permutation",
    title: "Permutation equivariance",
    statement: "Permuted tokens flow to permuted tokens (SA, USA): deviation at t = 1 at most 1e-9.",
    hypotheses: "no mask",
    applies: |case| !case.dynamics.starts_with("causal"),
    citation: "arXiv:2312.10794, section 3.1",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(6, 3, 2.0, "sa"), Case::new(7, 2, 1.0, "usa"), Case::new(16, 5, 6.0, "sa")],
    quick: 2,
    trials: (4, 30),
    trial: |case, ctx| reverse(case, ctx),
    control: Control { what: "causal SA", trial: |ctx| reverse(&Case::new(6, 3, 2.0, "causal-sa"), ctx) },
};

fn reverse(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let dynamics = case.build()?;
    let x = ctx.weighted_tokens(case, "uniform")?;
    let backwards = |x: &Tokens| {
        let masses: Vec<f64> = x.masses().iter().rev().copied().collect();
        Tokens::new(case.d, x.rows().rev().flatten().copied().collect())?.with_masses(&masses)
    };
    let rtol = ctx.rtol * 1e-2;
    let first = backwards(&flowed(dynamics.as_ref(), &x, 1.0, rtol)?)?;
    let second = flowed(dynamics.as_ref(), &backwards(&x)?, 1.0, rtol)?;
    let worst = first.coordinates().iter().zip(second.coordinates()).map(|(a, b)| (a - b).abs()).fold(0.0, nan_max);
    Ok(Finding::at_most(worst, 1e-9))
}
