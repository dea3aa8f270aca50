//! The explicit strict-saddle bound.

use crate::theorem::prelude::*;

const ROUNDING: f64 = 1e-9;

/// A lower bound on the largest curvature, positive except at consensus.
///
/// # Derivation
///
/// The largest eigenvalue is at least the mean curvature over any family of directions, weighted by
/// their squared lengths. Take `U_v = (P_{x_i} v)_i` over an orthonormal basis `v`: the curvatures
/// add up to the right-hand side of `curvature-identity`, the squared lengths to `sum_i tr
/// P_{x_i} = n (d-1)`. For `d >= 3` and `beta >= 0` every term of the sum is nonnegative, and all
/// vanish only if all inner products are 1.
///
/// Two antipodal tokens of any masses attain the bound: there `Hess[U, U] = m_1 m_2 e^{-beta}
/// |u_1 + u_2|^2`, and both sides are `2 m_1 m_2 e^{-beta}`.
pub static ENTRY: Claim = Claim {
    name: "strict-saddle",
    title: "Strict-saddle bound for `d >= 3`",
    lets: "`G_ij = <x_i, x_j>`",
    then: "At every configuration, the largest eigenvalue of `Hess E_beta` in the metric `sum_i \
           |u_i|^2` is at least `(1/(n (d-1))) sum_ij m_i m_j e^{beta G_ij} (1 - G_ij)(d - 2 - \
           G_ij + beta (1 - G_ij^2))`. For `d >= 3` and `beta >= 0` this bound is positive except \
           at consensus. Two antipodal tokens attain it.",
    tested: "with the factor 1 - {ROUNDING}",
    numbers: &[("ROUNDING", ROUNDING)],
    domain: Domain {
        n: Sizes::Range(2, 10),
        d: Sizes::Range(3, 10),
        beta: Betas::Log(0.01, 30.0),
        dynamics: &["usa"],
        laws: &["uniform", "clusters:k=2,spread=0.1", "simplex"],
        condition: Some(Condition {
            text: "`n <= d + 1` for a simplex",
            holds: |c| c.law != "simplex" || c.n <= c.d + 1,
        }),
        // Two antipodal tokens: the simplex takes its turn here.
        corners: &[(2, 3, 2.0)],
        ..Domain::ATTENTION
    },
    source: "derived from curvature-identity; for d >= 3 the landscape of arXiv:2405.18273",
    trials: (60, 500),
    trial: |case, ctx| bound(case, ctx, false),
    constant: "the factor `1/(n (d-1))`",
    control: Control {
        what: "the bound without its division by `n (d-1)`",
        trial: |ctx| bound(&Case::with_random_masses(5, 3, 2.0, "usa"), ctx, true),
    },
    ..Claim::INEQUALITY
};

fn bound(case: &Case, ctx: &mut Context, whole: bool) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let spectrum = Energy::new(case.beta, EnergyScale::Mean).hessian_eigenvalues(&x)?;
    let top = spectrum.last().copied().unwrap_or(f64::NEG_INFINITY);
    let (n, d) = (case.n as f64, case.d as f64);
    let mut sum = 0.0;
    for (i, j) in (0..case.n).flat_map(|i| (0..case.n).map(move |j| (i, j))) {
        // Computed as 1 - G = |x_i - x_j|^2 / 2, since 1 - G from the inner product has an error
        // eps that e^beta multiplies.
        let rest = 0.5 * chord2(x.row(i), x.row(j));
        let kernel = (case.beta * (1.0 - rest)).exp()
            * rest
            * (d - 3.0 + rest + case.beta * rest * (2.0 - rest));
        sum += x.masses()[i] * x.masses()[j] * kernel;
    }
    let claimed =
        ctx.claimed_constant(sum) / if whole { 1.0 } else { n * (d - 1.0) } * (1.0 - ROUNDING);
    // The error of an eigenvalue is at most 64 eps times the largest one.
    let scale = spectrum.iter().fold(0.0f64, |m, v| nan_max(m, v.abs()));
    Ok(Finding::at_least(top, claimed)
        .with_evaluation_error(64.0 * f64::EPSILON * scale / claimed.abs()))
}
