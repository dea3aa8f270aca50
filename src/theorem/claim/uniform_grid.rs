//! Equispaced tokens are an equilibrium.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::error::Result;
use crate::num::stats::nan_max;
use crate::theorem::conformance::velocity;

/// The regular n-gon is stationary for SA and USA.
pub static ENTRY: Claim = Claim {
    name: "uniform-grid",
    title: "Equispaced tokens on the circle are stationary",
    statement: "n equispaced tokens on the circle are an equilibrium of SA and USA: speed at most 1e-14 of its bound.",
    hypotheses: "d = 2, regular polygon",
    applies: |case| case.d == 2,
    citation: "symmetry; mean-field consistency of arXiv:2312.10794, section 7",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(5, 2, 2.0, "sa"), Case::new(12, 2, 6.0, "usa"), Case::new(200, 2, 30.0, "sa")],
    quick: 3,
    trials: (1, 1),
    trial: |case, ctx| speed(case, ctx, "polygon"),
    control: Control { what: "a perturbed polygon", trial: |ctx| speed(&Case::new(5, 2, 2.0, "sa"), ctx, "polygon:noise=0.01") },
};

fn speed(case: &Case, ctx: &mut Context, law: &str) -> Result<Finding> {
    let dynamics = case.build()?;
    let x = ctx.tokens(case, law)?;
    let top = velocity(dynamics.as_ref(), &x).iter().fold(0.0f64, |m, v| nan_max(m, v.abs()));
    Ok(Finding::at_most(top / dynamics.facts().speed_bound.unwrap_or(1.0), 1e-14))
}
