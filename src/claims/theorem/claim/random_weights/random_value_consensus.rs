//! Random values: pairs near consensus meet.

use crate::theorem::prelude::*;
use crate::theory::random_weights::exponents;

/// Near consensus both tokens add the same vector up to second order, for every beta.
///
/// # Derivation
///
/// `m_x - m_y = (a - b)(x - y)` with `a - b = tanh(beta (1 - <x, y>)/2)`, of second order in
/// `delta = x - y`: both tokens add `eta V m`, and with `u = x + eta V m`, m = x, the next
/// difference is `P_u delta / |u|` to first order. To second order in eta the means are:
/// `log |u|^2` is `1 - 2/d`, the projection removes the squared component along u, 1/d: together
/// `-(1 - 2/d) - 1/d = -(d-1)/d`, the growth of `log |delta|^2`.
pub static ENTRY: Claim = Claim {
    name: "random-value-consensus",
    title: "Random values: pairs near consensus meet at the rate (d-1)/d, for every beta",
    lets: "x+ = N(x + eta V m_x), where V is drawn anew in every layer with normal entries of \
           variance 1/d and m_x is the softmax mean of two tokens with Q^T K = beta I",
    then: "For a pair at small distance, the mean of log(1 - <x, y>) changes by -(d-1) eta^2/d \
           per layer, for every beta.",
    tested: "with 2000 pairs of layers +V and -V at eta = 1/20, to 4 standard errors plus 0.01",
    domain: Domain {
        d: Sizes::List(&[2, 3, 8, 16]),
        beta: Betas::Linear(0.0, 5.0),
        corners: &[],
        ..Domain::LAYERS
    },
    source: "arXiv:2601.21942 (abstract: consensus); exponent derived",
    trials: (8, 60),
    trial: |case, ctx| exponent(case, ctx, exponents(case.d, case.beta).1),
    control: Control {
        what: "the exponent at antipodes",
        trial: |ctx| exponent(&Case::new(2, 8, 0.5, "random layers"), ctx, exponents(8, 0.5).0),
    },
    ..Claim::LAW
};

fn exponent(case: &Case, ctx: &mut Context, stated: f64) -> Result<Finding> {
    /// Step of a layer. The mean over V and -V has no odd powers of the step.
    const ETA: f64 = 0.05;
    /// Distance of the two tokens, small enough for the linearisation.
    const GAP: f64 = 1e-4;
    let d = case.d;
    let mut draws = vec![0.0; 2 * d];
    let inner = (1.0 - GAP * GAP).sqrt();
    let (x, y) = ([1.0, 0.0], [inner, GAP]);
    let own = 1.0 / (1.0 + (-case.beta * (1.0 - inner)).exp());
    let changes: Vec<f64> = (0..2000)
        .map(|_| {
            // V applied to two orthonormal vectors: independent normals.
            ctx.method_rng().normals(&mut draws);
            let grown = |sign: f64| {
                let next = |token: [f64; 2], other: [f64; 2]| {
                    let mean = [0, 1].map(|k| own * token[k] + (1.0 - own) * other[k]);
                    let step = sign * ETA / (d as f64).sqrt();
                    let mut z: Vec<f64> = (0..d)
                        .map(|c| step * (mean[0] * draws[c] + mean[1] * draws[d + c]))
                        .collect();
                    (z[0], z[1]) = (z[0] + token[0], z[1] + token[1]);
                    retract(&mut z);
                    z
                };
                let gap: Vec<f64> =
                    next(x, y).iter().zip(&next(y, x)).map(|(a, b)| a - b).collect();
                (dot(&gap, &gap) / ((1.0 - inner).powi(2) + GAP * GAP)).ln()
            };
            0.5 * (grown(1.0) + grown(-1.0)) / (ETA * ETA)
        })
        .collect();
    let (found, error) = mean_and_error(&changes);
    Ok(Finding::law(found, stated, 4.0 * error + 0.01, 0.0))
}
