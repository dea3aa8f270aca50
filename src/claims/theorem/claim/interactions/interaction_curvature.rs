//! The curvature identity for any interaction.

use super::setting::{DRAWN, any_interaction};
use crate::attention::interaction::InteractionEnergy;
use crate::sphere::geometry::project;
use crate::theorem::prelude::*;

const ROUNDINGS: f64 = 32.0;

/// A sum of second derivatives, at every configuration.
///
/// # Derivation
///
/// For tangent `u_i` and `a_ij = <u_i, x_j>` the second derivative along geodesics is `Hess[U, U] =
/// sum m_i m_j [phi(G) (<u_i, u_j> - G |u_i|^2) + phi'(G) a_ij (a_ij + a_ji)]` with `G = G_ij`.
/// Take `u_i = P_i v` and sum over an orthonormal basis `v`: `sum <P_i v, P_j v> = d - 2 + G^2`,
/// `sum |P_i v|^2 = d - 1`, `sum a_ij^2 = 1 - G^2` and `sum a_ij a_ji = -G (1 - G^2)`. The factor
/// of `phi` becomes `d - 2 + G^2 - (d-1) G = (1 - G)(d - 2 - G)`, that of `phi'` `(1 - G^2)(1 -
/// G)`.
pub static ENTRY: Claim = Claim {
    name: "interaction-curvature",
    title: "The curvature identity for any interaction",
    lets: "`U_v = (P_i v)_i` for a vector `v` of `R^d`, `G = <x_i, x_j>`, and `E = (1/2) sum_ij \
           m_i m_j W(G)` with `W' = phi`",
    then: "At every configuration, the sum over an orthonormal basis `v` of `Hess E[U_v, U_v]` \
           equals `sum_ij m_i m_j (1 - G) [(d - 2 - G) phi(G) + (1 - G^2) phi'(G)]`.",
    tested: "to `{ROUNDINGS} eps (n + d)(d max |phi| + 2 max |phi'|)`",
    numbers: &[("ROUNDINGS", ROUNDINGS)],
    domain: Domain { n: Sizes::Range(1, 24), d: Sizes::Range(2, 24), ..DRAWN },
    narrower: "interactions without kinks",
    source: "derived; it contains the theorem of arXiv:2405.18273 for d >= 3",
    trials: (40, 300),
    trial: |case, ctx| identity(case, ctx, 2.0),
    constant: "the factor of the right-hand side",
    control: Control {
        what: "the right-hand side in one dimension more",
        trial: |ctx| {
            identity(&Case::with_random_masses(6, 3, 0.0, "").with_law("uniform"), ctx, 1.0)
        },
    },
    ..Claim::IDENTITY
};

fn identity(case: &Case, ctx: &mut Context, shift: f64) -> Result<Finding> {
    let (x, phi, d) = (ctx.tokens(case)?, any_interaction(ctx)?, case.d);
    let energy = InteractionEnergy::new(phi.clone());
    let mut left = 0.0;
    for axis in 0..d {
        let mut u = vec![0.0; x.coordinates().len()];
        for (row, x) in u.chunks_exact_mut(d).zip(x.rows()) {
            row[axis] = 1.0;
            project(x, row);
        }
        left += dot(&u, &energy.hess_vec(&x, &u));
    }
    let mut right = 0.0;
    for (i, j) in pairs(case.n) {
        // 1 - G without cancellation; each pair occurs twice.
        let gap = 0.5 * chord2(x.row(i), x.row(j));
        let g = 1.0 - gap;
        let bracket =
            (d as f64 - shift - g) * phi.value(g)? + sine(&x, i, j).powi(2) * phi.derivative(g)?;
        right += 2.0 * x.masses()[i] * x.masses()[j] * gap * bracket;
    }
    let right = ctx.claimed_constant(right);
    let (size, slope) = phi.sizes();
    let allowed = ROUNDINGS * f64::EPSILON * (case.n + d) as f64 * (d as f64 * size + 2.0 * slope);
    Ok(Finding::identity((left - right).abs(), allowed))
}
