//! Long context: the number of uniform keys that a query attends to.

use crate::theorem::prelude::*;
use crate::theory::long_context::{critical_beta, participation};

const KEYS: usize = 2000;
const DRAWS: usize = 240;
const ERRORS: f64 = 4.0;
const PERCENT: f64 = 2.0;

/// The gaps `1 - <q, y>` of uniform keys near the query form a Poisson process.
///
/// # Derivation
///
/// For a uniform key the gap `u = 1 - <q, y>` has a density `C u^{(d-3)/2}` near 0, so the number
/// of `n` keys with a gap below `v n^{-2/(d-1)}` tends to a Poisson variable of mean `C'
/// v^{(d-1)/2}`: the scaled gaps `v_j = n^{2/(d-1)} u_j` tend to a Poisson process. With `beta = c
/// n^{2/(d-1)}` the weights are `e^{-c v_j} / sum_k e^{-c v_k}`, functions of the process, in which
/// far points contribute nothing in the limit. The statement is about the mean of their squares.
pub static ENTRY: Claim = Claim {
    name: "long-context-iid",
    title: "Long context: `E sum_j w_j^2` at `beta = c n^{2/(d-1)}`",
    lets: "a query `q` and `n` uniform keys `y_j` of `S^{d-1}` have weights `w = softmax(beta <q, \
           y_j>)` with `beta = c n^{2/(d-1)}`",
    then: "In the limit `n -> infinity`, `E sum_j w_j^2` is its value for the Poisson process of \
           gaps (0.6353 for `c = 1`, `d = 3`).",
    tested: "with `n = {KEYS}`: the mean over {DRAWS} draws agrees to {ERRORS} standard errors \
             plus {PERCENT} %, about an eighth of it together",
    numbers: &[
        ("KEYS", KEYS as f64),
        ("DRAWS", DRAWS as f64),
        ("ERRORS", ERRORS),
        ("PERCENT", PERCENT),
    ],
    domain: Domain {
        n: Sizes::Fixed(KEYS),
        d: Sizes::List(&[2, 3, 4]),
        beta: Betas::Log(0.25, 4.0),
        draws: "uniform keys",
        ..Domain::FREE
    },
    narrower: "`beta` of the case is `c`; `n = {KEYS}`, where corrections are of the order \
               `n^{-2/(d-1)}` and below 1.5 %",
    source: "arXiv:2605.08505 (abstract: beta_n ~ n^{2/(d-1)}); the law derived",
    trials: (6, 30),
    trial: |case, ctx| mean_participation(case, ctx, case.d),
    constant: "the mean",
    control: Control {
        what: "the exponent of `d = 4` at `d = 3`",
        trial: |ctx| mean_participation(&Case::new(KEYS, 3, 1.0, ""), ctx, 4),
    },
    ..Claim::LAW
};

/// The mean of `sum_j w_j^2` against its limit, at the beta of the dimension `exponent_d`.
fn mean_participation(case: &Case, ctx: &mut Context, exponent_d: usize) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let beta = critical_beta(n as f64, exponent_d, case.beta)?;
    let shares: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let scores: Vec<f64> = (0..n).map(|_| beta * cosine(ctx.method_rng(), d)).collect();
            let top = vector::max(&scores);
            // Other weights are below e^{-40} of the largest.
            let near = scores.iter().map(|s| s - top).filter(|s| *s > -40.0);
            let weights: Vec<f64> = near.map(f64::exp).collect();
            dot(&weights, &weights) / weights.iter().sum::<f64>().powi(2)
        })
        .collect();
    let (found, error) = mean_and_error(&shares);
    let stated = ctx.claimed_constant(participation(d, case.beta)?);

    Ok(Finding::law(found, stated, PERCENT / 100.0 * stated + ERRORS * error, 0.0))
}

/// A coordinate of a uniform point of `S^{d-1}`, d = 2, 3, 4. On `S^3` the square of the modulus of
/// a complex coordinate is uniform.
fn cosine(stream: &mut Stream, d: usize) -> f64 {
    match d {
        2 => (TAU * stream.uniform()).cos(),
        3 => 2.0 * stream.uniform() - 1.0,
        _ => stream.uniform().sqrt() * (TAU * stream.uniform()).cos(),
    }
}
