//! The smallest inner product rises once all are nonnegative.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::error::Result;
use crate::num::stats::nan_max;
use crate::sphere::{
    Tokens,
    cap::{Hemisphere, hemisphere},
};
use crate::theorem::conformance::velocity;

/// `min_ij G_ij` is nondecreasing while it is nonnegative.
pub static ENTRY: Claim = Claim {
    name: "min-inner",
    title: "min <x_i, x_j> rises while it is nonnegative",
    statement: "If min_ij <x_i, x_j> >= 0, its derivative at every minimising pair is >= 0 (V = I, any positive weights).",
    hypotheses: "all tokens pairwise non-obtuse",
    applies: super::always,
    citation: "Gram equation: G_kj - G_ik G_ij >= m - m G_ik >= 0; corrects the folklore version for hemispheres",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(5, 3, 2.0, "sa"), Case::new(8, 4, 6.0, "sa"), Case::new(6, 3, 1.0, "usa"), Case::new(5, 3, 20.0, "sa")],
    quick: 3,
    trials: (40, 400),
    trial: |case, ctx| {
        let x = ctx.tokens(case, "cap:radius=0.785")?;
        derivative(case, &x)
    },
    control: Control { what: "the obtuse counterexample in a hemisphere", trial: |_| folklore() },
};

/// Derivative of the smallest inner product, over the largest speed.
pub fn derivative(case: &Case, x: &Tokens) -> Result<Finding> {
    let v = velocity(case.build()?.as_ref(), x);
    let row = |i: usize| &v[i * case.d..(i + 1) * case.d];
    let pairs = (0..x.n()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let Some((i, j)) = pairs.min_by(|a, b| x.inner(a.0, a.1).total_cmp(&x.inner(b.0, b.1))) else { return Ok(Finding::Missed) };
    let slope = crate::num::sum::dot(row(i), x.row(j)) + crate::num::sum::dot(row(j), x.row(i));
    let speed = v.iter().fold(f64::MIN_POSITIVE, |m, a| nan_max(m, a.abs()));
    Ok(Finding::at_most(-slope / speed, 1e-13))
}

/// Three tokens with inner products -0.5, -0.4, -0.4 and masses 1/5, 1/5, 3/5: linearly independent, hence in a hemisphere, yet at beta = 0
/// the smallest inner product falls, because the heavy token pulls the two others apart: `(1+m) + 3c < 0` at m = -0.5, c = -0.4.
pub fn folklore() -> Result<Finding> {
    let side = 0.75f64.sqrt();
    let x = vec![1.0, 0.0, 0.0, -0.5, side, 0.0, -0.4, -0.6 / side, 0.6];
    let x = Tokens::new(3, x)?.with_masses(&[0.2, 0.2, 0.6])?;
    match hemisphere(&x) {
        Hemisphere::Open { .. } => derivative(&Case::new(3, 3, 0.0, "sa"), &x),
        Hemisphere::None { .. } => Ok(Finding::Missed),
    }
}

/// The corrected claim at pairwise acute tokens.
pub fn acute() -> Result<Finding> {
    derivative(&Case::new(3, 2, 0.0, "sa"), &Tokens::from_angles(&[0.0, 0.5, 1.3])?)
}

/// The trial of the folklore claim.
pub fn folklore_trial(_: &Case, _: &mut Context) -> Result<Finding> {
    folklore()
}
