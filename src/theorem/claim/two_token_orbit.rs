//! Two tokens: SA and USA have the same orbit.

use super::{Case, Claim, Context, Control, Expected, Finding, flowed, plain};
use crate::error::Result;
use crate::num::quadrature::integrate;
use crate::num::stats::nan_max;

/// `dt_SA = ((e^beta + e^{beta rho}) / 2) dt_USA` at n = 2.
pub static ENTRY: Claim = Claim {
    name: "two-token-orbit",
    title: "n = 2: SA is USA in another time",
    statement: "For two tokens SA and USA trace the same orbit, with dt_SA = ((e^beta + e^{beta rho})/2) dt_USA: end points agree to 1e-8.",
    hypotheses: "n = 2, equal masses",
    applies: |case| case.n == 2,
    citation: "arXiv:2312.10794, section 3.4: at n = 2 the SA metric is conformal",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(2, 3, 1.0, "usa"), Case::new(2, 2, 4.0, "usa"), Case::new(2, 5, 0.0, "usa")],
    quick: 3,
    trials: (5, 40),
    trial: |case, ctx| compare(case, ctx, case.beta),
    control: Control { what: "the time change of another beta", trial: |ctx| compare(&Case::new(2, 3, 1.0, "usa"), ctx, 2.0) },
};

fn compare(case: &Case, ctx: &mut Context, beta: f64) -> Result<Finding> {
    let x = ctx.tokens(case, "cap:radius=1.2")?;
    let from = crate::sphere::geometry::dist(x.row(0), x.row(1));
    let end = flowed(case.build()?.as_ref(), &x, 0.8 * (-case.beta).exp(), ctx.rtol * 1e-3)?;
    let to = crate::sphere::geometry::dist(end.row(0), end.row(1));
    if to > from {
        // The pair moved apart: there is no SA time to compare with, and the claim fails by the gap.
        return Ok(Finding::exact(from - to));
    }
    // d theta = -closing speed dt_USA-orbit: t_SA = integral over the orbit of (e^b + e^{b rho})/2 / (e^{b rho} sin theta).
    let time = integrate(
        |theta| {
            let rho = theta.cos();
            0.5 * (beta.exp() + (beta * rho).exp()) / ((beta * rho).exp() * theta.sin())
        },
        to,
        from,
        1e-13,
    );
    let sa = flowed(plain("sa", case.beta, 2)?.as_ref(), &x, time.value, ctx.rtol * 1e-3)?;
    let worst = sa.coordinates().iter().zip(end.coordinates()).map(|(a, b)| (a - b).abs()).fold(0.0, nan_max);
    Ok(Finding::at_most(worst, 1e-8))
}
