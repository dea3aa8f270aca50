//! Watanabe-Strogatz constants at beta = 0.

use super::{Case, Claim, Context, Control, Expected, Finding, flowed};
use crate::error::Result;
use crate::num::stats::nan_max;
use crate::sphere::{Tokens, geometry::chord2};

/// Chordal cross-ratios are conserved in every dimension.
pub static ENTRY: Claim = Claim {
    name: "cross-ratios",
    title: "Cross-ratios are conserved at beta = 0",
    statement: "|x_i - x_j| |x_k - x_l| / (|x_i - x_l| |x_k - x_j|) is constant in time at beta = 0, for all d: relative change at t = 1 at most 1e-9.",
    hypotheses: "beta = 0",
    applies: |case| case.beta == 0.0,
    citation: "Watanabe, Strogatz 1994; Lohe 2018",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(4, 2, 0.0, "sa"), Case::new(6, 4, 0.0, "usa"), Case::new(8, 3, 0.0, "sa")],
    quick: 3,
    trials: (5, 40),
    trial: |case, ctx| change(case, ctx),
    control: Control { what: "beta = 1", trial: |ctx| change(&Case::new(6, 2, 1.0, "sa"), ctx) },
};

fn change(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let x = ctx.tokens(case, "uniform")?;
    let y = flowed(case.build()?.as_ref(), &x, 1.0, ctx.rtol * 1e-3)?;
    let ratio = |x: &Tokens, i: usize| {
        let c = |a: usize, b: usize| chord2(x.row(a % x.n()), x.row(b % x.n())).ln();
        0.5 * (c(i, i + 1) + c(i + 2, i + 3) - c(i, i + 3) - c(i + 2, i + 1))
    };
    let worst = (0..case.n).map(|i| (ratio(&x, i) - ratio(&y, i)).abs()).fold(0.0, nan_max);
    Ok(Finding::at_most(worst, 1e-9))
}
