//! Tokens in R^d, V = I: distances in the metric of the scores never decrease.

use super::setting::{FLAT, points};
use crate::theorem::prelude::*;

const CONSTANT: f64 = 8.0;
const LEAST_SPEED: f64 = 1e-6;

/// The velocity of a token is the gradient of a convex function at its query.
///
/// # Derivation
///
/// `Lambda(y) = log sum_j m_j e^{<y, x_j>}` is convex in `y`, and `x_i' = grad Lambda(A x_i)` with
/// the current tokens. Its Hessian is the covariance of the tokens under softmax weights. In any
/// direction their range is at most diam, so the variance is at most `L = diam^2/4`. The gradient
/// of a convex function with a Hessian of at most `L` is co-coercive (Baillon and Haddad): `<y -
/// y', grad Lambda(y) - grad Lambda(y')> >= |grad Lambda(y) - grad Lambda(y')|^2/L`. With `y - y' =
/// A (x_i - x_j)` this is half the derivative of `<A (x_i - x_j), x_i - x_j>`, for a symmetric `A`.
/// In the Euclidean metric it fails if `A` is not a multiple of `I`.
///
/// The constant is sharp: for tokens `+-a` on the line with equal masses and `A = b`, both sides
/// are `16 b^2 a^4` to leading order in `b`.
pub static ENTRY: Claim = Claim {
    name: "rd-distances",
    title: "`R^d`, `V = I`, `A > 0`: distances `|x_i - x_j|_A` do not decrease, with a rate",
    lets: "`x_i' = sum_j A_ij x_j` with softmax weights for the scores `<A x_i, x_j>`, where `A` \
           is symmetric and positive definite, and let `diam be` the diameter of the tokens",
    then: "`d/dt <A (x_i - x_j), x_i - x_j> >= {CONSTANT} |x_i' - x_j'|^2/diam^2` for all `i` and \
           `j`.",
    tested: "at the pairs with `|x_i' - x_j'| > {LEAST_SPEED} diam`, which rounding leaves a \
             direction",
    numbers: &[("CONSTANT", CONSTANT), ("LEAST_SPEED", LEAST_SPEED)],
    domain: Domain {
        n: Sizes::Range(2, 24),
        d: Sizes::Range(1, 6),
        beta: Betas::Log(0.01, 2.0),
        ..FLAT
    },
    narrower: "A is `beta` times `R R^T` with normal `R`",
    source: "derived; arXiv:2305.05465, lemma on distances (label l:distnondec of v6, as quoted in \
             a formal statement), for V = I and without a rate",
    trials: (200, 1000),
    trial: |case, ctx| least_growth(case, ctx, 1.0),
    constant: "the constant 8",
    control: Control {
        what: "scores of the opposite sign",
        trial: |ctx| least_growth(&Case::with_random_masses(8, 3, 1.0, "sa"), ctx, -1.0),
    },
    ..Claim::INEQUALITY
};

/// The worst pair.
fn least_growth(case: &Case, ctx: &mut Context, sign: f64) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = points(case, ctx)?;
    let root = ctx.normals(d * d);
    let a: Vec<f64> = (0..d * d)
        .map(|k| case.beta * dot(&root[k / d * d..][..d], &root[k % d * d..][..d]))
        .collect();
    let images: Vec<Vec<f64>> = x.rows().map(|r| mul(&a, r, 1)).collect();
    let drift: Vec<Vec<f64>> = images
        .iter()
        .map(|h| {
            let scores: Vec<f64> = x.rows().map(|r| sign * dot(h, r)).collect();
            let top = vector::max(&scores);
            let weights: Vec<f64> =
                scores.iter().zip(x.masses()).map(|(s, m)| m * (s - top).exp()).collect();
            let total: f64 = weights.iter().sum();
            (0..d).map(|c| x.rows().zip(&weights).map(|(r, w)| w / total * r[c]).sum()).collect()
        })
        .collect();
    let minus = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<f64>>();
    let (diameter, constant) = (x.diameter(), ctx.claimed_constant(CONSTANT));
    // Rounding: of the images, and of the means with weights whose exponents are rounded.
    let longest = x.rows().map(norm).fold(0.0, nan_max);
    let steep = norm(&a) * longest;
    let terms = (n + d) as f64;
    let image_error = terms * f64::EPSILON * steep;
    let drift_error = terms * f64::EPSILON * (longest + 4.0 * steep * longest * diameter);
    let of_pair = |(i, j): (usize, usize)| {
        let (h, v) = (minus(&images[i], &images[j]), minus(&drift[i], &drift[j]));
        let growth =
            Finding::at_least(2.0 * dot(&h, &v), constant * dot(&v, &v) / (diameter * diameter));
        let speed = norm(&v);
        let error = 8.0 * drift_error / speed + image_error * diameter * diameter / speed;
        let rests = speed <= LEAST_SPEED * diameter;
        (!rests).then(|| growth.with_evaluation_error(1e-12 + error))
    };
    let worst = pairs(n).filter_map(of_pair).reduce(Finding::and);
    Ok(worst.unwrap_or(Finding::HypothesesMissed))
}
