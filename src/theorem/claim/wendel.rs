//! Wendel's theorem.

use super::{Case, Claim, Context, Control, Expected, Finding, Margin};
use crate::error::Result;
use crate::sphere::cap::{Hemisphere, hemisphere};
use crate::theory::wendel::probability;

/// 2312.10794, Theorem 6.7.
pub static ENTRY: Claim = Claim {
    name: "wendel",
    title: "Wendel: probability of a common hemisphere",
    statement: "P(n iid uniform points of S^{d-1} lie in a common open hemisphere) = 2^{-(n-1)} sum_{k<d} C(n-1, k): the frequency in 4000 draws is within \
                five standard errors.",
    hypotheses: "uniform start",
    applies: super::always,
    citation: "Wendel 1962; arXiv:2312.10794, Theorem 6.7",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(8, 2, 0.0, "sa"), Case::new(6, 3, 0.0, "sa"), Case::new(12, 5, 0.0, "sa"), Case::new(10, 8, 0.0, "sa")],
    quick: 2,
    trials: (1, 5),
    trial: |case, ctx| frequency(case, ctx, probability(case.n, case.d)),
    control: Control {
        what: "the formula with d + 1 in place of d",
        trial: |ctx| frequency(&Case::new(6, 3, 0.0, "sa"), ctx, probability(6, 4)),
    },
};

const DRAWS: usize = 4000;

/// Five standard errors minus the deviation; the margin's own sampling error is booked as one standard error, so that the claim's width
/// covers it.
fn frequency(case: &Case, ctx: &mut Context, p: f64) -> Result<Finding> {
    let mut inside = 0usize;
    for _ in 0..DRAWS {
        inside += usize::from(matches!(hemisphere(&ctx.tokens(case, "uniform")?), Hemisphere::Open { .. }));
    }
    let deviation = (inside as f64 / DRAWS as f64 - p).abs();
    let standard_error = (p * (1.0 - p) / DRAWS as f64).sqrt();
    Ok(Finding::Margin(Margin { value: 5.0 * standard_error - deviation, sampling: standard_error, ..Margin::default() }))
}
