//! The strict-saddle bound for any interaction.

use super::setting::{DRAWN, increasing_interaction};
use crate::attention::interaction::{Interaction, InteractionEnergy};
use crate::theorem::prelude::*;

const ROUNDING: f64 = 1e-9;

/// A lower bound on the largest curvature, positive except at consensus.
///
/// # Derivation
///
/// The largest eigenvalue is at least the mean curvature over any family of directions, weighted by
/// their squared lengths. For `U_v` over an orthonormal basis `v` the curvatures add up to the
/// right-hand side of `interaction-curvature`, and the squared lengths to `n (d-1)`. For `d >= 3`,
/// `phi > 0` and `phi' >= 0` no term is negative, and all vanish only if all inner products are 1.
///
/// Two opposite tokens attain the bound: there `Hess[U, U] = m_1 m_2 phi(-1) |u_1 + u_2|^2`, and
/// both sides are `2 m_1 m_2 phi(-1)`.
pub static ENTRY: Claim = Claim {
    name: "interaction-saddles",
    title: "Strict-saddle bound for increasing interactions, `d >= 3`",
    lets: "`d >= 3`, `G = <x_i, x_j>`, and `phi > 0` be increasing",
    then: "At every configuration, the largest eigenvalue of `Hess E` in the metric `sum_i \
           |u_i|^2` is at least `(1/(n (d-1))) sum_ij m_i m_j (1 - G) [(d - 2 - G) phi(G) + (1 - \
           G^2) phi'(G)]`, which is positive except at consensus. Two opposite tokens attain it.",
    tested: "with the factor 1 - {ROUNDING}",
    numbers: &[("ROUNDING", ROUNDING)],
    domain: Domain {
        n: Sizes::Range(2, 8),
        d: Sizes::Range(3, 8),
        laws: &["uniform", "clusters:k=2,spread=0.1", "simplex"],
        condition: Some(Condition {
            text: "`n <= d + 1` for a simplex",
            holds: |c| c.law != "simplex" || c.n <= c.d + 1,
        }),
        // Two opposite tokens: the simplex takes its turn here.
        corners: &[(2, 4, 0.0), (2, 5, 0.0), (2, 6, 0.0)],
        ..DRAWN
    },
    source: "derived from interaction-curvature; the landscape of arXiv:2405.18273",
    trials: (40, 300),
    trial: |case, ctx| {
        let phi = increasing_interaction(16.0, ctx)?;
        bound(case, ctx, phi, false)
    },
    constant: "the factor `1/(n (d-1))`",
    control: Control {
        what: "two opposite tokens under `e^s` and the bound without its division by `n (d-1)`",
        trial: |ctx| {
            let case = Case::with_random_masses(2, 3, 0.0, "").with_law("simplex");
            let phi = Interaction::parse("exp(s)", &[])?;
            bound(&case, ctx, phi, true)
        },
    },
    ..Claim::INEQUALITY
};

fn bound(case: &Case, ctx: &mut Context, phi: Interaction, whole: bool) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let spectrum = InteractionEnergy::new(phi.clone()).hessian_eigenvalues(&x)?;
    let top = spectrum.last().copied().unwrap_or(f64::NEG_INFINITY);
    let (n, d) = (case.n as f64, case.d as f64);
    let mut sum = 0.0;
    for (i, j) in pairs(case.n) {
        let gap = 0.5 * chord2(x.row(i), x.row(j));
        let g = 1.0 - gap;
        let bracket =
            (d - 3.0 + gap) * phi.value(g)? + sine(&x, i, j).powi(2) * phi.derivative(g)?;
        sum += 2.0 * x.masses()[i] * x.masses()[j] * gap * bracket;
    }
    let claimed =
        ctx.claimed_constant(sum) / if whole { 1.0 } else { n * (d - 1.0) } * (1.0 - ROUNDING);
    // The Hessian has values of the formula. The error of an eigenvalue is at most 64 eps times the
    // largest one.
    let scale = max_abs(&spectrum);
    Ok(Finding::at_least(top, claimed)
        .with_evaluation_error(64.0 * f64::EPSILON * scale / claimed.abs()))
}
