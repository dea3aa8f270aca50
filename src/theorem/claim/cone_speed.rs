//! The explicit speed in the proof of cone collapse, corrected.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::error::Result;
use crate::num::sum::dot;
use crate::sphere::{
    Tokens,
    cap::{Hemisphere, hemisphere},
};
use crate::theorem::conformance::velocity;

/// 2312.10794, (6.7)-(6.8) with `e^{2 beta}`.
pub static ENTRY: Claim = Claim {
    name: "cone-speed",
    title: "Speed of cone collapse, corrected exponent",
    statement: "While alpha = min_i <x_i, w> >= 1/2: at the minimising token, d/dt <x_i, w> >= (1 - alpha) / (2 n e^{2 beta}) for SA, where w is a point of \
                the conic hull of the tokens (tested with the centre of their smallest cap).",
    hypotheses: "cap of radius at most pi/3, Q^T K = I",
    applies: |case| case.beta >= 0.0,
    citation: "arXiv:2312.10794, (6.7)-(6.8)",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(2, 2, 5.0, "sa"), Case::new(6, 3, 2.0, "sa"), Case::new(12, 2, 4.0, "sa"), Case::new(4, 6, 8.0, "sa")],
    quick: 3,
    trials: (30, 200),
    trial: |case, ctx| {
        let x = ctx.tokens(case, "cap:radius=1.0471")?;
        speed(case, &x, 2.0)
    },
    control: Control { what: "the exponent as printed, e^{beta}: two tokens at +-60 degrees, beta = 5", trial: |_| printed() },
};

/// Margin of the speed bound with `e^{exponent beta}`, relative to the bound.
pub fn speed(case: &Case, x: &Tokens, exponent: f64) -> Result<Finding> {
    let Hemisphere::Open { w, .. } = hemisphere(x) else { return Ok(Finding::Missed) };
    let v = velocity(case.build()?.as_ref(), x);
    let heights: Vec<f64> = x.rows().map(|r| dot(r, &w)).collect();
    let low = (0..x.n()).min_by(|&a, &b| heights[a].total_cmp(&heights[b])).unwrap_or(0);
    if heights[low] < 0.5 - 1e-12 {
        return Ok(Finding::Missed);
    }
    let bound = (1.0 - heights[low]) / (2.0 * x.n() as f64) * (-exponent * case.beta).exp();
    let rise = dot(&v[low * x.d()..(low + 1) * x.d()], &w);
    Ok(Finding::at_most(-rise / bound, -1.0))
}

/// The known counterexample to the printed exponent: two tokens at +-60 degrees.
pub fn printed() -> Result<Finding> {
    at_sixty_degrees(1.0)
}

/// The corrected bound at the same tokens.
pub fn corrected() -> Result<Finding> {
    at_sixty_degrees(2.0)
}

fn at_sixty_degrees(exponent: f64) -> Result<Finding> {
    let third = std::f64::consts::FRAC_PI_3;
    speed(&Case::new(2, 2, 5.0, "sa"), &Tokens::from_angles(&[third, -third])?, exponent)
}

/// The trial of the printed claim: the counterexample itself.
pub fn printed_trial(_: &Case, _: &mut Context) -> Result<Finding> {
    printed()
}
