//! Reflection-symmetric data stay symmetric.

use super::{Case, Claim, Context, Control, Expected, Finding, flowed};
use crate::attention::{Spec, dynamics};
use crate::error::Result;
use crate::num::stats::nan_max;
use crate::sphere::Tokens;

/// Pairs mirrored in the first coordinate remain mirrored.
pub static ENTRY: Claim = Claim {
    name: "reflection",
    title: "Reflection-symmetric data stay symmetric",
    statement: "Tokens that come in pairs mirrored in a hyperplane stay mirrored (SA, USA): deviation at t = 1 at most 1e-10.",
    hypotheses: "Q = K = V = I, even n, mirrored start",
    applies: |case| case.n % 2 == 0 && !case.dynamics.starts_with("causal"),
    citation: "equivariance under O(d) and permutations",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(6, 3, 2.0, "sa"), Case::new(8, 2, 1.0, "usa"), Case::new(10, 5, 6.0, "sa")],
    quick: 3,
    trials: (4, 30),
    trial: |case, ctx| mirrored(case, ctx),
    control: Control {
        what: "causal SA, which treats the two halves differently",
        trial: |ctx| mirrored(&Case::new(6, 3, 2.0, "causal-sa"), ctx),
    },
};

fn mirrored(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let half = ctx.tokens(&Case { n: case.n / 2, ..*case }, "uniform")?;
    let flipped = half.rows().flat_map(|r| std::iter::once(-r[0]).chain(r[1..].iter().copied()));
    let x: Vec<f64> = half.coordinates().iter().copied().chain(flipped).collect();
    let dynamics = dynamics::build(case.dynamics, false, &Spec::new(case.beta, case.n))?;
    let end = flowed(dynamics.as_ref(), &Tokens::new(case.d, x)?, 1.0, ctx.rtol * 1e-2)?;
    let mut worst = 0.0;
    for i in 0..case.n / 2 {
        for (c, (a, b)) in end.row(i).iter().zip(end.row(i + case.n / 2)).enumerate() {
            worst = nan_max(worst, if c == 0 { (a + b).abs() } else { (a - b).abs() });
        }
    }
    Ok(Finding::at_most(worst, 1e-10))
}
