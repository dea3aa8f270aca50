//! Long context: the number of uniform keys that a query attends to.

use crate::theorem::prelude::*;
use crate::theory::long_context::{critical_beta, participation};

/// The gaps `1 - <q, y>` of uniform keys near the query form a Poisson process.
///
/// # Derivation
///
/// For a uniform key the gap `u = 1 - <q, y>` has a density `C u^{(d-3)/2}` near 0, so the number
/// of n keys with a gap below `v n^{-2/(d-1)}` tends to a Poisson variable of mean
/// `C' v^{(d-1)/2}`: the scaled gaps `v_j = n^{2/(d-1)} u_j` tend to a Poisson process. With
/// `beta = c n^{2/(d-1)}` the weights are `e^{-c v_j} / sum_k e^{-c v_k}`, functions of the
/// process, in which far points contribute nothing in the limit. The statement is about the mean of
/// their squares.
pub static ENTRY: Claim = Claim {
    name: "long-context-iid",
    title: "Long context: E sum_j w_j^2 at beta = c n^{2/(d-1)}",
    lets: "a query q and n uniform keys y_j of S^{d-1} have weights w = softmax(beta <q, y_j>) \
           with beta = c n^{2/(d-1)}",
    then: "In the limit n -> infinity, E sum_j w_j^2 is its value for the Poisson process of gaps \
           (0.6353 for c = 1, d = 3).",
    tested: "with n = 2000: the mean over 60 draws agrees to 4 standard errors plus 2 %",
    domain: Domain {
        n: Sizes::Fixed(2000),
        d: Sizes::List(&[2, 3, 4]),
        beta: Betas::Log(0.25, 4.0),
        dynamics: &["softmax row"],
        ..Domain::EQUAL_MASSES
    },
    narrower: "beta of the case is c; n = 2000, where corrections are of the order n^{-2/(d-1)} \
               and below 1.5 %",
    source: "arXiv:2605.08505 (abstract: beta_n ~ n^{2/(d-1)}); the law derived",
    trials: (6, 30),
    trial: |case, ctx| mean_participation(case, ctx, case.d),
    constant: "the mean",
    control: Control {
        what: "the exponent of d = 4 at d = 3",
        trial: |ctx| mean_participation(&Case::new(2000, 3, 1.0, "softmax row"), ctx, 4),
    },
    ..Claim::LAW
};

/// The mean of `sum_j w_j^2` against its limit, at the beta of the dimension `exponent_d`.
fn mean_participation(case: &Case, ctx: &mut Context, exponent_d: usize) -> Result<Finding> {
    const DRAWS: usize = 60;
    let (n, d) = (case.n, case.d);
    let beta = critical_beta(n as f64, exponent_d, case.beta)?;
    let mut key = vec![0.0; d];
    let shares: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let stream = ctx.method_rng();
            let mut cosine = || {
                stream.normals(&mut key);
                key[0] / norm(&key)
            };
            let scores: Vec<f64> = (0..n).map(|_| beta * cosine()).collect();
            let top = vector::max(&scores);
            let weights: Vec<f64> = scores.iter().map(|s| (s - top).exp()).collect();
            dot(&weights, &weights) / weights.iter().sum::<f64>().powi(2)
        })
        .collect();
    let (found, error) = mean_and_error(&shares);
    let stated = ctx.claimed_constant(participation(d, case.beta)?);

    Ok(Finding::law(found, stated, 0.02 * stated + 4.0 * error, 0.0))
}
