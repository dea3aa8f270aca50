//! Random values: attraction and repulsion of antipodal pairs.

use crate::theorem::prelude::*;
use crate::theory::random_weights::exponents;

/// `m_x = a x + b y`, `a - b = tanh beta` at antipodes, so
/// `|x+ + y+| = |P_u (delta + eta V delta)| / |u|`, `u = x + eta tanh(beta) V x`; expanded to
/// `eta^2`.
///
/// # Derivation
///
/// `m_x = a x + b y` with `a + b = 1` and, at antipodes, `a - b = T = tanh beta`; a changes to
/// second order in `delta = x + y` only. So `m_x + m_y = delta`, and with `u = x + eta T V x` the
/// next sum is `P_u (delta + eta V delta)/|u|` to first order in delta. To second order in eta the
/// means are: `log |delta + eta V delta|^2` gains `1 - 2/d`; `log |u|^2` is `T^2 (1 - 2/d)`; the
/// projection removes the squared component along u, `(1 + T^2)/d`. Together
/// `(1 - T^2)(1 - 2/d) - (1 + T^2)/d = ((d-1)/cosh^2 beta - 2)/d`, the growth of
/// `log |delta|^2 = log(1 + <x, y>) + log 2`. It is positive, so that antipodes repel, while
/// `cosh 2 beta < d - 2`.
pub static ENTRY: Claim = Claim {
    name: "random-value-antipodal",
    title: "Random values, for small eta: antipodal pairs attract iff cosh 2 beta > d - 2",
    lets: "x+ = N(x + eta V m_x), where V is drawn anew in every layer with normal entries of \
           variance 1/d and m_x is the softmax mean of two tokens with Q^T K = beta I",
    then: "Near antipodes, the mean of log(1 + <x, y>) changes by Lambda_- eta^2 per layer, with \
           Lambda_- = ((d-1)/cosh^2 beta - 2)/d, which is negative iff cosh 2 beta > d - 2.",
    tested: "with 2000 pairs of layers +V and -V at eta = 1/20, to 4 standard errors plus 0.01",
    domain: Domain::LAYERS,
    source: "arXiv:2601.21942 (abstract: cosh 2 beta against d - 2); exponents derived",
    trials: (12, 60),
    trial: |case, ctx| exponent(case, ctx, 1.0),
    control: Control {
        what: "the weights of twice beta",
        trial: |ctx| exponent(&Case::new(2, 8, 0.5, "random layers"), ctx, 2.0),
    },
    ..Claim::LAW
};

fn exponent(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    /// Step of a layer. The mean over V and -V has no odd powers of the step.
    const ETA: f64 = 0.05;
    /// Distance of one token from the antipode of the other, small enough for the linearisation.
    const GAP: f64 = 1e-4;
    let d = case.d;
    let mut draws = vec![0.0; 2 * d];
    let changes: Vec<f64> = (0..2000)
        .map(|_| {
            // V applied to two orthonormal vectors: independent normals. x = e_1, y = -x + GAP e_2.
            ctx.method_rng().normals(&mut draws);
            let image =
                |x: f64, y: f64, c: usize| (x * draws[c] + y * draws[d + c]) / (d as f64).sqrt();
            let mut second = vec![0.0; d];
            (second[0], second[1]) = (-(1.0 - GAP * GAP).sqrt(), GAP);
            let inner = second[0];
            let own = 1.0 / (1.0 + (-factor * case.beta * (1.0 - inner)).exp());
            let grown = |sign: f64| {
                let next = |token: [f64; 2], other: [f64; 2]| {
                    let mean = [0, 1].map(|k| own * token[k] + (1.0 - own) * other[k]);
                    let mut x: Vec<f64> =
                        (0..d).map(|c| sign * ETA * image(mean[0], mean[1], c)).collect();
                    (x[0], x[1]) = (x[0] + token[0], x[1] + token[1]);
                    retract(&mut x);
                    x
                };
                let (a, b) = (
                    next([1.0, 0.0], [second[0], second[1]]),
                    next([second[0], second[1]], [1.0, 0.0]),
                );
                let gap: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
                let start = (1.0 + second[0]).hypot(second[1]);
                (dot(&gap, &gap) / (start * start)).ln()
            };
            0.5 * (grown(1.0) + grown(-1.0)) / (ETA * ETA)
        })
        .collect();
    let (found, error) = mean_and_error(&changes);
    let stated = exponents(d, case.beta).0;
    Ok(Finding::law(found, stated, 4.0 * error + 0.01, 0.0))
}
