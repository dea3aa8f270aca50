//! Slow motion: the gradient dominates the energy gap within a cap.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::error::Result;

/// 2410.06833, section 3 (Otto and Reznikoff), with the constant as measured.
pub static ENTRY: Claim = Claim {
    name: "cap-inequality",
    title: "Within a cap |grad E|^2 >= 2 kappa (E_max - E), kappa near 1/n",
    statement: "Circle, n tokens with all distances at most (1/8) sqrt((1 - delta)/(beta + 1/2)), delta = 1/2, E = (1/(2 beta n^2)) sum e^{beta (cos - 1)}: |grad E|^2 >= 2 kappa (E_max - E) with kappa = 0.95/n.",
    hypotheses: "tokens in one small cap",
    applies: |case| case.d == 2,
    citation: "arXiv:2410.06833, section 3 (quantitative inequality; its printed constant 2c is c/2)",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(5, 2, 4.0, "usa"), Case::new(20, 2, 50.0, "usa"), Case::new(3, 2, 1000.0, "usa")],
    quick: 3,
    trials: (20, 200),
    trial: |case, ctx| ratio(case, ctx, 0.95),
    control: Control { what: "kappa = 1.05/n", trial: |ctx| ratio(&Case::new(5, 2, 4.0, "usa"), ctx, 1.05) },
};

fn ratio(case: &Case, ctx: &mut Context, constant: f64) -> Result<Finding> {
    let (n, beta) = (case.n as f64, case.beta);
    let width = 0.125 * (0.5 / (beta + 0.5)).sqrt();
    let angles: Vec<f64> = (0..case.n).map(|_| ctx.stream.uniform_in(0.0, width)).collect();
    let (mut gap, mut square) = (0.0, 0.0);
    for i in 0..case.n {
        let mut slope = 0.0;
        for j in 0..case.n {
            let t = angles[j] - angles[i];
            let exponent = -2.0 * beta * (0.5 * t).sin().powi(2);
            gap -= exponent.exp_m1() / (2.0 * beta * n * n);
            slope += exponent.exp() * t.sin() / (n * n);
        }
        square += slope * slope;
    }
    Ok(Finding::exact(square / (2.0 * gap) * n / constant - 1.0))
}
