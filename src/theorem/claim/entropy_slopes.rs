//! The linear rate: slopes of the negentropy for separated clusters.

use super::{Case, Claim, Context, Control, Expected, Finding, always};
use crate::continuity::{Medium, circle::Circle, density::Density};
use crate::error::Result;

/// Derived from the kernel formulas.
pub static ENTRY: Claim = Claim {
    name: "entropy-slopes",
    title: "Well separated clusters: slope (d-1) e^beta sum alpha_q^2 (USA) and d - 1 (SA)",
    statement: "m narrow clusters of masses alpha_q, far apart: USA produces negentropy at (d-1) e^beta sum alpha_q^2, SA at d - 1 whatever m and beta; within 2 %.",
    hypotheses: "circle, m = 1, 2, 3 bumps of concentration 2000, equispaced, beta from 10 to 16",
    applies: always,
    citation: "derived; the talk's \"entropy decreases at a linear rate\"",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[
        Case::new(1, 2, 10.0, "usa"),
        Case::new(2, 2, 10.0, "usa"),
        Case::new(3, 2, 10.0, "sa"),
        Case::new(2, 2, 16.0, "sa"),
        Case::new(3, 2, 12.0, "usa"),
    ],
    quick: 4,
    trials: (2, 10),
    trial: |case, ctx| slope(case, ctx, if case.dynamics == "usa" { 2 } else { 0 }),
    control: Control { what: "sum alpha_q in place of sum alpha_q^2", trial: |ctx| slope(&Case::new(2, 2, 10.0, "usa"), ctx, 1) },
};

fn slope(case: &Case, ctx: &mut Context, power: i32) -> Result<Finding> {
    let raw: Vec<f64> = (0..case.n).map(|_| ctx.stream.uniform_in(0.6, 1.4)).collect();
    let total: f64 = raw.iter().sum();
    let terms: Vec<String> = raw
        .iter()
        .enumerate()
        .map(|(q, m)| {
            format!("vmf:kappa=2000,at={},mass={}", std::f64::consts::TAU * (q as f64 + 0.1) / case.n as f64, (m / total).min(1.0))
        })
        .collect();
    let rho = Circle::from_density(&Density::parse(&terms.join("+"))?, 512)?;
    let rate = rho.negentropy_rate(&Medium::new(case.dynamics, case.beta, 0.0)?);
    let expected = match power {
        0 => 1.0,
        p => case.beta.exp() * raw.iter().map(|m| (m / total).powi(p)).sum::<f64>(),
    };
    Ok(Finding::at_most((rate / expected - 1.0).abs(), 0.02))
}
