//! Bounds on the velocity and on the weights.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::attention::kernel::Attention;
use crate::error::Result;
use crate::num::stats::{nan_max, nan_min};
use crate::num::sum::dot;
use crate::sphere::Tokens;
use crate::theorem::conformance::velocity;

/// `|x_i'| <= 1` (SA), `<= e^beta` (USA); softmax rows are positive and sum to 1.
pub static ENTRY: Claim = Claim {
    name: "speed-bound",
    title: "Speeds are at most 1 (SA) and e^beta (USA); rows sum to 1",
    statement: "|x_i'| <= 1 for SA and <= e^beta for USA (U1); softmax rows are positive, sum to 1 to 4 ulp, and do not change when all masses are scaled.",
    hypotheses: "V = I",
    applies: super::always,
    citation: "arXiv:2312.10794, (2.3): convex combinations of unit vectors",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(6, 3, 2.0, "sa"), Case::new(8, 2, 1.0, "usa"), Case::new(40, 4, 30.0, "sa")],
    quick: 3,
    trials: (20, 200),
    trial: |case, ctx| bound(case, ctx, 1.0),
    control: Control { what: "the bound with a tenth of the speed", trial: |ctx| bound(&Case::new(6, 3, 0.5, "sa"), ctx, 0.1) },
};

fn bound(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let x = ctx.weighted_tokens(case, "uniform")?;
    let limit = factor * if case.dynamics == "usa" { case.beta.exp() } else { 1.0 };
    let v = velocity(case.build()?.as_ref(), &x);
    let fastest = v.chunks_exact(case.d).map(|r| dot(r, r).sqrt()).fold(0.0, nan_max);
    // The rows the dynamics really uses: positive, of sum 1, unchanged when all masses are scaled (which shifts every logit).
    let attention = Attention::new(case.beta);
    let row = attention.row_weights(&x, 0, 0);
    let scaled = Tokens::from_parts(case.d, x.coordinates().to_vec(), x.masses().iter().map(|m| 64.0 * m).collect());
    let shifted = attention.row_weights(&scaled, 0, 0);
    let sum = (crate::num::sum::block_sum(&row) - 1.0).abs();
    let change = row.iter().zip(&shifted).map(|(a, b)| (a - b).abs()).fold(0.0, nan_max);
    let positive = if row.iter().all(|a| *a > 0.0) { 1.0 } else { -1.0 };
    let rows = nan_min(4.0 * f64::EPSILON - sum, 4.0 * f64::EPSILON - change).min(positive);
    Ok(Finding::exact(nan_min(1.0 - fastest / limit, rows)))
}
