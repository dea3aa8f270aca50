//! Largest inner product between orthogonal caps.

use super::{Case, Claim, Context, Control, Expected, Finding, always};
use crate::error::Result;

/// 2410.06833, section 4, with the order corrected: 4 sqrt(eps), not eps^2 + 2 eps.
pub static ENTRY: Claim = Claim {
    name: "cap-overlap",
    title: "Orthogonal caps overlap by at most 4 sqrt(eps)",
    statement: "alpha = max <x, y> over x, y in the caps <., w> >= 1 - 2 eps of orthogonal centres is sin(2 arccos(1 - 2 eps)) <= 4 sqrt(eps).",
    hypotheses: "eps in (0, 1/16)",
    applies: always,
    citation: "arXiv:2410.06833, section 4 (the printed bound eps^2 + 2 eps is false)",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(2, 2, 0.0, "sa"), Case::new(2, 5, 0.0, "sa"), Case::new(2, 64, 0.0, "sa")],
    quick: 3,
    trials: (50, 400),
    trial: |_, ctx| overlap(ctx, |eps| 4.0 * eps.sqrt()),
    control: Control { what: "the bound 2 sqrt(eps)", trial: |ctx| overlap(ctx, |eps| 2.0 * eps.sqrt()) },
};

/// The bound minus the extreme pair of the plane of the centres, at a random eps.
pub fn overlap(ctx: &mut Context, bound: fn(f64) -> f64) -> Result<Finding> {
    let eps = 10f64.powf(ctx.stream.uniform_in(-6.0, -1.3));
    let r = (1.0 - 2.0 * eps).acos();
    let (x, y) = ([r.cos(), r.sin()], [r.sin(), r.cos()]);
    Ok(Finding::exact(bound(eps) - (x[0] * y[0] + x[1] * y[1])))
}
