//! Normalisation schemes: decay of the variance in a narrow cone.

use super::setting::place;
use crate::attention::normalisation::{Cod, NGpt, Peri, Post, Pre, Scheme};
use crate::theorem::prelude::*;

const LARGEST_DELTA: f64 = 0.5;
const LENGTH: f64 = 2.0;
const ALPHA: f64 = 0.25;
/// The inverses of beta and delta of the control.
const CONTROL: (f64, f64) = (100.0, 400.0);

/// Each scheme with the scale s of the decay of the variance at the tested length; for nGPT it is
/// `1/alpha` (printed: `alpha`).
static SCHEMES: [(Scheme, f64); 5] =
    [(Post, 1.0), (Pre, LENGTH), (Peri, LENGTH), (NGpt { alpha: ALPHA }, 1.0 / ALPHA), (Cod, 1.0)];

/// The source has the order `Var/s`; the constant 2 and its error are derived. The printed
/// condition `delta < 1/(100 n^2 beta^2)` admits antipodal pairs for small beta, which do not move.
///
/// # Derivation
///
/// Let `m` be the mean, `V = 1 - |m|^2` and `rho_i = |theta_i - m|`, so that `V` is the mean of
/// `rho_i^2`. All schemes move directions by `f_i P_i A_i / s` with `f_i = 1` (post, pre, CoD) or
/// `1/|A_i|` (peri, nGPT), which is between 1 and `(1 - delta)^{-1/2}`. So `-V' s/V` is `2/V` times
/// the mean of `f_i <m, P_i A_i>`, and `A_i = m + sum_j (p_ij - 1/n) (theta_j - m)`.
///
/// Main part: `|P_i m|^2 = rho_i^2 - (V + rho_i^2)^2/4`. The mean squared distance of token `i`
/// from all is `rho_i^2 + V <= 2 delta`. The mean of `(V + rho_i^2)^2` is `3 V^2` plus that of
/// `rho_i^4 <= (2 delta - V) rho_i^2`, at most `2 V (V + delta) <= 4 delta V`. So the mean of `|P_i
/// m|^2` is `V` up to a relative error of `delta`.
///
/// Weights: the numbers `n p_ij` have the mean 1 and a range of at most `e^{beta delta} - 1`, so
/// their standard deviation is at most half of it (Popoviciu). By Cauchy and Schwarz the sum over
/// `j` is at most `sqrt(V)` times this, and its product with `P_i m` has a mean of at most `V
/// (e^{beta delta} - 1)/2`.
///
/// Together `-V' s/V` is between `2 - 2 delta - (e^{beta delta} - 1)/sqrt(1 - delta)` and
/// `(2 + e^{beta delta} - 1)/sqrt(1 - delta)`, and `2/sqrt(1 - delta) <= 2 + 2 delta` for
/// `delta <= 1/2`. For two tokens the deviation is `delta + beta delta` to first order.
pub static ENTRY: Claim = Claim {
    name: "ln-cone",
    title: "Normalisation schemes: in a narrow cone the variance decays at the rate `2/s`, with a \
            bound on the deviation",
    lets: "all inner products of `n` directions of equal masses are at least `1 - delta`, `delta \
           <= 1/{DELTA_PARTS}`, and let `Var = 1 - |mean|^2` and `s = 1` (post, and CoD at `t = \
           0`), `s = r` (pre, peri of the common length `r`), `s = 1/alpha` (nGPT; printed as \
           `alpha`)",
    then: "`|-Var' s/Var - 2| <= 2 delta + (e^{beta delta} - 1)/sqrt(1 - delta)`.",
    numbers: &[
        ("DELTA_PARTS", 1.0 / LARGEST_DELTA),
        ("LENGTH", LENGTH),
        ("ALPHA_PARTS", 1.0 / ALPHA),
        ("BETA_PARTS", CONTROL.0),
        ("CONTROL_PARTS", CONTROL.1),
    ],
    domain: Domain {
        n: Sizes::Range(2, 16),
        d: Sizes::Range(2, 8),
        beta: Betas::Log(0.01, 8.0),
        laws: &[],
        draws: "a scheme, and tokens whose `delta` is between `1e-6` and 1/{DELTA_PARTS}",
        ..Domain::LAYERED
    },
    narrower: "`Q = K = V = I`; length {LENGTH}, `alpha = 1/{ALPHA_PARTS}`; tokens for which \
               rounding is at most half of the bound",
    source: "derived; corrects the condition and the scale of nGPT in arXiv:2510.22026, Theorem \
             4.3 (ii)",
    status: Status::Corrected,
    trials: (40, 300),
    trial: |case, ctx| {
        let k = ctx.index(SCHEMES.len());
        // The chord of an inner product 1 - delta is sqrt(2 delta).
        let chord = ctx.log_uniform_in(1.5e-3, 1.0);
        let scatter = ctx.normals(case.n * case.d);
        let (mut width, mut x) = (chord, Tokens::from_angles(&[0.0])?);
        // The largest chord is nearly proportional to the width.
        for _ in 0..4 {
            let entry =
                |k: usize| width * scatter[k] + if k.is_multiple_of(case.d) { 1.0 } else { 0.0 };
            x = Tokens::normalised(case.d, (0..case.n * case.d).map(entry).collect())?;
            width *= chord / widest(&x).max(f64::MIN_POSITIVE);
        }
        let delta = 0.5 * widest(&x).powi(2);
        if delta > LARGEST_DELTA {
            return Ok(Finding::HypothesesMissed);
        }
        decay(case.beta, &x, SCHEMES[k], delta, ctx)
    },
    constant: "the bound on the deviation",
    control: Control {
        what: "an antipodal pair at `beta = 1/{BETA_PARTS}`, which the printed condition admits, \
               with the bound at `delta = 1/{CONTROL_PARTS}`",
        trial: |ctx| {
            let pair = Tokens::from_angles(&[0.0, PI])?;
            decay(1.0 / CONTROL.0, &pair, SCHEMES[0], 1.0 / CONTROL.1, ctx)
        },
    },
    ..Claim::INEQUALITY
};

/// The largest chord.
fn widest(x: &Tokens) -> f64 {
    pairs(x.n()).map(|(i, j)| chord2(x.row(i), x.row(j))).fold(0.0, nan_max).sqrt()
}

fn decay(
    beta: f64,
    x: &Tokens,
    (scheme, scale): (Scheme, f64),
    delta: f64,
    ctx: &mut Context,
) -> Result<Finding> {
    let (n, d) = (x.n(), x.d());
    let placed = place(scheme, x.clone(), LENGTH)?;
    let v = Dynamics::single(Attention::new(beta)).with_normalisation(scheme).velocity(&placed);
    // 1 - |mean|^2 is the mean of half the squared chords; its derivative is a sum over pairs.
    let (mut variance, mut rate) = (0.0, 0.0);
    for (i, j) in pairs(n) {
        for c in 0..d {
            let gap = x.row(i)[c] - x.row(j)[c];
            variance += gap * gap;
            rate += 2.0 * gap * (v[i * d + c] - v[j * d + c]);
        }
    }
    let deviation = (-rate * scale / variance - 2.0).abs();
    let bound = 2.0 * delta + (beta * delta).exp_m1() / (1.0 - delta).sqrt();
    // A velocity has the rounding error of a unit vector.
    let rounding = 32.0 * f64::EPSILON * n as f64 / variance.sqrt();
    // Tokens that nearly coincide but for one have a variance that rounding hides.
    if rounding > 0.5 * bound {
        return Ok(Finding::HypothesesMissed);
    }
    Ok(Finding::at_most(deviation, ctx.claimed_constant(bound))
        .with_evaluation_error(rounding / bound))
}
