//! Tokens in R^d under a paranormal V, with scores that mix its two subspaces.

use super::setting::{
    PARTS, UNIT, attention, depth_in_hull, evolve, near_identity, plane_diameter,
};
use crate::num::dense::transpose_mul;
use crate::theorem::prelude::*;

const TIME: f64 = 12.0;
const NEAR: f64 = 1e-3;

/// One estimate of the printed proof needs scores that respect the two subspaces. This claim tests
/// the conclusion without this hypothesis.
pub static ENTRY: Claim = Claim {
    name: "rd-paranormal",
    title: "`R^3`, `V = diag(1, 1, -1/2)`: tokens tend to the boundary of a polygon times a line, \
            for any positive scores",
    lets: "`V = diag(1, 1, -1/2)` and scores `<A x_i, x_j>`, where `A` is symmetric and positive \
           definite",
    then: "The rescaled tokens `z` tend to the boundary of a polygon in the plane of `(z_1, z_2)`, \
           times a line, or `(z_1, z_2)` tends to 0.",
    tested: "at `t = {TIME}`: `(z_1, z_2)` is within {NEAR} of the boundary of its convex hull or \
             of 0, in units of the diameter at the start (the hull may shrink to a point)",
    numbers: &[("TIME", TIME), ("NEAR", NEAR), ("PARTS", PARTS)],
    domain: Domain { n: Sizes::Range(5, 10), d: Sizes::Fixed(3), ..UNIT },
    narrower: "`A = R^T R` with `R = I + G/{PARTS}`, `G` normal",
    source: "arXiv:2305.05465, theorem on paranormal V (v6, as quoted in a formal statement; its \
             proof covers scores that respect the two subspaces)",
    status: Status::Open,
    kind: Kind::Every(0.25),
    trials: (28, 200),
    trial: |case, ctx| near_boundary(ctx, case.n, 1.0),
    no_constant: "a limit in time without a constant",
    control: Control {
        what: "`V = diag(-1, -1, -1/2)`, under which there is no leader",
        trial: |ctx| near_boundary(ctx, 10, -1.0),
    },
    ..Claim::EVERY
};

fn near_boundary(ctx: &mut Context, n: usize, first: f64) -> Result<Finding> {
    let (x, root) = (Tokens::flat(3, ctx.normals(3 * n))?, near_identity(ctx, 3));
    let a = transpose_mul(&root, &root, 3);
    let v = vec![first, 0.0, 0.0, 0.0, first, 0.0, 0.0, 0.0, -0.5];
    let dynamics = attention(1.0, n, 3, Some((3, a)), Some((3, v)), true)?;
    let z = evolve(ctx, &dynamics, &x, TIME, 1.0)?;
    Ok(Finding::answer(depth_in_hull(&z) < NEAR * plane_diameter(&x)))
}
