//! The curvature identity.

use super::setting::{ROUNDINGS, hessian_rounding};
use crate::sphere::geometry::project;
use crate::theorem::prelude::*;

/// A sum of second derivatives, at every configuration.
///
/// # Derivation
///
/// For tangent `u_i` and `a_ij = <u_i, x_j>` the second derivative along geodesics is `Hess[U, U] =
/// sum m_i m_j e^{beta G_ij} (<u_i, u_j> + beta a_ij (a_ij + a_ji) - G_ij |u_i|^2)`. Take `u_i =
/// P_{x_i} v` and sum over an orthonormal basis `v`. With `G = G_ij` and `P_i = P_{x_i}`: `sum <P_i
/// v, P_j v> = tr(P_i P_j) = d - 2 + G^2`, `sum |P_i v|^2 = d - 1`, `sum a_ij^2 = |P_i x_j|^2 = 1 -
/// G^2`, `sum a_ij a_ji = <P_i x_j, P_j x_i> = -G (1 - G^2)`.
///
/// So the bracket becomes `d - 2 + G^2 - (d-1) G + beta (1 - G^2)(1 - G)`, and `d - 2 + G^2 - (d-1)
/// G = (1 - G)(d - 2 - G)`: the right-hand side. For `d >= 3` and `beta >= 0` no term is negative
/// and only those with `G = 1` vanish, so every configuration other than consensus has a direction
/// of positive curvature. For `d = 2` the bracket `-G + beta (1 - G^2)` has no definite sign.
pub static ENTRY: Claim = Claim {
    name: "curvature-identity",
    title: "The curvature of the energy, summed over displacements of all tokens along one vector",
    lets: "`U_v = (P_{x_i} v)_i` for a vector `v` of `R^d`, and `G_ij = <x_i, x_j>`",
    then: "At every configuration, the sum over an orthonormal basis `v` of `Hess E_beta[U_v, \
           U_v]` equals `sum_ij m_i m_j e^{beta G_ij} (1 - G_ij) [(d - 2 - G_ij) + beta (1 - \
           G_ij^2)]`. (At `beta = 0`, `E_beta` stands for `sum_ij m_i m_j G_ij/2`.)",
    tested: "to `{ROUNDINGS} eps (n + d + |beta|)` of the size of the terms, `sum_{i != j} m_i m_j \
             e^{beta G_ij} (2 d + 4 |beta| sin^2 theta_ij)`",
    numbers: &[("ROUNDINGS", ROUNDINGS)],
    domain: Domain { n: Sizes::Range(1, 32), d: Sizes::Range(2, 32), dynamics: &["usa"], ..PAIRS },
    source: "derived; it contains the theorem of arXiv:2405.18273 for this energy and d >= 3",
    trials: (60, 400),
    trial: |case, ctx| identity(case, ctx, case.beta),
    constant: "the factor of the right-hand side",
    control: Control {
        what: "the right-hand side at `beta + 1`",
        trial: |ctx| identity(&Case::with_random_masses(6, 3, 5.0, "usa"), ctx, 6.0),
    },
    ..Claim::IDENTITY
};

fn identity(case: &Case, ctx: &mut Context, beta: f64) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let energy = Energy::new(case.beta, EnergyScale::Mean);
    let (mut left, mut image) = (0.0, vec![0.0; x.coordinates().len()]);
    for axis in 0..case.d {
        let mut u = vec![0.0; x.coordinates().len()];
        for (row, x) in u.chunks_exact_mut(case.d).zip(x.rows()) {
            row[axis] = 1.0;
            project(x, row);
        }
        energy.scaled_hess_vec(&x, &u, &mut Workspace::default(), &mut image);
        left += dot(&u, &image);
    }
    let right: f64 = (0..case.n * case.n)
        .map(|p| {
            let (i, j) = (p / case.n, p % case.n);
            let g = x.inner(i, j);
            // 1 - g without cancellation.
            let gap = 0.5 * chord2(x.row(i), x.row(j));
            weight(beta, &x, i, j)
                * gap
                * ((case.d as f64 - 2.0 - g) + beta * sine(&x, i, j).powi(2))
        })
        .sum();
    let right = ctx.claimed_constant(right);
    Ok(Finding::identity((left - right).abs(), hessian_rounding(case, &x, case.d as f64, |_| true)))
}
