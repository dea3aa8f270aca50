//! Growth of the modes of the uniform measure, by the nonlinear equation.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::attention::TimeScale;
use crate::continuity::{Medium, circle::Circle, density::Density, zonal::Zonal};
use crate::error::Result;
use crate::theory::growth::{rates_sa, rates_usa};

/// Linearisation at the uniform measure (Funk-Hecke).
pub static ENTRY: Claim = Claim {
    name: "mode-growth",
    title: "Modes of the uniform measure grow at r_k = k (k + d - 2) lambda_k / beta (USA), over lambda_0 (SA)",
    statement: "The continuity equation started at 1 + 1e-6 P_k: the k-th coefficient grows at the rate r_k, relative deviation at most 1e-4.",
    hypotheses: "beta >= 0, k = 1..6",
    applies: |case| case.beta >= 0.0,
    citation: "derived (Funk-Hecke); arXiv:2410.23228 for the circle, up to the time scale",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[
        Case::new(1, 2, 5.0, "usa"),
        Case::new(1, 2, 7.0, "sa"),
        Case::new(1, 3, 5.0, "usa"),
        Case::new(1, 8, 7.0, "sa"),
        Case::new(1, 64, 50.0, "sa"),
    ],
    quick: 3,
    trials: (3, 12),
    trial: |case, ctx| deviation(case, ctx, 1.0),
    control: Control { what: "rates larger by a thousandth", trial: |ctx| deviation(&Case::new(1, 2, 5.0, "usa"), ctx, 1.001) },
};

/// Relative deviation of the measured rate of a random mode from `factor` times the formula.
pub fn deviation(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let (d, beta, k) = (case.d, case.beta, 1 + ctx.stream.index(6));
    let rates = if case.dynamics == "usa" { rates_usa(d, beta, 6, TimeScale::U1, 2)? } else { rates_sa(d, beta, 6)? };
    let medium = Medium::new(case.dynamics, beta, 0.0)?;
    let t = 0.2 / rates.iter().fold(1.0f64, |m, r| m.max(*r));
    let density = Density::parse(&format!("cos:{k}=1e-6"))?;
    let growth = if d == 2 {
        let start = Circle::from_density(&density, 32)?;
        let first = start.c[k].re;
        start.evolve(&medium, t, 64, |_, _| true)?.reached()?.c[k].re / first
    } else {
        let start = Zonal::from_density(&density, d, 16)?;
        let first = start.b[k];
        start.evolve(&medium, t, 32, |_, _| true)?.reached()?.b[k] / first
    };
    Ok(Finding::at_most((growth.ln() / t / (factor * rates[k]) - 1.0).abs(), 1e-4))
}
