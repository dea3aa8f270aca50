//! Tokens in R^d, V = I: the rescaled tokens tend to the boundary of a polytope.

use super::setting::{
    PARTS, UNIT, attention, depth_in_hull, evolve, near_identity, plane_diameter,
};
use crate::num::dense::transpose_mul;
use crate::theorem::prelude::*;

const TIME: f64 = 10.0;
const NEAR: f64 = 1e-3;

/// The theorem of the source for V = I, in the plane.
///
/// # Derivation
///
/// That the hull does not grow is short. With row sums of one `z_i' = sum_j A_ij (z_j - z_i)`. For
/// a direction `w` let `i` attain `max_i <w, z_i>`: every term of `<w, z_i'>` is at most 0. The
/// upper right derivative of a maximum of finitely many smooth functions is the largest derivative
/// among those that attain it, so no support function increases. Scores do not matter, the sign of
/// `V` does. So the hulls tend to a polytope `K`.
///
/// The rest is the theorem: the scores `e^{2t} <A z_i, z_j>` single out the vertices that are
/// farthest in the direction `A z_i`, and a token moves towards them at the rate 1. So it ends at a
/// vertex, or, in special cases, elsewhere on the boundary or at 0, where no direction is singled
/// out. The distance decreases like `e^{-t}`, which is `4.5e-5` at the time tested. A token that
/// starts within about `e^{-2t}` of 0 is still under way at the time `t`, so the test at a fixed
/// time is a test of typical starts.
pub static ENTRY: Claim = Claim {
    name: "rd-polytope",
    title: "`R^d`, `V = I`: tokens tend to the boundary of a polytope, or to 0",
    lets: "`V = I` and scores `<A x_i, x_j>`, where `A` is symmetric and positive definite",
    then: "The rescaled tokens `z = e^{-t} x` tend to the boundary of a convex polytope or to 0.",
    tested: "for normal tokens at `t = {TIME}`: every token is within {NEAR} of the boundary of \
             the hull or of 0, in units of the diameter at the start",
    numbers: &[("TIME", TIME), ("NEAR", NEAR), ("PARTS", PARTS)],
    domain: Domain { n: Sizes::Range(4, 12), d: Sizes::Fixed(2), ..UNIT },
    narrower: "`d = 2`, `A = R^T R` with `R = I + G/{PARTS}`, `G` normal",
    source: "arXiv:2305.05465, theorem on V = I, with the monotone hull of its proof (v6, as \
             quoted in a formal statement)",
    kind: Kind::Every(0.2),
    trials: (32, 200),
    trial: |case, ctx| near_boundary(ctx, case.n, 1.0),
    no_constant: "a limit in time without a constant",
    control: Control { what: "`V = -I`", trial: |ctx| near_boundary(ctx, 12, -1.0) },
    ..Claim::EVERY
};

fn near_boundary(ctx: &mut Context, n: usize, sign: f64) -> Result<Finding> {
    let (root, x) = (near_identity(ctx, 2), Tokens::flat(2, ctx.normals(2 * n))?);
    let (a, v) = (transpose_mul(&root, &root, 2), vec![sign, 0.0, 0.0, sign]);
    let dynamics = attention(1.0, n, 2, Some((2, a)), Some((2, v)), true)?;
    let z = evolve(ctx, &dynamics, &x, TIME, 1.0)?;
    Ok(Finding::answer(depth_in_hull(&z) < NEAR * plane_diameter(&x)))
}
