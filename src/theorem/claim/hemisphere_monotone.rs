//! Hemispheres are invariant.

use super::{Case, Claim, Context, Control, Expected, Finding, plain};
use crate::attention::layer::Layer;
use crate::error::Result;
use crate::num::stats::nan_max;
use crate::sphere::cap::{Hemisphere, hemisphere};

/// `min_i <x_i, w>` does not decrease and the enclosing cap does not grow.
pub static ENTRY: Claim = Claim {
    name: "hemisphere-monotone",
    title: "Enclosing caps inside a hemisphere shrink",
    statement: "If the tokens lie in an open hemisphere and V = I with positive weights (SA, USA, causal), the radius of their smallest enclosing cap never \
                grows, in time and under layers of any step size.",
    hypotheses: "hemisphere start, V = I",
    applies: super::always,
    citation: "arXiv:2312.10794, proof of Lemma 6.4",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(6, 3, 2.0, "sa"), Case::new(5, 2, 1.0, "usa"), Case::new(8, 4, 3.0, "causal-sa"), Case::new(16, 3, 9.0, "sa")],
    quick: 3,
    trials: (6, 40),
    trial: |case, ctx| shrink(case, ctx),
    control: Control { what: "the repulsive flow", trial: |ctx| shrink(&Case::new(6, 3, 2.0, "repulsive-sa"), ctx) },
};

fn shrink(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let dynamics = plain(case.dynamics, case.beta, case.n)?;
    let mut x = ctx.tokens(case, "cap:radius=1.2")?;
    let mut scratch = vec![0.0; x.coordinates().len()];
    let radius = |x: &crate::sphere::Tokens| match hemisphere(x) {
        Hemisphere::Open { radius, .. } => radius,
        Hemisphere::None { .. } => std::f64::consts::PI,
    };
    let eta = [0.01, 0.3, 5.0, f64::INFINITY][ctx.stream.index(4)];
    let (mut before, mut worst) = (radius(&x), 0.0f64);
    let speed = if case.dynamics == "usa" { case.beta.exp() } else { 1.0 };
    for k in 0..20 {
        if k % 2 == 0 {
            x = super::flowed(dynamics.as_ref(), &x, 0.1 / speed, ctx.rtol)?;
        } else {
            Layer::new(eta)?.step(dynamics.as_ref(), &mut x, &mut scratch);
        }
        let after = radius(&x);
        worst = nan_max(worst, after - before);
        before = after;
    }
    // The radius itself is known to a few u sqrt(d); the flow's own error is proportional to its displacement, which shrinks the cap.
    Ok(Finding::at_most(worst, 1e-13))
}
