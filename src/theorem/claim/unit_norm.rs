//! Tokens stay on the sphere.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::attention::layer::Layer;
use crate::error::Result;
use crate::num::stats::nan_max;
use crate::num::sum::dot;
use crate::sphere::Tokens;

/// `|x_i| = 1`.
pub static ENTRY: Claim = Claim {
    name: "unit-norm",
    title: "Tokens stay on the sphere",
    statement: "||x_i| - 1| <= 4 ulp after every layer and at the end of an adaptive run.",
    hypotheses: "none",
    applies: super::always,
    citation: "arXiv:2312.10794, (2.3): the velocity is tangent",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(8, 3, 2.0, "sa"), Case::new(5, 64, 1.0, "usa"), Case::new(16, 2, 9.0, "causal-sa")],
    quick: 3,
    trials: (3, 10),
    trial: |case, ctx| {
        let dynamics = case.build()?;
        let mut x = ctx.tokens(case, "uniform")?;
        let mut worst = drift(&super::flowed(dynamics.as_ref(), &x, 3.0, ctx.rtol)?);
        let mut scratch = vec![0.0; x.coordinates().len()];
        for _ in 0..500 {
            Layer::new(0.1)?.step(dynamics.as_ref(), &mut x, &mut scratch);
            worst = nan_max(worst, drift(&x));
        }
        Ok(Finding::exact(4.0 * f64::EPSILON - worst))
    },
    control: Control { what: "explicit Euler without normalisation", trial: euler },
};

fn drift(x: &Tokens) -> f64 {
    x.rows().map(|r| (dot(r, r).sqrt() - 1.0).abs()).fold(0.0, nan_max)
}

fn euler(ctx: &mut Context) -> Result<Finding> {
    let case = Case::new(8, 3, 2.0, "sa");
    let x = ctx.tokens(&case, "uniform")?;
    let v = crate::theorem::conformance::velocity(case.build()?.as_ref(), &x);
    let moved: Vec<f64> = x.coordinates().iter().zip(&v).map(|(x, v)| x + 0.1 * v).collect();
    let worst = moved.chunks_exact(3).map(|r| (dot(r, r).sqrt() - 1.0).abs()).fold(0.0, nan_max);
    Ok(Finding::exact(4.0 * f64::EPSILON - worst))
}
