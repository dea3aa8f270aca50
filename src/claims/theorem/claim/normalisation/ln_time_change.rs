//! Normalisation schemes: a factor common to all tokens only changes the time.

use super::ln_curve::run;
use crate::attention::normalisation::{Cod, LnScaling, Post, Pre, Scheme};
use crate::theorem::prelude::*;

/// Literal LN scaling compared with pre: `s` and `rho` have the same additional factor.
///
/// # Derivation
///
/// If x' = g(t) f(x) with one positive function g for all components, then x(t) = y(tau(t)), where
/// y' = f(y) and tau' = g, tau(0) = 0. CoD is g f with g = 1/sqrt(t+1) and f the field of post, so
/// tau = 2 (sqrt(t+1) - 1). Literal LN scaling has theta' = P a/(r sqrt(t+1)) and r' =
/// `<theta, a>`/sqrt(t+1): again one factor of the whole field of pre.
/// For pre the factors 1/r_i differ between tokens, so no change of time turns CoD into pre (the
/// control).
pub static ENTRY: Claim = Claim {
    name: "ln-time-change",
    title: "CoD is post, and LN scaling is pre, after the time change 2 (sqrt(t+1) - 1)",
    then: "For any tokens and radii, CoD at time t equals post at the time 2 (sqrt(t+1) - 1), and \
           literal LN scaling at time t equals pre at this time.",
    tested: "to 1e-9 for coordinates and to a relative 1e-9 for radii",
    domain: Domain::LAYERED,
    narrower: "Q = K = V = I",
    source: "arXiv:2510.22026, Section 4 (time change; needs a factor common to all tokens)",
    trials: (10, 60),
    trial: |case, ctx| {
        if ctx.index(2) == 0 { same(case, ctx, Cod, Post) } else { same(case, ctx, LnScaling, Pre) }
    },
    constant: "the time",
    control: Control {
        what: "CoD compared with pre, whose factors differ between tokens",
        trial: |ctx| same(&Case::new(5, 3, 1.0, "sa"), ctx, Cod, Pre),
    },
    ..Claim::IDENTITY
};

fn same(case: &Case, ctx: &mut Context, slow: Scheme, fast: Scheme) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let radii: Vec<f64> = (0..case.n).map(|_| ctx.log_uniform_in(0.5, 3.0)).collect();
    let t = ctx.uniform_in(0.5, 6.0);
    let late = run(ctx, slow, case.beta, x.clone(), &radii, t)?;
    let t = ctx.claimed_constant(2.0 * ((t + 1.0).sqrt() - 1.0));
    let early = run(ctx, fast, case.beta, x, &radii, t)?;
    let off = late
        .coordinates()
        .iter()
        .zip(early.coordinates())
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, nan_max);
    let radii = late
        .extra_numbers()
        .iter()
        .zip(early.extra_numbers())
        .map(|(a, b)| (a / b - 1.0).abs())
        .fold(0.0, nan_max);
    Ok(Finding::identity(off.max(radii), 1e-9))
}
