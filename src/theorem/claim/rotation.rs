//! Rotation equivariance.

use super::{Case, Claim, Context, Control, Expected, Finding, flowed};
use crate::attention::{Head, Spec, dynamics};
use crate::error::Result;
use crate::num::dense::mat_vec;
use crate::num::stats::nan_max;
use crate::sphere::Tokens;
use crate::theorem::conformance::random_rotation;

/// The flow commutes with O(d) when Q = K = V = I.
pub static ENTRY: Claim = Claim {
    name: "rotation",
    title: "Rotation equivariance",
    statement: "X(0) R flows to X(t) R for every R in O(d), Q = K = V = I: deviation at t = 1 at most 1e-9.",
    hypotheses: "Q = K = V = I",
    applies: super::always,
    citation: "arXiv:2312.10794, (2.3): weights depend on inner products only",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(6, 3, 2.0, "sa"), Case::new(5, 4, 1.0, "usa"), Case::new(6, 3, 2.0, "causal-sa"), Case::new(12, 8, 5.0, "sa")],
    quick: 3,
    trials: (4, 30),
    trial: |case, ctx| commute(case, ctx, Vec::new()),
    control: Control {
        what: "a key matrix K = diag(2, 1, 1)",
        trial: |ctx| {
            let k = Some((3, vec![2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]));
            commute(&Case::new(6, 3, 2.0, "sa"), ctx, vec![Head::new(3, None, k, None)?])
        },
    },
};

fn commute(case: &Case, ctx: &mut Context, heads: Vec<Head>) -> Result<Finding> {
    let dynamics = dynamics::build(case.dynamics, false, &Spec { heads, ..Spec::new(case.beta, case.n) })?;
    let x = ctx.weighted_tokens(case, "uniform")?;
    let q = random_rotation(case.d, &mut ctx.stream);
    let turn = |x: &Tokens| -> Result<Tokens> {
        let mut y = vec![0.0; x.coordinates().len()];
        x.rows().zip(y.chunks_exact_mut(case.d)).for_each(|(r, o)| mat_vec(&q, r, o));
        Tokens::normalised(case.d, y)?.with_masses(x.masses())
    };
    let rtol = ctx.rtol * 1e-2;
    let first = turn(&flowed(dynamics.as_ref(), &x, 1.0, rtol)?)?;
    let second = flowed(dynamics.as_ref(), &turn(&x)?, 1.0, rtol)?;
    let worst = first.coordinates().iter().zip(second.coordinates()).map(|(a, b)| (a - b).abs()).fold(0.0, nan_max);
    Ok(Finding::at_most(worst, 1e-9))
}
