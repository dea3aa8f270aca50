//! Two clusters follow the exact reduced equation.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::attention::TimeScale;
use crate::error::Result;
use crate::flow::{Options, solve};
use crate::sphere::Tokens;
use crate::theory::two_cluster::{merge_time_sa, merge_time_usa};

/// Merging times of two weighted clusters against quadrature, across plateaus.
pub static ENTRY: Claim = Claim {
    name: "two-clusters",
    title: "Merging time of two clusters",
    statement: "Two clusters of masses alpha, 1 - alpha at angle theta meet after the time given by quadrature of the exact two-cluster equation (USA: whatever the \
                masses): relative error at most 1e-7, over plateaus of any length.",
    hypotheses: "two clusters, theta < pi",
    applies: |case| case.beta >= 0.0,
    citation: "reduction of arXiv:2312.10794, (2.3) to two points; arXiv:2512.01868",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[
        Case::new(2, 2, 2.0, "sa"),
        Case::new(2, 3, 20.0, "sa"),
        Case::new(2, 2, 10.0, "usa"),
        Case::new(2, 2, 120.0, "sa"),
        Case::new(2, 4, 300.0, "sa"),
    ],
    quick: 4,
    trials: (3, 20),
    trial: |case, ctx| compare(case, ctx, case.beta),
    control: Control { what: "the merging time of beta + 1", trial: |ctx| compare(&Case::new(2, 2, 2.0, "sa"), ctx, 3.0) },
};

fn compare(case: &Case, ctx: &mut Context, beta: f64) -> Result<Finding> {
    let (from, to, alpha) = (ctx.stream.uniform_in(0.8, 2.9), 0.05, ctx.stream.uniform_in(0.2, 0.8));
    let mut x = vec![0.0; 2 * case.d];
    x[0] = 1.0;
    (x[case.d], x[case.d + 1]) = (from.cos(), from.sin());
    let x = Tokens::new(case.d, x)?.with_masses(&[alpha, 1.0 - alpha])?;
    let expected =
        if case.dynamics == "usa" { merge_time_usa(beta, from, to, TimeScale::U1, 2)? } else { merge_time_sa(beta, alpha, from, to)? };
    let options = Options { rtol: ctx.rtol * 1e-1, merge_radius: to, stop_at_one_cluster: true, ..Options::default() };
    let end = solve(case.build()?.as_ref(), &x, 1e305, &options, &mut [])?;
    match end.merges.first() {
        Some(merge) => Ok(Finding::at_most((merge.t / expected.value - 1.0).abs(), 1e-7)),
        None => Ok(Finding::Unfinished(end.outcome.to_string())),
    }
}
