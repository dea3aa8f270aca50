//! Dwell times: the exponent of the lifetime of two clusters.

use super::{Case, Claim, Context, Control, Expected, Finding, plain};
use crate::error::Result;
use crate::flow::{Options, solve};
use crate::num::stats::slope;
use crate::sphere::Tokens;

/// Two clusters at a fixed gap, beta varied.
pub static ENTRY: Claim = Claim {
    name: "dwell-law",
    title: "Two clusters live for e^{beta (1 - cos gap)}",
    statement: "The slope of log(beta T) over beta, T the merging time of two clusters at a fixed gap, fitted over beta = 100 ... 300, is 1 - cos(gap): deviation at most 2 % of it.",
    hypotheses: "gap in [0.7, 2.2]",
    applies: |case| case.n == 2,
    citation: "arXiv:2410.06833 (lifetimes); reduction of arXiv:2312.10794, (2.3) to two points",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(2, 2, 100.0, "sa"), Case::new(2, 3, 100.0, "sa"), Case::new(2, 4, 100.0, "sa")],
    quick: 2,
    trials: (2, 10),
    trial: |case, ctx| exponent(case, ctx, 1.0),
    control: Control { what: "the exponent gap^2/2", trial: |ctx| exponent(&Case::new(2, 2, 100.0, "sa"), ctx, 0.0) },
};

fn exponent(case: &Case, ctx: &mut Context, cosine: f64) -> Result<Finding> {
    let (gap, alpha) = (ctx.stream.uniform_in(0.7, 2.2), ctx.stream.uniform_in(0.2, 0.8));
    let mut x = vec![0.0; 2 * case.d];
    x[0] = 1.0;
    (x[case.d], x[case.d + 1]) = (gap.cos(), gap.sin());
    let x = Tokens::new(case.d, x)?.with_masses(&[alpha, 1.0 - alpha])?;
    let mut points = Vec::new();
    for k in 0..5 {
        let beta = case.beta * (1.0 + 0.5 * f64::from(k));
        let options = Options { rtol: ctx.rtol, merge_radius: 0.05, ..Options::default() };
        let end = solve(plain(case.dynamics, beta, 2)?.as_ref(), &x, 1e300, &options, &mut [])?;
        let Some(merge) = end.merges.first() else { return Ok(Finding::Unfinished(end.outcome.to_string())) };
        points.push((beta, (beta * merge.t).ln()));
    }
    let expected = cosine * (1.0 - gap.cos()) + (1.0 - cosine) * 0.5 * gap * gap;
    Ok(Finding::at_most((slope(&points) / expected - 1.0).abs(), 0.02))
}
