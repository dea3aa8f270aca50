//! How fast particles approach the mean field.

use super::{Case, Claim, Context, Control, Expected, Finding, Margin, always, flowed, plain};
use crate::continuity::{Medium, circle::Circle, density::Density, transport::w1};
use crate::error::Result;
use crate::num::stats::slope;
use crate::sphere::Tokens;
use std::f64::consts::TAU;

/// Random starts and quantile starts.
pub static ENTRY: Claim = Claim {
    name: "mean-field-rate",
    title: "W1 between n particles and the mean field falls like n^{-1/2} for random starts, n^{-1} for quantiles",
    statement: "After t = 1 from 1 + 0.5 cos theta, n = 40, 160, 640: the slope of log E W1 over log n is -1/2 within 0.1 for random starts (24 draws each) and at most -0.95 for starts at the quantiles.",
    hypotheses: "circle, SA beta = 3, USA beta = 1",
    applies: always,
    citation: "arXiv:2312.10794, Remark 3.3; Fournier, Guillin 2015 for the sampling rate",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(640, 2, 3.0, "sa"), Case::new(640, 2, 1.0, "usa")],
    quick: 1,
    trials: (1, 3),
    trial: |case, ctx| rates(case, ctx, -0.5),
    control: Control { what: "slope -1 for random starts", trial: |ctx| rates(&Case::new(640, 2, 1.0, "usa"), ctx, -1.0) },
};

/// The distribution function of `1 + 0.5 cos theta` inverted by Newton's method.
fn quantile(level: f64) -> f64 {
    let mut t = TAU * level;
    for _ in 0..60 {
        t -= (t + 0.5 * t.sin() - TAU * level) / (1.0 + 0.5 * t.cos());
    }
    t
}

fn rates(case: &Case, ctx: &mut Context, expected: f64) -> Result<Finding> {
    let start = Circle::from_density(&Density::parse("cos:1=0.5")?, 64)?;
    let end = start.evolve(&Medium::new(case.dynamics, case.beta, 0.0)?, 1.0, 1024, |_, _| true)?.reached()?;
    let distance = |angles: &[f64]| -> Result<f64> {
        let x = flowed(plain(case.dynamics, case.beta, angles.len())?.as_ref(), &Tokens::from_angles(angles)?, 1.0, 1e-7)?;
        Ok(w1(&x.angles(), &end, 40_000))
    };
    let (mut random, mut quantiles) = (Vec::new(), Vec::new());
    for n in [40usize, 160, 640] {
        let mut sum = 0.0;
        for _ in 0..24 {
            let angles: Vec<f64> = (0..n).map(|_| quantile(ctx.stream.uniform())).collect();
            sum += distance(&angles)?;
        }
        random.push(((n as f64).ln(), (sum / 24.0).ln()));
        let middle: Vec<f64> = (0..n).map(|i| quantile((i as f64 + 0.5) / n as f64)).collect();
        quantiles.push(((n as f64).ln(), distance(&middle)?.ln()));
    }
    let value = (0.1 - (slope(&random) - expected).abs()).min(-0.95 - slope(&quantiles));
    // W1 of one draw varies by 40 %: 0.4 sqrt(2/24) / log 16 in the slope; one such error, since 0.1 is three of them.
    Ok(Finding::Margin(Margin { value, sampling: 0.0, evaluation: 1e-3, ..Margin::default() }))
}
