//! The closed equation of the Gram matrix.

use super::setting::ALLOWED;
use crate::attention::Variant;
use crate::theorem::prelude::*;

/// Twice the error of a token, since an inner product depends on two; a half more for the
/// Runge-Kutta rule.
const TOLERANCE: f64 = 2.5 * ALLOWED;

/// # Derivation
///
/// With `V = I`, `x_i' = sum_k A_ik (x_k - G_ik x_i)`. So `<x_i', x_j> = sum_k A_ik (G_kj - G_ik
/// G_ij)`, and `G_ij'` is this plus the same term with `i` and `j` exchanged. For `Q = K = I` the
/// weights are functions of `G`, so the equation is closed; masks and unnormalised weights change
/// `A` only.
pub static ENTRY: Claim = Claim {
    name: "gram-equation",
    title: "The Gram matrix obeys a closed, dimension-free equation",
    lets: "`G_ij = <x_i, x_j>`, and let `A` be the matrix of weights, a function of `G` and the \
           masses",
    then: "Under SA, USA and their causal forms, `G_ij' = sum_k A_ik (G_kj - G_ik G_ij) + sum_k \
           A_jk (G_ki - G_jk G_ij)`.",
    tested: "by integrating this equation from `X(0) X(0)^T` over a quarter of a Lipschitz time of \
             the velocity: the result is `X(t) X(t)^T` to {TOLERANCE}",
    numbers: &[("TOLERANCE", TOLERANCE)],
    domain: Domain {
        n: Sizes::Range(1, 20),
        dynamics: &["sa", "usa", "causal-sa", "causal-usa"],
        ..Domain::SYMMETRY
    },
    source: "derived from arXiv:2312.10794, (2.3); used for equiangular and causal starts",
    trials: (24, 150),
    trial: |case, ctx| compare(case, ctx, case.beta),
    constant: "the integration time of the Gram equation",
    control: Control {
        what: "the Gram equation at `beta + 1`",
        trial: |ctx| compare(&Case::with_random_masses(5, 3, 2.0, "sa"), ctx, 3.0),
    },
    ..Claim::IDENTITY
};

fn compare(case: &Case, ctx: &mut Context, beta: f64) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let t = 0.25 / case.lipschitz()?;
    let end = ctx.flow_to_with_tolerance(&case.build()?, &x, t, SYMMETRY_TOLERANCE)?;
    let g = integrate(&Case { beta, ..*case }, x.masses(), x.gram(), ctx.claimed_constant(t))?;
    let worst = end.gram().iter().zip(&g).map(|(a, b)| (a - b).abs()).fold(0.0, nan_max);
    Ok(Finding::identity(worst, TOLERANCE))
}

/// Classical Runge-Kutta over a quarter of a Lipschitz time in 128 steps, error about
/// `(1/512)^4 / 240`; no code is shared with the sphere's integrators.
fn integrate(case: &Case, masses: &[f64], mut g: Vec<f64>, horizon: f64) -> Result<Vec<f64>> {
    let (variant, steps) = (case.variant()?, 128);
    let h = horizon / f64::from(steps);
    let shifted = |g: &[f64], k: &[f64], c: f64| -> Vec<f64> {
        g.iter().zip(k).map(|(a, b)| a + c * b).collect()
    };
    for _ in 0..steps {
        let k1 = gram_derivative(case, variant, masses, &g);
        let k2 = gram_derivative(case, variant, masses, &shifted(&g, &k1, 0.5 * h));
        let k3 = gram_derivative(case, variant, masses, &shifted(&g, &k2, 0.5 * h));
        let k4 = gram_derivative(case, variant, masses, &shifted(&g, &k3, h));
        for (i, v) in g.iter_mut().enumerate() {
            *v += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    Ok(g)
}

fn gram_derivative(case: &Case, variant: Variant, masses: &[f64], g: &[f64]) -> Vec<f64> {
    let n = case.n;
    let softmax = variant.weights == RowWeights::Softmax;
    let mut a = vec![0.0; n * n];
    for (i, row) in a.chunks_exact_mut(n).enumerate() {
        let seen = variant.visible_count(i, n);
        let shift = if softmax { case.beta.abs() } else { 0.0 };
        (0..seen).for_each(|j| row[j] = masses[j] * (case.beta * g[i * n + j] - shift).exp());
        let z = if softmax { row.iter().sum() } else { 1.0 };
        divide(row, z);
    }
    // sum_k A_ik G_kj, and sum_k A_ik G_ik on the diagonal, since G is symmetric.
    let moved = mul(&a, g, n);
    let half = |i: usize, j: usize| moved[i * n + j] - moved[i * n + i] * g[i * n + j];
    (0..n * n).map(|p| half(p / n, p % n) + half(p % n, p / n)).collect()
}
