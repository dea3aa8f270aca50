//! Large beta: a density whose limit has two atoms.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::continuity::{Medium, circle::Circle, density::Density, lagrangian::Lagrangian};
use crate::error::Result;

/// Why the small-beta theorem needs its bound.
pub static ENTRY: Claim = Claim {
    name: "two-atoms",
    title: "Large beta: two opposite bumps collapse to two atoms although the mean is not 0",
    statement: "Bumps of masses alpha and 1 - alpha at opposite points, symmetric about their axis, mean at least 0.1: each collapses onto the axis; at the end at least 95 % of 1 - alpha lie within 0.05 of the \
                smaller one's centre, for ever (the antipodal pair stands still).",
    hypotheses: "circle, concentration 50, beta >= 6",
    applies: |case| case.beta >= 6.0,
    citation: "arXiv:2504.14697, Example 2.6 (parameters not printed); this instance derived",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(200, 2, 8.0, "sa"), Case::new(200, 2, 6.0, "usa"), Case::new(200, 2, 20.0, "sa")],
    quick: 2,
    trials: (1, 4),
    trial: kept,
    control: Control { what: "beta = 0.1", trial: |ctx| kept(&Case::new(200, 2, 0.1, "sa"), ctx) },
};

fn kept(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let alpha = ctx.stream.uniform_in(0.56, 0.75);
    let text = format!("vmf:kappa=50,at=0,mass={alpha}+vmf:kappa=50,at={},mass={}", std::f64::consts::PI, 1.0 - alpha);
    let start = Circle::from_density(&Density::parse(&text)?, 96)?;
    // Twelve times the time in which each bump shrinks by e.
    let clock = if case.dynamics == "usa" { (-case.beta).exp() / (1.0 - alpha) } else { 1.0 };
    // An odd number of points beside the axis: none starts on it but at 0.
    let end = Lagrangian::on_circle(&start, case.n + 1)?
        .evolve(&Medium::new(case.dynamics, case.beta, 0.0)?, 12.0 * clock, |_, _| true)?
        .reached()?;
    let near: f64 = end.x.angles().iter().zip(end.x.masses()).filter(|(t, _)| std::f64::consts::PI - t.abs() < 0.05).map(|(_, m)| m).sum();
    Ok(Finding::exact(near / (1.0 - alpha) - 0.95))
}
