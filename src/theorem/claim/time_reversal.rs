//! Time reversal.

use super::{Case, Claim, Context, Control, Expected, Finding, flowed, plain};
use crate::error::Result;
use crate::num::stats::nan_max;

/// V = -I runs the flow backwards.
pub static ENTRY: Claim = Claim {
    name: "time-reversal",
    title: "V = -I is the reversed flow",
    statement: "Flowing for time 1 with V = I and then for time 1 with V = -I returns to the start, to 1e-6.",
    hypotheses: "Q^T K = I",
    applies: super::always,
    citation: "arXiv:2312.10794, section 9.1",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(6, 3, 2.0, "sa"), Case::new(5, 2, 0.5, "usa"), Case::new(10, 4, 4.0, "sa")],
    quick: 2,
    trials: (4, 30),
    trial: |case, ctx| there_and_back(case, ctx, if case.dynamics == "sa" { "repulsive-sa" } else { "repulsive-usa" }),
    control: Control { what: "going back with USA", trial: |ctx| there_and_back(&Case::new(6, 3, 2.0, "sa"), ctx, "repulsive-usa") },
};

fn there_and_back(case: &Case, ctx: &mut Context, back: &str) -> Result<Finding> {
    let x = ctx.weighted_tokens(case, "uniform")?;
    let rtol = ctx.rtol * 1e-3;
    let there = flowed(case.build()?.as_ref(), &x, 1.0, rtol)?;
    let home = flowed(plain(back, case.beta, case.n)?.as_ref(), &there, 1.0, rtol)?;
    let worst = x.coordinates().iter().zip(home.coordinates()).map(|(a, b)| (a - b).abs()).fold(0.0, nan_max);
    Ok(Finding::at_most(worst, 1e-6))
}
