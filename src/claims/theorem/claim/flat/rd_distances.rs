//! Tokens in R^d, V = I: distances in the metric of the scores never decrease.

use super::rd_rescaling::points;
use crate::theorem::prelude::*;

/// `x_i' = grad Lambda(A x_i)` with Lambda = log sum m_j e^{<., x_j>} convex, so
/// `<A (x_i - x_j), x_i' - x_j'> >= 0`. In the Euclidean metric this fails if A is not a multiple
/// of I.
///
/// # Derivation
///
/// `Lambda(y) = log sum_j m_j e^{<y, x_j>}` is convex in y, and `x_i' = grad Lambda(A x_i)` with
/// the current tokens. The gradient of a convex function is monotone:
/// `<A x_i - A x_j, x_i' - x_j'> >= 0`, and for a symmetric A this is half the derivative of
/// `<A (x_i - x_j), x_i - x_j>`. In the Euclidean metric it fails if A is not a multiple of I.
pub static ENTRY: Claim = Claim {
    name: "rd-distances",
    title: "R^d, V = I, A > 0: distances |x_i - x_j|_A do not decrease",
    lets: "x_i' = sum_j A_ij x_j with softmax weights for the scores <A x_i, x_j>, where A is \
           symmetric and positive definite",
    then: "Then d/dt <A (x_i - x_j), x_i - x_j> >= 0 for all i and j.",
    domain: Domain {
        n: Sizes::Range(2, 24),
        d: Sizes::Range(1, 6),
        beta: Betas::Log(0.01, 2.0),
        ..Domain::FLAT
    },
    narrower: "normal tokens; A has a normal square root",
    source: "derived (arXiv:2305.05465, Section 6, uses it for A = I)",
    trials: (200, 1000),
    trial: |case, ctx| smallest_monotonicity(case, ctx, 1.0),
    control: Control {
        what: "scores of the opposite sign",
        trial: |ctx| smallest_monotonicity(&Case::with_random_masses(8, 3, 1.0, "sa"), ctx, -1.0),
    },
    ..Claim::INEQUALITY
};

/// The smallest `<A (x_i - x_j), x_i' - x_j'>`, relative to the product of the lengths.
fn smallest_monotonicity(case: &Case, ctx: &mut Context, sign: f64) -> Result<Finding> {
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
    let mut worst = 1.0f64;
    for (i, j) in pairs(n) {
        let (h, v) = (minus(&images[i], &images[j]), minus(&drift[i], &drift[j]));
        let size = (dot(&h, &h) * dot(&v, &v)).sqrt();
        // Rows that are equal up to rounding have no direction.
        if norm(&v) > 1e-6 {
            worst = worst.min(dot(&h, &v) / size);
        }
    }
    Ok(Finding::nonnegative(worst, 1.0).with_evaluation_error(1e-8))
}
