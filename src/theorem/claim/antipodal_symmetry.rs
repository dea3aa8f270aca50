//! The antipodal map commutes with the flow.

use super::{Case, Claim, Context, Control, Expected, Finding, flowed};
use crate::error::Result;
use crate::sphere::Tokens;

/// `f(-X) = -f(X)`.
pub static ENTRY: Claim = Claim {
    name: "antipodal-symmetry",
    title: "f(-X) = -f(X)",
    statement: "The flow commutes with X -> -X, bit for bit.",
    hypotheses: "none",
    applies: super::always,
    citation: "arXiv:2312.10794, (2.3)",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(6, 3, 2.0, "sa"), Case::new(5, 2, 1.0, "usa"), Case::new(8, 4, 5.0, "causal-sa")],
    quick: 3,
    trials: (3, 20),
    trial: |case, ctx| mirror(case, ctx, -1.0),
    control: Control { what: "reflecting one coordinate only on one side", trial: |ctx| mirror(&Case::new(6, 3, 2.0, "sa"), ctx, 1.0) },
};

fn mirror(case: &Case, ctx: &mut Context, sign: f64) -> Result<Finding> {
    let dynamics = case.build()?;
    let x = ctx.tokens(case, "uniform")?;
    let y = Tokens::from_parts(case.d, x.coordinates().iter().map(|v| sign * v).collect(), x.masses().to_vec());
    let (a, b) = (flowed(dynamics.as_ref(), &x, 0.5, ctx.rtol)?, flowed(dynamics.as_ref(), &y, 0.5, ctx.rtol)?);
    let worst = a.coordinates().iter().zip(b.coordinates()).map(|(a, b)| (a + b).abs()).fold(0.0, f64::max);
    Ok(Finding::exact(f64::MIN_POSITIVE - worst))
}
