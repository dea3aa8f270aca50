//! The layer map of equiangular tokens.

use super::{Case, Claim, Context, Control, Expected, Finding, plain};
use crate::attention::layer::Layer;
use crate::error::Result;
use crate::num::stats::nan_max;
use crate::theory::equiangular::layer_map;

/// `rho' = ...` in closed form, for every step size.
pub static ENTRY: Claim = Claim {
    name: "layer-map",
    title: "Layers map equiangular tokens by a closed formula",
    statement: "The layer x <- normalise(x + eta sum_j A_ij x_j) keeps tokens equiangular and maps rho to the closed formula of the residual layer, for every eta in (0, inf]: \
                deviation after five layers at most 1e-13.",
    hypotheses: "SA, equiangular start, d >= n",
    applies: |case| case.dynamics == "sa" && case.d >= case.n,
    citation: "direct computation; eta = inf is the layer of arXiv:2510.05554",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(4, 4, 1.0, "sa"), Case::new(8, 10, 4.0, "sa"), Case::new(32, 32, 9.0, "sa")],
    quick: 3,
    trials: (12, 60),
    trial: |case, ctx| compare(case, ctx, case.n),
    control: Control { what: "the formula for n + 1 tokens", trial: |ctx| compare(&Case::new(4, 4, 1.0, "sa"), ctx, 5) },
};

fn compare(case: &Case, ctx: &mut Context, n: usize) -> Result<Finding> {
    let eta = [0.1, 1.0, 10.0, f64::INFINITY][ctx.stream.index(4)];
    let mut rho = ctx.stream.uniform_in(-0.9 / (case.n as f64 - 1.0), 0.6);
    let mut x = ctx.tokens(case, &format!("equiangular:rho={rho}"))?;
    let dynamics = plain("sa", case.beta, case.n)?;
    let mut scratch = vec![0.0; x.coordinates().len()];
    let mut worst = 0.0;
    for _ in 0..5 {
        Layer::new(eta)?.step(dynamics.as_ref(), &mut x, &mut scratch);
        rho = layer_map(n, case.beta, rho, eta);
        worst = (0..case.n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| (x.inner(i, j) - rho).abs()).fold(worst, nan_max);
    }
    Ok(Finding::at_most(worst, 1e-13))
}
