//! Random linear layers: pairs end together or opposite.

use crate::theorem::prelude::*;
use crate::theory::random_weights::together;

/// The inner product is a martingale on the scale `arcsin`.
///
/// # Derivation
///
/// Given x and y with `<x, y> = u`, V x and V y are normal vectors with covariances I/d and u I/d between them. Expanding `<x+, y+>` to
/// the second order in eta: its mean changes by `-(eta^2/d) u (1 - u^2)`, and its variance is `(2 eta^2/d)(1 - u^2)^2` (the linear term
/// is `<Vx, y - u x> + <Vy, x - u y>`). A function f(u) is a martingale if `-u (1 - u^2) f' + (1 - u^2)^2 f'' = 0`, that is `f''/f' =
/// u/(1 - u^2)`: `f = arcsin`. The process ends at u = 1 or -1, so the probability of 1 is `(arcsin(u_0) + pi/2)/pi`.
///
/// For every eta, not to second order only: let g be uniform on the sphere, `M = I + eta V`. Given M the signs of `<g, M x>` and `<g, M y>` differ with probability `angle(M x, M y)/pi`; given g the vector `M^T g = g + eta V^T g` is g
/// and an independent normal vector of law `N(0, eta^2 I/d)`, so without g its law is isotropic, and they differ with probability `angle(x, y)/pi`: the mean angle stays.
pub static ENTRY: Claim = Claim {
    name: "random-arcsin",
    title: "Random linear layers cluster pairs without attention: P(together) = 1/2 + arcsin(u0)/pi",
    statement: "x+ = N(x + eta V x), y+ = N(y + eta V y), V with normal entries of variance 1/d, d = 8, eta = 1/5, 800 layers: of 2000 pairs with <x, y> = u0 the share with <x, y> > 0 at the end is 1/2 + arcsin(u0)/pi within 4 standard errors and 0.02.",
    domain: Domain { d: Sizes::Fixed(8), beta: Betas::Linear(-0.9, 0.9), corners: &[], ..Domain::LAYERS },
    narrower: "beta is u0 here; d = 8 (the law is derived, the tolerance observed)",
    citation: "arXiv:2604.01978 and 2603.06187 (abstract); derived",
    trials: (3, 20),
    trial: |case, ctx| share(case, ctx, together(case.beta)?),
    control: Control {
        what: "the share of a martingale in <x, y> itself, (1 + u0)/2",
        trial: |ctx| share(&Case::new(2, 8, 0.77, "random layers"), ctx, 0.885),
    },
    ..Claim::LAW
};

fn share(case: &Case, ctx: &mut Context, stated: f64) -> Result<Finding> {
    // Four standard errors are 0.036 at u0 = 0.77, where the linear law is 0.105 away from the arcsine.
    const PAIRS: usize = 2000;
    let d = case.d;
    let mut noise = vec![0.0; 2 * d];
    let mut count = 0;
    for _ in 0..PAIRS {
        ctx.go_on()?;
        // y = u x + sqrt(1 - u^2) e; V x and V e are independent normals, and the law forgets directions: only u is kept.
        let mut u = case.beta;
        for _ in 0..800 {
            ctx.chance().normals(&mut noise);
            let (size, rest) = (0.2 / (d as f64).sqrt(), (1.0 - u * u).max(0.0).sqrt());
            let mut x: Vec<f64> = (0..d).map(|c| size * noise[c]).collect();
            let mut y: Vec<f64> = (0..d).map(|c| size * (u * noise[c] + rest * noise[d + c])).collect();
            x[0] += 1.0;
            y[0] += u;
            y[1] += rest;
            retract(&mut x);
            retract(&mut y);
            u = crate::num::sum::dot(&x, &y).clamp(-1.0, 1.0);
        }
        count += usize::from(u > 0.0);
    }
    let found = count as f64 / PAIRS as f64;
    let error = (stated * (1.0 - stated) / PAIRS as f64).sqrt();
    Ok(Finding::law(found, stated, 4.0 * error + 0.02, 0.0))
}
