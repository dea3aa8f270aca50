//! Normalisation schemes: a common clock changes the time alone.

use super::ln_curve::run;
use crate::attention::normalisation::{Damped, LnScaling, Post, Pre, Scheme};
use crate::theorem::prelude::*;

/// Also literal LN scaling against pre: `s` and `rho` carry the same factor.
///
/// # Derivation
///
/// If x' = g(t) f(x) with one positive function g for all components, then x(t) = y(tau(t)), where y' = f(y) and tau' = g, tau(0) = 0.
/// CoD is g f with g = 1/sqrt(t+1) and f the field of post, so tau = 2 (sqrt(t+1) - 1). Literal LN scaling has theta' = P a/(r sqrt(t+1))
/// and r' = `<theta, a>`/sqrt(t+1): again one factor, before the whole field of pre.
/// The clocks of CoD against pre are 1/sqrt(t+1) and 1/r_i, which differ between tokens: no change of time makes one of the other (the
/// control).
pub static ENTRY: Claim = Claim {
    name: "ln-time-change",
    title: "CoD is post, and LN scaling is pre, at the time 2 (sqrt(t+1) - 1)",
    statement: "Any tokens and radii: CoD at time t is post at 2 (sqrt(t+1) - 1), and literal LN scaling at t is pre there, coordinates to 1e-9 and radii to 1e-9 relative.",
    domain: Domain::LAYERED,
    narrower: "Q = K = V = I",
    citation: "arXiv:2510.22026, Section 4 (time change; needs a clock common to all tokens)",
    trials: (10, 60),
    trial: |case, ctx| if ctx.index(2) == 0 { same(case, ctx, Damped, Post) } else { same(case, ctx, LnScaling, Pre) },
    perturbed: "the time",
    control: Control {
        what: "CoD against pre, whose clocks are the tokens' own",
        trial: |ctx| same(&Case::new(5, 3, 1.0, "sa"), ctx, Damped, Pre),
    },
    ..Claim::IDENTITY
};

fn same(case: &Case, ctx: &mut Context, slow: Scheme, fast: Scheme) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let radii: Vec<f64> = (0..case.n).map(|_| ctx.log_uniform_in(0.5, 3.0)).collect();
    let t = ctx.uniform_in(0.5, 6.0);
    let late = run(ctx, slow, case.beta, x.clone(), &radii, t)?;
    let t = ctx.stated(2.0 * ((t + 1.0).sqrt() - 1.0));
    let early = run(ctx, fast, case.beta, x, &radii, t)?;
    let off = late.coordinates().iter().zip(early.coordinates()).map(|(a, b)| (a - b).abs()).fold(0.0, nan_max);
    let radii = late.own().iter().zip(early.own()).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, nan_max);
    Ok(Finding::identity(off.max(radii), 1e-9))
}
