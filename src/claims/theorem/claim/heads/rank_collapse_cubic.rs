//! Attention without skip connections loses rank cubically.

use crate::theorem::prelude::*;
use crate::theory::rank_collapse::RankResidual;

const SMALL: f64 = 1e-3;
const FACTOR_ERROR: f64 = 1e-5;
const ROUNDINGS: f64 = 8.0;
const LARGEST_SIGMA: f64 = 0.25;

/// Row constants cancel in softmax and the common part moves all rows alike, so `R+ = R W C_q W_V`
/// up to a term of fifth order. This term has an absolute bound, since a value matrix may
/// annihilate the leading term.
///
/// # Derivation
///
/// With `x_i = mu + r_i` the score `x_i W x_j^T` is a part that depends only on `i`, which cancels
/// in softmax, plus `mu W r_j + r_i W r_j`. With `mu W r_j` alone all rows would have the same
/// weights `q_j` and one common output. With both terms row `i` has the weights `q_j e^{s_j}/Z`,
/// `s_j = r_i W r_j^T`, `Z` the mean of `e^{s_j}` under `q`; so it differs from the common output
/// by `sum_j q_j f_j r_j W_V`, `f_j = (e^{s_j} - Z)/Z`, and subtracting the mean row does not
/// increase a norm. To first order `f_j = s_j - mean s`, and the sum is `r_i W C_q W_V`, `C_q` the
/// covariance of the `r_j` under `q`.
///
/// The sum is a covariance under `q`, of `f` and of `r W_V`. For a unit vector `u`, `<u, r_j>` has
/// a range of at most `sqrt 2 |R|`, since two rows add up to at most `|R|^2` in squares, and so a
/// standard deviation of at most `|R|/sqrt 2` (Popoviciu). Let `t = |W| |r_i| |R|`, so that `|s_j|
/// <= t`, `Z` lies between `e^{-t}` and `e^t`, and `s` has a standard deviation of at most `t/sqrt
/// 2`. A function of `s` with the Lipschitz constant `L` has one of at most `L t/sqrt 2`.
///
/// So `f` has one of at most `e^{2t} t/sqrt 2`, and row `i` differs from the common output by at
/// most `e^{2t} t |R| |W_V|/2`: the rows add up to `|R+| <= (1/2) e^{2 sigma} |W| |W_V| |R|^3`. For
/// the remainder put `e^s = 1 + s + a`. Then `f_j - (s_j - mean s) = (s_j - mean s)(1/Z - 1) +
/// (a_j - mean a)/Z`, and both terms have standard deviations of at most `t^2 e^{2t}/sqrt 2`, as
/// `|1/Z - 1| <= t e^t` and a has the Lipschitz constant `t e^t`. Row `i` of the remainder is at
/// most `t^2 e^{2t} |R| |W_V|`, and the rows add up to `|R+ - R W C_q W_V| <= e^{2 sigma} |W|^2
/// |W_V| |R|^5`, as `sum |r_i|^4 <= |R|^4`.
///
/// The factor 1/2 is attained in the limit of small `R`: for two rows `mu +- r`, `mu` orthogonal to
/// `r`, and `W = W_V = r^T r/|r|^2` both weights are 1/2, `C_q = r^T r`, and `|R W C_q W_V| = sqrt
/// 2 |r|^3 = |R|^3/2`.
pub static ENTRY: Claim = Claim {
    name: "rank-collapse-cubic",
    title: "Attention without skip connections: residuals shrink at least cubically",
    lets: "`X+ = softmax(X W X^T) X W_V`, let `R` be `X` minus its mean row, `sigma = |W| |R|^2` \
           (Frobenius norms), and `C_q` the covariance of the rows of `R` under the weights that \
           the mean row gives",
    then: "`|R+| <= (1/2) e^{2 sigma} |W| |W_V| |R|^3`, and without mean rows `|R+ - R W C_q W_V| \
           <= e^{2 sigma} |W|^2 |W_V| |R|^5`. The factor 1/2 is sharp: two tokens attain it as `R` \
           tends to 0.",
    tested: "the first in each of five layers, in arithmetic that stores `log |R|`, and for two \
             tokens with `|R| = {SMALL}` that attain it to {FACTOR_ERROR}; the second in the first \
             layer, with plain softmax, up to its rounding `{ROUNDINGS} eps (n + d) sqrt(n) |W_V| \
             (X_max + |R| |W| X_max^2)`, `X_max` the longest row, to which both arithmetics agree",
    numbers: &[
        ("SMALL", SMALL),
        ("FACTOR_ERROR", FACTOR_ERROR),
        ("ROUNDINGS", ROUNDINGS),
        ("PARTS", 1.0 / LARGEST_SIGMA),
    ],
    domain: Domain {
        n: Sizes::Range(2, 16),
        d: Sizes::Range(2, 8),
        draws: "rows and matrices",
        ..Domain::FREE
    },
    narrower: "`W`, `W_V` normal with entries of variance `1/d`, `|R_0|` from about 1/1000 to 1/3, \
               `sigma <= 1/{PARTS}` at the start",
    source: "derived; sharpens arXiv:2103.03404, Theorem 2.2 (whose constants we have not seen)",
    trials: (20, 200),
    trial: |case, ctx| Ok(residual_chain(case, ctx, 0.0)?.and(attained(case, ctx)?)),
    constant: "the factor 1/2",
    control: Control {
        what: "a skip connection",
        trial: |ctx| residual_chain(&Case::new(8, 4, 0.0, ""), ctx, 1.0),
    },
    ..Claim::INEQUALITY
};

/// Number of layers.
const LAYERS: usize = 5;

/// A layer in plain double precision, with `skip` times X added.
fn plain_layer(x: &[f64], w: &[f64], w_v: &[f64], d: usize, skip: f64) -> Vec<f64> {
    let images = mul(x, w, d);
    let rows = images.chunks_exact(d).flat_map(|image| {
        let scores: Vec<f64> = x.chunks_exact(d).map(|y| dot(image, y)).collect();
        let top = vector::max(&scores);
        let weights: Vec<f64> = scores.iter().map(|s| (s - top).exp()).collect();
        let total: f64 = weights.iter().sum();
        (0..d)
            .map(|c| x.chunks_exact(d).zip(&weights).map(|(y, p)| p / total * y[c]).sum())
            .collect::<Vec<f64>>()
    });
    let mixed: Vec<f64> = rows.collect();
    mul(&mixed, w_v, d).iter().zip(x).map(|(a, x)| a + skip * x).collect()
}

fn residual_chain(case: &Case, ctx: &mut Context, skip: f64) -> Result<Finding> {
    let (n, d, spread) = (case.n, case.d, ctx.log_uniform_in(1e-3, 0.35));
    let mut scaled =
        |count: usize, size: f64| ctx.normals(count).iter().map(|g| size * g).collect::<Vec<f64>>();
    let common = scaled(d, 0.5);
    let x: Vec<f64> = scaled(n * d, spread / (n as f64 * d as f64).sqrt())
        .iter()
        .enumerate()
        .map(|(k, r)| r + common[k % d])
        .collect();
    let size = (d as f64).sqrt().recip();
    let (w, w_v) = (scaled(d * d, size), scaled(d * d, size));
    let (strength, stretch) = (norm(&w), norm(&w_v));
    let sigma = |r: &RankResidual| strength * (2.0 * r.log_size).exp();
    let Some(start) = RankResidual::new(&x, d).filter(|r| sigma(r) <= LARGEST_SIGMA) else {
        return Ok(Finding::HypothesesMissed);
    };
    // The first layer by plain softmax: the rounding error of its residual is that of numbers of
    // the size of X.
    let direct = RankResidual::new(&plain_layer(&x, &w, &w_v, d, skip), d);
    let (Some(direct), Some(leading), Some(first)) =
        (direct, start.leading(&w, &w_v), start.layer(&w, &w_v))
    else {
        return Ok(Finding::HypothesesMissed);
    };
    let (longest, residual) =
        (x.chunks_exact(d).map(norm).fold(0.0, nan_max), start.log_size.exp());
    let rounding = ROUNDINGS
        * f64::EPSILON
        * (n + d) as f64
        * (n as f64).sqrt()
        * stretch
        * (longest + residual * strength * longest.powi(2));
    let next_order = (2.0 * sigma(&start)).exp() * strength.powi(2) * stretch * residual.powi(5);
    let shape = Finding::at_most(distance(&direct, &leading), next_order + rounding);
    if skip > 0.0 {
        return Ok(shape);
    }
    let shape = shape.and(Finding::identity(distance(&direct, &first), rounding));
    let mut states = vec![start, first];
    while states.len() <= LAYERS {
        match states[states.len() - 1].layer(&w, &w_v) {
            Some(next) => states.push(next),
            None => return Ok(Finding::HypothesesMissed),
        }
    }
    let factor = ctx.claimed_constant(0.5);
    let over = |s: &[RankResidual]| s[1].log_size - 3.0 * s[0].log_size - 2.0 * sigma(&s[0]);
    let excess = states.windows(2).map(over).fold(f64::NEG_INFINITY, nan_max)
        - (factor * strength * stretch).ln();
    // A logarithm of a size has its own rounding error, and that of a sum of n + d terms.
    let deepest = states.iter().fold(0.0, |most, s| nan_max(most, s.log_size.abs()));
    let rounding = 16.0 * f64::EPSILON * ((n + d) as f64 + deepest);
    // Numbers too small for double precision are far below the bound.
    let bound = Finding::at_most(excess.clamp(-600.0, 600.0).exp(), 1.0);
    Ok(shape.and(bound.with_evaluation_error(rounding)))
}

/// Two tokens `mu +- r` that attain the factor 1/2 to first order in `|r|^2`.
fn attained(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let d = case.d;
    let basis = ctx.rotation(d);
    let (u, mu) = (&basis[..d], &basis[d..2 * d]);
    let size = SMALL / 2f64.sqrt();
    let x: Vec<f64> =
        [size, -size].iter().flat_map(|s| mu.iter().zip(u).map(move |(m, u)| m + s * u)).collect();
    let along: Vec<f64> = u.iter().flat_map(|a| u.iter().map(move |b| a * b)).collect();
    let layer = RankResidual::new(&x, d).and_then(|r| Some((r.layer(&along, &along)?, r)));
    let Some((next, start)) = layer else { return Ok(Finding::answer(false)) };
    let factor = (next.log_size - 3.0 * start.log_size).exp();
    // sigma is 1e-6 for these tokens.
    Ok(Finding::law(factor, ctx.claimed_constant(0.5), FACTOR_ERROR, 0.0))
}

/// `|R - R'|` of two residuals.
fn distance(a: &RankResidual, b: &RankResidual) -> f64 {
    let entries =
        |r: &RankResidual| r.shape.iter().map(|y| r.log_size.exp() * y).collect::<Vec<f64>>();
    entries(a).iter().zip(entries(b)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}
