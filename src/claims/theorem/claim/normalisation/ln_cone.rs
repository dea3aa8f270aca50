//! Normalisation schemes: decay of the variance in a narrow cone.

use crate::attention::normalisation::{Cod, NGpt, Normalisation, Peri, Post, Pre, Scheme};
use crate::theorem::prelude::*;

/// Each scheme with the scale s of the decay of the variance at radius 2; for nGPT it is `1/alpha`
/// (printed: `alpha`).
static SCHEMES: [(Scheme, f64); 5] =
    [(Post, 1.0), (Pre, 2.0), (Peri, 2.0), (NGpt { alpha: 0.25 }, 4.0), (Cod, 1.0)];

/// The printed condition `delta < 1/(100 n^2 beta^2)` admits antipodal pairs for small beta.
/// Together with `delta < 1/(100 n^2)` the constant is 2 to a tenth.
///
/// # Derivation
///
/// All schemes move directions by `theta_i' = P A_i / s`. At pairwise inner products at least
/// `1 - delta` the weights are within a factor `e^{+-beta delta}` of 1/n, so
/// `P A_i = mean - theta_i` up to a relative error of the order `n beta delta`, and
/// `Var = 1 - |mean|^2`, the mean squared distance from the mean, has `Var' = -2 Var / s` up to the
/// same order. Under the condition on delta that is below 1/10. Post has s = 1, pre `s = r`, peri
/// `s = r |A|` with `|A|` near 1, CoD `s = sqrt(t+1)`, nGPT `s = |A|/alpha`, about 1/alpha
/// (printed: alpha). For beta below 1 the printed condition `delta < 1/(100 n^2 beta^2)` does not
/// make delta small: it admits antipodal pairs.
pub static ENTRY: Claim = Claim {
    name: "ln-cone",
    title: "Normalisation schemes: the variance in a narrow cone decays as 2 Var/s, condition \
            corrected",
    lets: "all inner products be at least 1 - delta with delta < 1/(100 n^2 max(1, beta^2)), and \
           let Var = 1 - |mean|^2",
    then: "Then -Var' s / Var lies within 0.2 of 2, with s = 1 (post, and CoD at t = 0), s = r \
           (pre, peri) and s = 1/alpha (nGPT; printed as alpha).",
    domain: Domain {
        n: Sizes::Range(2, 16),
        d: Sizes::Range(2, 8),
        beta: Betas::Log(0.01, 8.0),
        laws: &["placed"],
        ..Domain::LAYERED
    },
    narrower: "Q = K = V = I; radius 2, alpha = 1/4",
    source: "arXiv:2510.22026, Theorem 4.3 (ii), with the condition and the scale of nGPT \
               corrected",
    status: Status::Corrected,
    trials: (40, 300),
    trial: |case, ctx| {
        let k = ctx.index(SCHEMES.len());
        let width = 0.5 / (10.0 * case.n as f64 * case.beta.max(1.0));
        let scatter = ctx.normals(case.n * case.d);
        let longest = max_norm(&scatter, case.d);
        let place = |k: usize| {
            width * scatter[k] / longest + if k.is_multiple_of(case.d) { 1.0 } else { 0.0 }
        };
        decay(
            case.beta,
            &Tokens::normalised(case.d, (0..case.n * case.d).map(place).collect())?,
            SCHEMES[k],
        )
    },
    control: Control {
        what: "the printed condition alone: an antipodal pair at beta = 1/100",
        trial: |_: &mut Context| {
            decay(0.01, &Tokens::from_angles(&[0.0, std::f64::consts::PI])?, SCHEMES[0])
        },
    },
    ..Claim::INEQUALITY
};

fn decay(beta: f64, x: &Tokens, (scheme, scale): (Scheme, f64)) -> Result<Finding> {
    let (n, d) = (x.n(), x.d());
    let placed = if scheme.space().extra_per_token() > 0 {
        x.clone().polar(&vec![2.0; n])?
    } else {
        x.clone()
    };
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
    let found = -rate * scale / variance;
    Ok(Finding::nonnegative(0.2 - (found - 2.0).abs(), 0.2).with_evaluation_error(1e-6))
}
