//! Tokens stay on the sphere.

use crate::theorem::prelude::*;

/// `|x_i| = 1`, after layers and along runs.
///
/// # Derivation
///
/// `<x_i, P_{x_i} y> = <x_i, y> - <x_i, x_i> <x_i, y> = 0` on the sphere, so |x_i|^2 has the
/// derivative 0; a layer divides by the length. What remains is rounding. With d <= 256 entries
/// added in 32 lanes the squared length has an error of 13 u, the length 8 u and the quotient 10 u
/// = 5 eps; the check itself has an error of 8 u = 4 eps. These are worst cases, with all roundings
/// of one sign; the claim requires 8 eps for their sum.
pub static ENTRY: Claim = Claim {
    name: "unit-norm",
    title: "Tokens stay on the sphere",
    then: "||x_i| - 1| <= 8 eps after every layer of any step in (0, inf], and at the end of an \
           adaptive run.",
    domain: Domain {
        n: Sizes::Range(1, 32),
        d: Sizes::Range(2, 256),
        corners: &[(2, 2, 0.0), (8, 3, 2.0), (16, 100, 9.0)],
        ..Domain::SYMMETRY
    },
    narrower: "Q = K = I, V = I or -I",
    source: "arXiv:2312.10794, (2.3): the velocity is tangent",
    trials: (30, 200),
    trial: drift,
    constant: "the norm 1",
    control: Control { what: "a step of Euler's method without normalisation", trial: euler },
    ..Claim::IDENTITY
};

/// A step of a layer: mean shift, or log-uniform over nine decades.
pub fn step(ctx: &mut Context) -> f64 {
    if ctx.index(6) == 0 { f64::INFINITY } else { ctx.log_uniform_in(1e-3, 1e6) }
}

fn drift(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let dynamics = case.build()?;
    let mut x = ctx.tokens(case)?;
    let (t, one) = (ctx.log_uniform_in(1e-3, 4.0) / case.lipschitz()?, ctx.claimed_constant(1.0));
    let mut worst = furthest(ctx.flow_to(&dynamics, &x, t)?.coordinates(), case.d, one);
    for _ in 0..10 {
        Layer::new(step(ctx))?.apply(&dynamics, &mut x);
        worst = nan_max(worst, furthest(x.coordinates(), case.d, one));
    }
    Ok(Finding::identity(worst, 8.0 * f64::EPSILON))
}

/// The largest deviation of a row's length from `one`.
fn furthest(x: &[f64], d: usize, one: f64) -> f64 {
    x.chunks_exact(d).map(|r| (norm(r) - one).abs()).fold(0.0, nan_max)
}

fn euler(ctx: &mut Context) -> Result<Finding> {
    let case = Case::with_random_masses(8, 3, 2.0, "sa");
    let x = ctx.tokens(&case)?;
    let v = ctx.velocity(&case, &x)?;
    let moved: Vec<f64> = x.coordinates().iter().zip(&v).map(|(x, v)| x + 0.1 * v).collect();
    Ok(Finding::identity(furthest(&moved, 3, 1.0), 8.0 * f64::EPSILON))
}
