//! Large beta at fixed density: attention becomes local.

use super::{Case, Claim, Context, Control, Expected, Finding, always, usa_entropy};
use crate::continuity::{Medium, circle::Circle, density::Density};
use crate::error::Result;

/// The moderate interaction regime: backward heat (SA) and backward porous medium flow (USA).
pub static ENTRY: Claim = Claim {
    name: "local-limit",
    title: "beta -> infinity: beta v tends to grad log rho (SA) and, over integral e^{beta <x,y>} dy, to grad rho (USA)",
    statement: "For a fixed smooth density the distance of beta v from grad log rho (SA: the measure runs the heat equation backwards) or of beta v / lambda_0 from grad rho (USA: a porous medium equation backwards) \
                is of order 1/beta: from beta to 3 beta it shrinks by 1/3 within a fifth.",
    hypotheses: "circle, densities with up to 3 modes, beta >= 60",
    applies: always,
    citation: "arXiv:2509.25040 (moderate interaction, abstract); Sinkformers, arXiv:2110.11773 (small bandwidth); order derived",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(1, 2, 60.0, "sa"), Case::new(1, 2, 60.0, "usa"), Case::new(1, 2, 90.0, "sa")],
    quick: 2,
    trials: (4, 20),
    trial: |case, ctx| order(case, ctx, case.dynamics),
    control: Control { what: "USA against the limit of SA", trial: |ctx| order(&Case::new(1, 2, 60.0, "usa"), ctx, "sa") },
};

fn order(case: &Case, ctx: &mut Context, limit: &str) -> Result<Finding> {
    let a = usa_entropy::coefficients(ctx, 3);
    let text = format!("cos:1={},2={}+sin:3={}", a[0], 0.7 * a[1], 0.4 * a[2]);
    let rho = Circle::from_density(&Density::parse(&text)?, 32)?;
    let points = 256;
    let values = rho.values(points);
    let slope = rho.slope(points);
    let distance = |beta: f64| -> Result<f64> {
        let v = rho.velocity(&Medium::new(case.dynamics, beta, 0.0)?, points);
        let scale = if case.dynamics == "usa" { beta / crate::num::bessel::scaled_bessel_i(0, beta)[0] / beta.exp() } else { beta };
        let target = |j: usize| if limit == "usa" { slope[j] } else { slope[j] / values[j] };
        Ok((0..points).fold(0.0f64, |m, j| m.max((scale * v[j] - target(j)).abs())))
    };
    let (near, far) = (distance(case.beta)?, distance(3.0 * case.beta)?);
    Ok(Finding::at_most((3.0 * far / near - 1.0).abs(), 0.2))
}
