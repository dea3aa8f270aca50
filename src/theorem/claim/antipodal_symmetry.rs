//! The antipodal map commutes with the flow.

use super::{Case, Claim, Context, Control, Expected, Finding, flowed};
use crate::error::Result;
use crate::num::stats::nan_max;
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
    trial: |case, ctx| mirror(case, ctx, false),
    control: Control { what: "reflecting one token only", trial: |ctx| mirror(&Case::new(6, 3, 2.0, "sa"), ctx, true) },
};

fn mirror(case: &Case, ctx: &mut Context, one: bool) -> Result<Finding> {
    let dynamics = case.build()?;
    let x = ctx.tokens(case, "uniform")?;
    let reflected = |k: usize| !one || k < case.d;
    let y = x.coordinates().iter().enumerate().map(|(k, v)| if reflected(k) { -v } else { *v }).collect();
    let y = Tokens::from_parts(case.d, y, x.masses().to_vec());
    let (a, b) = (flowed(dynamics.as_ref(), &x, 0.5, ctx.rtol)?, flowed(dynamics.as_ref(), &y, 0.5, ctx.rtol)?);
    let worst = a.coordinates().iter().zip(b.coordinates()).map(|(a, b)| (a + b).abs()).fold(0.0, nan_max);
    Ok(Finding::exact(f64::MIN_POSITIVE - worst))
}
