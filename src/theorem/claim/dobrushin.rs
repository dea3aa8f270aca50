//! Stability in the Wasserstein distance.

use super::{Case, Claim, Context, Control, Expected, Finding, flowed, plain};
use crate::continuity::{Medium, circle::Circle, density::Density, transport::w1};
use crate::error::Result;
use crate::sphere::Tokens;

/// With an explicit constant for the circle.
pub static ENTRY: Claim = Claim {
    name: "dobrushin",
    title: "USA on the circle: W1(mu_n(t), mu(t)) <= e^{2 e^beta t} W1(mu_n(0), mu(0))",
    statement: "Particles and the continuity equation, from any two starts: their W1 distance grows by the factor e^{2 e^beta t} at most (velocities are e^beta-Lipschitz in the place and, by duality, in the measure).",
    hypotheses: "circle, USA, t <= 1.5 e^{-beta}",
    applies: |case| case.dynamics == "usa" && case.d == 2,
    citation: "arXiv:2312.10794, Remark 3.3 (e^{O(1) t}); the constant derived from |(e^{beta cos} sin)'| <= e^beta",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(20, 2, 1.0, "usa"), Case::new(60, 2, 4.0, "usa"), Case::new(200, 2, 7.0, "usa")],
    quick: 2,
    trials: (3, 12),
    trial: |case, ctx| growth(case, ctx, 2.0),
    control: Control { what: "no growth at all", trial: |ctx| growth(&Case::new(60, 2, 7.0, "usa"), ctx, 0.0) },
};

fn growth(case: &Case, ctx: &mut Context, constant: f64) -> Result<Finding> {
    const CELLS: usize = 40_000;
    let angles: Vec<f64> = (0..case.n).map(|_| ctx.stream.uniform_in(0.0, std::f64::consts::TAU)).collect();
    let text = format!("cos:1={}", ctx.stream.uniform_in(0.0, 0.3));
    let start = Circle::from_density(&Density::parse(&text)?, 64)?;
    let t = 1.5 * (-case.beta).exp();
    let end = start.clone().evolve(&Medium::new("usa", case.beta, 0.0)?, t, 1024, |_, _| true)?.reached()?;
    let tokens = flowed(plain("usa", case.beta, case.n)?.as_ref(), &Tokens::from_angles(&angles)?, t, ctx.rtol)?;
    let (before, after) = (w1(&angles, &start, CELLS), w1(&tokens.angles(), &end, CELLS));
    let evaluation = std::f64::consts::TAU / CELLS as f64 / after;
    Ok(Finding::Margin(super::Margin { value: constant * 1.5 - (after / before).ln(), evaluation, ..super::Margin::default() }))
}
