//! A step of the proof for small beta: some token can be rotated so that the energy increases.

use super::setting::{ENERGY, search_critical_points};
use crate::theorem::prelude::*;
use crate::theory::threshold::small_beta;

const ROUNDING: f64 = 1e-9;
const CONTROL_FACTOR: f64 = 1.1;

/// The part of the theorem for small beta that is about critical points, with an explicit and sharp
/// constant.
///
/// # Derivation
///
/// At a critical point `sum_j w_ij x_j = lambda_i x_i`, `w_ij = e^{beta G_ij}`. Rotating token `i`
/// alone, averaged over planes, changes the energy by `-(2/(d (d-1))) f_i / n^2` to second order
/// with the cut sum `f_i = sum_{j != i} w_ij ((d-1) G_ij - beta (1 - G_ij^2)) <= (d-1) (lambda_i -
/// e^beta)`. Write `w_ij = cosh(beta) + sinh(beta) c_ij` with `|c_ij| <= 1`: then `cosh(beta) <x_i,
/// sum_j x_j> >= lambda_i - n sinh(beta)`. If every `lambda_i > n sinh(beta)` all tokens lie in an
/// open hemisphere, where the only critical points are consensus. So at any other some `i` has
/// `-f_i >= (d-1) (e^beta - n sinh(beta))`, which is positive for `beta < log(n/(n-2))/2`, a little
/// above `1/n`. Two antipodal clusters of `n/2` tokens attain it.
pub static ENTRY: Claim = Claim {
    name: "small-beta-blocks",
    title: "`beta < C/n`: at every critical point other than consensus, rotating some token \
            increases the energy",
    lets: "`0 < beta < log(n/(n-2))/2`, a threshold that exceeds `1/n`, and `G_ij = <x_i, x_j>`",
    then: "At every critical point other than consensus, some token `i` has `sum_{j != i} e^{beta \
           G_ij} ((d-1) G_ij - beta (1 - G_ij^2)) <= -(d-1) (e^beta - n sinh(beta)) < 0`, so that \
           some rotation of this token alone increases the energy. For even `n`, two antipodal \
           clusters of `n/2` tokens attain the bound. Beyond the threshold no rotation of a single \
           one of their tokens increases the energy.",
    tested: "with the factor 1 - {ROUNDING} at critical points that are found by a search",
    numbers: &[("ROUNDING", ROUNDING), ("CONTROL_FACTOR", CONTROL_FACTOR)],
    domain: Domain {
        n: Sizes::Range(3, 12),
        d: Sizes::Range(2, 5),
        beta: Betas::TimesThreshold {
            lo: 0.05,
            hi: 0.99,
            formula: "log(n/(n-2))/2",
            threshold: |n, _| small_beta(n),
        },
        corners: &[(8, 2, 0.1), (12, 3, 0.08)],
        ..ENERGY
    },
    narrower: "critical points found by a search, residual `1e-12`",
    source: "arXiv:2312.10794, Theorem 4.3 and appendix C; the constant is derived",
    trials: (24, 120),
    trial: |case, ctx| {
        let points = search_critical_points(case, ctx)?;
        let found: Vec<Finding> =
            points.iter().map(|p| ascent(case, ctx, &p.0, &p.1)).collect::<Result<_>>()?;
        Ok(found.into_iter().reduce(Finding::and).unwrap_or(Finding::HypothesesMissed))
    },
    constant: "`n` in `n sinh(beta)`",
    control: Control {
        what: "two antipodal clusters of four tokens each, at {CONTROL_FACTOR} times the threshold",
        trial: |ctx| {
            ascent(
                &Case::new(8, 2, CONTROL_FACTOR * small_beta(8), "usa"),
                ctx,
                &Tokens::from_angles(&[0.0, PI])?,
                &[4, 4],
            )
        },
    },
    ..Claim::INEQUALITY
};

/// Compares the largest ascent by a single token with the bound, or with 0 where the bound is
/// negative, relative to `(d-1) e^beta`.
fn ascent(case: &Case, ctx: &mut Context, x: &Tokens, sizes: &[usize]) -> Result<Finding> {
    let (n, m, beta) = (case.n as f64, case.d as f64 - 1.0, case.beta);
    let kernel = |g: f64| (beta * g).exp() * (m * g - beta * (1.0 - g * g));
    let cut = |i: usize| {
        (0..x.n())
            .map(|j| {
                (sizes[j] as f64 - f64::from(u8::from(i == j)))
                    * kernel(if i == j { 1.0 } else { x.inner(i, j) })
            })
            .sum::<f64>()
    };
    let best = (0..x.n()).map(|i| -cut(i)).fold(f64::NEG_INFINITY, nan_max);
    let bound = m * (beta.exp() - ctx.claimed_constant(n) * beta.sinh());
    let bound = nan_max(bound, 0.0) * (1.0 - ROUNDING);
    // n terms of size at most (m + beta) e^beta; coordinates have the residual of the critical
    // point.
    let error = 64.0 * f64::EPSILON * n * (m + beta) / m;
    Ok(Finding::nonnegative(best - bound, m * beta.exp()).with_evaluation_error(error))
}
