//! USA on the circle conserves the mean angle.

use super::{Case, Claim, Context, Control, Expected, FOREVER, Finding};
use crate::error::Result;
use crate::flow::{Options, solve};

/// In a half circle the consensus angle is the mean of the initial angles.
pub static ENTRY: Claim = Claim {
    name: "circle-mean",
    title: "USA on a half circle ends at the mean angle",
    statement: "d = 2, USA: the mean of lifted angles is conserved, so from a half circle the consensus angle is the mass-weighted mean of the initial angles, to 1e-8.",
    hypotheses: "d = 2, start in a half circle",
    applies: |case| case.d == 2,
    citation: "arXiv:2312.10794, section 7 (antisymmetry)",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(5, 2, 1.0, "usa"), Case::new(8, 2, 3.0, "usa"), Case::new(16, 2, 0.5, "usa")],
    quick: 2,
    trials: (5, 40),
    trial: |case, ctx| consensus(case, ctx),
    control: Control { what: "SA, which does not conserve the mean", trial: |ctx| consensus(&Case::new(5, 2, 3.0, "sa"), ctx) },
};

fn consensus(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let x = ctx.weighted_tokens(case, "cap:radius=1.4")?;
    let mean: f64 = x.angles().iter().zip(x.masses()).map(|(a, m)| a * m).sum();
    let options = Options { rtol: ctx.rtol * 1e-2, stop_at_one_cluster: true, ..Options::default() };
    let end = solve(case.build()?.as_ref(), &x, FOREVER, &options, &mut [])?;
    if end.clusters.n() > 1 {
        return Ok(Finding::Unfinished(end.outcome.to_string()));
    }
    Ok(Finding::at_most((end.clusters.angles()[0] - mean).abs(), 1e-8))
}
