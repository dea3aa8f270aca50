//! "Attention entropy increases monotonically."

use crate::theorem::prelude::*;

/// The entropy of a row with weights p has the derivative
/// `H' = -beta^2 sum_j p_j (s_j - E s) s_j' = -beta^2 Cov_p(s, s')`, with `s_j = <x_i, x_j>`.
///
/// # Derivation
///
/// Row i has p_j = e^{beta s_j}/Z with s_j = `<x_i, x_j>`, and its entropy is H = log Z - beta
/// sum_j p_j s_j. As (log Z)' = beta sum_j p_j s_j', H' = -beta sum_j p_j' s_j, and p_j' = beta p_j
/// (s_j' - E_p s'): H' = -beta^2 Cov_p(s, s').
/// From an orthonormal start the s_j' of the others are equal and positive, s_i' = 0 belongs to the
/// largest score, and the covariance is negative: H increases (the control). In general it has
/// either sign: with most of the weight on the token itself H' is about beta^2 sum_{j != i} p_j
/// (1 - s_j) s_j', which is negative if the visible tokens move away from token i, s_j' < 0. This
/// happens for a token that moves from one group to another; the gain of the other rows need not be
/// larger.
pub static ENTRY: Claim = Claim {
    name: "row-entropy-folklore",
    title: "The mean row entropy of attention increases along SA (folklore)",
    lets: "Q = K = V = I",
    then: "Under SA, the mean over i of -sum_j A_ij log A_ij never decreases.",
    domain: Domain {
        n: Sizes::Range(4, 8),
        d: Sizes::Fixed(2),
        beta: Betas::Linear(3.0, 6.0),
        dynamics: &["sa"],
        ..Domain::EQUAL_MASSES
    },
    source: "arXiv:2605.04279 (abstract; we have not seen its hypotheses)",
    status: Status::Folklore,
    correct: "It holds at an orthonormal start. In general the entropy of a row moves in either \
               direction.",
    trials: (400, 2000),
    trial: rise,
    control: Control {
        what: "orthonormal tokens",
        trial: |ctx| rise(&Case::new(6, 6, 4.0, "sa").with_law("orthonormal"), ctx),
    },
    ..Claim::INEQUALITY
};

/// `d/dt` of the mean row entropy, divided by beta^2 and the size of its terms.
pub(crate) fn rise(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let v = ctx.velocity(case, &x)?;
    let (n, d) = (case.n, case.d);
    let (mut total, mut size) = (0.0, 0.0);
    for i in 0..n {
        let own = &v[i * d..(i + 1) * d];
        let weights: Vec<f64> = (0..n).map(|j| (case.beta * (x.inner(i, j) - 1.0)).exp()).collect();
        let z: f64 = weights.iter().sum();
        let change: Vec<f64> =
            (0..n).map(|j| dot(own, x.row(j)) + dot(x.row(i), &v[j * d..(j + 1) * d])).collect();
        let mean = |f: &dyn Fn(usize) -> f64| (0..n).map(|j| weights[j] / z * f(j)).sum::<f64>();
        let (s, r) = (mean(&|j| x.inner(i, j)), mean(&|j| change[j]));
        total -= mean(&|j| (x.inner(i, j) - s) * (change[j] - r));
        size += mean(&|j| ((x.inner(i, j) - s) * (change[j] - r)).abs());
    }
    Ok(Finding::nonnegative(total, size).with_evaluation_error(1e-10))
}
