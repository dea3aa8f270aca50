//! The span of the tokens is invariant.

use super::{Case, Claim, Context, Control, Expected, Finding, flowed};
use crate::attention::{Head, Spec, dynamics};
use crate::error::Result;
use crate::num::stats::nan_max;
use crate::sphere::Tokens;

/// Tokens that start in a subspace stay in it when V = I.
pub static ENTRY: Claim = Claim {
    name: "span",
    title: "The span of the tokens is invariant",
    statement: "For V = I, tokens that start in a linear subspace stay in it (tested in coordinates: exactly).",
    hypotheses: "V = I; n tokens in the first three coordinates of R^d",
    applies: |case| case.d > 3,
    citation: "arXiv:2312.10794, (2.3): the velocity is a combination of tokens",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(6, 5, 2.0, "sa"), Case::new(5, 8, 1.0, "usa"), Case::new(8, 16, 4.0, "sa")],
    quick: 3,
    trials: (3, 20),
    trial: |case, ctx| leak(case, ctx, Vec::new()),
    control: Control {
        what: "a value matrix that mixes the coordinates",
        trial: |ctx| {
            let mut v = vec![0.0; 25];
            ctx.stream.normals(&mut v);
            leak(&Case::new(6, 5, 2.0, "sa"), ctx, vec![Head::new(5, None, None, Some((5, v)))?])
        },
    },
};

fn leak(case: &Case, ctx: &mut Context, heads: Vec<Head>) -> Result<Finding> {
    let small = ctx.tokens(&Case { d: 3, ..*case }, "uniform")?;
    let x: Vec<f64> = small.rows().flat_map(|r| r.iter().copied().chain(vec![0.0; case.d - 3])).collect();
    let dynamics = dynamics::build(case.dynamics, false, &Spec { heads, ..Spec::new(case.beta, case.n) })?;
    let end = flowed(dynamics.as_ref(), &Tokens::new(case.d, x)?, 1.0, ctx.rtol)?;
    let outside = end.rows().flat_map(|r| r[3..].iter()).fold(0.0f64, |m, v| nan_max(m, v.abs()));
    Ok(Finding::exact(f64::EPSILON - outside))
}
