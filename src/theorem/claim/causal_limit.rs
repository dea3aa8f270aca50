//! Causal attention collapses onto the first token.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::attention::{Head, Spec, dynamics};
use crate::error::Result;
use crate::flow::{Options, solve};
use crate::num::stats::nan_max;
use crate::sphere::geometry::dist;
use crate::theorem::conformance::velocity;

/// 2411.04990, Theorem 4.1.
pub static ENTRY: Claim = Claim {
    name: "causal-limit",
    title: "Causal attention: every token converges to x_1(0)",
    statement: "V = I, arbitrary Q, K, beta >= 0, d >= 2: for almost every start x_k(t) -> x_1(0) for all k; at t = 5000 all are within 1e-6.",
    hypotheses: "V = I, random Q, K, uniform start; slow cases reported as unfinished",
    applies: |case| case.d >= 2 && case.beta >= 0.0,
    citation: "Karagodin, Polyanskiy, Rigollet, arXiv:2411.04990, Theorem 4.1",
    expected: Expected::Holds,
    almost_sure: true,
    cases: &[
        Case::new(8, 3, 1.0, "causal-sa"),
        Case::new(8, 2, 0.5, "causal-sa"),
        Case::new(32, 10, 2.0, "causal-sa"),
        Case::new(12, 3, 1.0, "causal-usa"),
    ],
    quick: 2,
    trials: (40, 200),
    trial: |case, ctx| distance(case, ctx, 0),
    control: Control { what: "claiming that the limit is x_2(0)", trial: |ctx| distance(&Case::new(8, 3, 1.0, "causal-sa"), ctx, 1) },
};

fn distance(case: &Case, ctx: &mut Context, target: usize) -> Result<Finding> {
    let x = ctx.tokens(case, "uniform")?;
    let mut matrix = || {
        let mut a = vec![0.0; case.d * case.d];
        ctx.stream.normals(&mut a);
        Some((case.d, a.iter().map(|v| v / (case.d as f64).sqrt()).collect()))
    };
    let head = Head::new(case.d, matrix(), matrix(), None)?;
    let dynamics = dynamics::build(case.dynamics, false, &Spec { heads: vec![head], ..Spec::new(case.beta, case.n) })?;
    let options = Options { rtol: ctx.rtol, merge_radius: 1e-8, ..Options::default() };
    let end = solve(dynamics.as_ref(), &x, 5000.0, &options, &mut [])?;
    let worst = end.clusters.rows().map(|r| dist(r, x.row(target))).fold(0.0, nan_max);
    if !end.outcome.is_success() {
        return Ok(Finding::Unfinished(end.outcome.to_string()));
    }
    // Still moving towards it is unfinished; standing still elsewhere would be a violation.
    let speed = velocity(dynamics.as_ref(), &end.clusters).iter().fold(0.0, |m, v| nan_max(m, v.abs()));
    if target == 0 && worst > 1e-6 && speed > 1e-9 {
        return Ok(Finding::Unfinished(format!("distance {worst:.1e} to x_1(0) at t = 5000, speed {speed:.1e}")));
    }
    Ok(Finding::at_most(worst, 1e-6))
}
