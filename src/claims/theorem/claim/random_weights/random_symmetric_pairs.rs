//! Symmetric random matrices without attention: near tokens meet, near antipodes become opposite.

use super::setting::LAYERS;
use crate::theorem::prelude::*;

/// Step of a layer. The mean over Q and -Q has no odd powers of the step.
const ETA: f64 = 0.02;
/// Distance of the two tokens, small enough for the linearisation.
const GAP: f64 = 1e-4;
const PAIRS_OF_LAYERS: usize = 8000;
const ERRORS: f64 = 4.0;
const ALLOWED: f64 = 0.002;

/// `X' = P_X dQ X` with symmetric Q, the same matrix for every token.
///
/// # Derivation
///
/// Let `E q_ab^2 = s` off the diagonal and `2s` on it, `x = e_1` and `delta = y - x` along `e_2`.
/// To first order in `delta` the next difference is `P_u (delta + eta Q delta)/|u|`, `u = x + eta Q
/// x`. In the mean, to second order in `eta`, `log |delta + eta Q delta|^2` gains `E |Q e_2|^2 - 2
/// E q_22^2 = (d+1) s - 4 s`, `log |u|^2` gains the same, so they cancel; the squared component
/// along `u` is `(2 eta q_12)^2`, `4 s` in the mean. So `log |delta|^2` changes by `-4 s eta^2`.
/// For independent entries it is `(v_12 + v_21)^2`, with mean `2 s`. By oddness the same holds for
/// `x + y` near antipodes.
pub static ENTRY: Claim = Claim {
    name: "random-symmetric-pairs",
    title: "Symmetric random matrices without attention: near pairs meet and near antipodes become \
            opposite, at twice the rate of general matrices",
    lets: "`x+ = N(x + eta Q x)`, where `Q` is drawn anew in every layer, symmetric, with normal \
           entries of variance `1/d` off the diagonal and `2/d` on it",
    then: "To leading order in `eta`, a layer changes the mean of `log(1 - <x, y>)` by `-4 \
           eta^2/d` for a pair at small distance. The same holds for `log(1 + <x, y>)` near \
           antipodes, since the layer is odd.",
    tested: "for a pair at the distance {GAP}, with {PAIRS_OF_LAYERS} pairs of layers `+Q` and \
             `-Q` at `eta = 1/{PARTS}`, to {ERRORS} standard errors plus {ALLOWED} in units of \
             `eta^2`",
    numbers: &[
        ("GAP", GAP),
        ("PAIRS_OF_LAYERS", PAIRS_OF_LAYERS as f64),
        ("PARTS", 1.0 / ETA),
        ("ERRORS", ERRORS),
        ("ALLOWED", ALLOWED),
    ],
    domain: Domain { d: Sizes::List(&[2, 3, 5, 8]), ..LAYERS },
    source: "arXiv:2603.06187 (abstract: synchronisation); exponent derived",
    trials: (6, 40),
    trial: |case, ctx| exponent(case.d, ctx, true),
    constant: "the rate",
    control: Control { what: "independent entries", trial: |ctx| exponent(3, ctx, false) },
    ..Claim::LAW
};

fn exponent(d: usize, ctx: &mut Context, symmetric: bool) -> Result<Finding> {
    let mut q = vec![0.0; d * d];
    let y = [(1.0 - GAP * GAP).sqrt(), GAP];
    let changes: Vec<f64> = (0..PAIRS_OF_LAYERS)
        .map(|_| {
            ctx.method_rng().normals(&mut q);
            // (G + G^T)/sqrt 2 has variances 1 off the diagonal and 2 on it.
            let entry = |a: usize, b: usize| {
                if symmetric { (q[a * d + b] + q[b * d + a]) / 2f64.sqrt() } else { q[a * d + b] }
            };
            let image = |t: &[f64; 2]| {
                (0..d).map(|a| t[0] * entry(a, 0) + t[1] * entry(a, 1)).collect::<Vec<_>>()
            };
            let (qx, qy) = (image(&[1.0, 0.0]), image(&y));
            let grown = |sign: f64| {
                let next = |token: &[f64; 2], image: &[f64]| {
                    let mut z: Vec<f64> =
                        image.iter().map(|v| sign * ETA / (d as f64).sqrt() * v).collect();
                    (z[0], z[1]) = (z[0] + token[0], z[1] + token[1]);
                    retract(&mut z);
                    z
                };
                let gap: Vec<f64> =
                    next(&[1.0, 0.0], &qx).iter().zip(&next(&y, &qy)).map(|(a, b)| a - b).collect();
                (dot(&gap, &gap) / ((1.0 - y[0]).powi(2) + GAP * GAP)).ln()
            };
            0.5 * (grown(1.0) + grown(-1.0)) / (ETA * ETA)
        })
        .collect();
    let (found, error) = mean_and_error(&changes);
    let stated = ctx.claimed_constant(-4.0 / d as f64);
    Ok(Finding::law(found, stated, ERRORS * error + ALLOWED, 0.0))
}
