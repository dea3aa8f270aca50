//! Tokens in R^d under a good triple: at most three hyperplanes, and the rate.

use super::setting::{PARTS, UNIT, attention, evolve, near_identity};
use crate::num::dense::inverse;
use crate::theorem::prelude::*;

const EARLY: f64 = 13.0;
const LATE: f64 = 15.0;
const NEAR: f64 = 1e-2;
const PERCENT: f64 = 5.0;
const OTHERS: f64 = 0.4;
const CONTROL_FACTOR: f64 = 1.2;

/// A value matrix with a simple leading eigenvalue: only one coordinate of every token has a limit
/// that depends on its leader.
///
/// # Derivation
///
/// The hyperplanes are the theorem. With `x_i = e^{tV} z_i`, the scores of token `i` differ by `<Q
/// x_i, x_j - x_k>`, to leading order `c_i e^{lambda_1 t} <Q phi_1, x_j - x_k>` with `c_i =
/// phi_1^*(z_i)`: all tokens with `c_i > 0` attend in the end to the token with the largest `<Q
/// phi_1, x_j>`. This need not be the token that is farthest along `phi_1`: differences in all
/// directions matter, not only those of `phi_1^*`.
///
/// The rate is derived. If the rows of a token `i` and of its leader `l` are one-hot on `l`, both
/// obey `x' = V x_l`, so `x_l - x_i` is constant and `(z_l - z_i)' = -V (z_l - z_i)`. Its part
/// along the left eigenvector `phi_1^*` decays as `e^{-lambda_1 t}`. Where two tokens compete for
/// the lead, this takes long to begin; the median over tokens and late times make it rare.
pub static ENTRY: Claim = Claim {
    name: "rd-hyperplanes",
    title: "`R^d`, good triple: tokens tend to at most three hyperplanes, at the rate \
            `e^{-lambda_1 t}`",
    lets: "`V` have a simple eigenvalue `lambda_1 > 0` larger than the modulus of all others, with \
           right and left eigenvectors `phi_1` and `phi_1^*`, and let scores `<Q x_i, x_j>` have \
           `<Q phi_1, phi_1> > 0`",
    then: "Every rescaled token `z_i` tends to one of the hyperplanes `phi_1^* = a`, 0, `b`. Here \
           a is the limit of the smallest `phi_1^*(z_i)` if it is negative, and `b` that of the \
           largest if it is positive. The distances from the first and the last decrease like \
           `e^{-lambda_1 t}`.",
    tested: "at `lambda_1 t = {LATE}`: `phi_1^*(z_i)` is within 1/{INVERSE} of `a`, 0 or `b`, in \
             units of its range at the start; the median over tokens of the slopes of `log \
             |phi_1^*(z_i) - b|` (or `a`) from `lambda_1 t = {EARLY}` on is `-lambda_1` to \
             {PERCENT} %",
    numbers: &[
        ("EARLY", EARLY),
        ("LATE", LATE),
        ("INVERSE", 1.0 / NEAR),
        ("PERCENT", PERCENT),
        ("OTHERS", OTHERS),
        ("PARTS", PARTS),
        ("CONTROL_FACTOR", CONTROL_FACTOR),
    ],
    domain: Domain { n: Sizes::Range(6, 16), d: Sizes::Range(2, 3), ..UNIT },
    narrower: "`1 <= lambda_1 <= 3/2`, other eigenvalues in [-{OTHERS}, {OTHERS}], eigenvectors \
               near an orthogonal basis; `Q = I + G/{PARTS}`, `G` normal, with `<Q phi_1, phi_1> \
               >= |phi_1|^2/4`",
    source: "arXiv:2305.05465, theorem on a simple leading eigenvalue (good triples; v6, as quoted \
             in a formal statement); the rate derived",
    trials: (6, 40),
    trial: |case, ctx| approach(case, ctx, 1.0),
    constant: "`lambda_1`",
    control: Control {
        what: "the rate `e^{-{CONTROL_FACTOR} lambda_1 t}`",
        trial: |ctx| approach(&Case::new(10, 2, 1.0, "sa"), ctx, CONTROL_FACTOR),
    },
    ..Claim::LAW
};

fn approach(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let mut basis: Vec<f64> = ctx.normals(d * d).iter().map(|g| 0.3 * g).collect();
    (0..d).for_each(|k| basis[k * d + k] += 1.5);
    let values: Vec<f64> = (0..d)
        .map(|k| if k == 0 { ctx.uniform_in(1.0, 1.5) } else { ctx.uniform_in(-OTHERS, OTHERS) })
        .collect();
    let q = near_identity(ctx, d);
    let x = Tokens::flat(d, ctx.normals(n * d))?;
    let back = inverse(&basis, d);
    let phi: Vec<f64> = (0..d).map(|c| basis[c * d]).collect();
    let good = dot(&mul(&q, &phi, 1), &phi) >= 0.25 * dot(&phi, &phi);
    if !good || back.iter().any(|v| !v.is_finite()) {
        return Ok(Finding::HypothesesMissed);
    }
    let scaled: Vec<f64> = (0..d * d).map(|k| basis[k] * values[k % d]).collect();
    let v = mul(&scaled, &back, d);
    let dynamics = attention(case.beta, n, d, Some((d, q)), Some((d, v)), true)?;
    let coordinate = |z: &Tokens| -> Vec<f64> { z.rows().map(|r| dot(&back[..d], r)).collect() };
    let (early, late) = (EARLY / values[0], LATE / values[0]);
    let range =
        |c: &[f64]| (c.iter().copied().fold(0.0, nan_min), c.iter().copied().fold(0.0, nan_max));
    let start = coordinate(&x);
    let size = vector::max(&start) + vector::max(&start.iter().map(|c| -c).collect::<Vec<_>>());
    // The equation of z depends on time, so it is integrated from 0 for both times.
    let before = coordinate(&evolve(ctx, &dynamics, &x, early, 1e-2)?);
    let after = coordinate(&evolve(ctx, &dynamics, &x, late, 1e-2)?);
    let from_plane = |all: &[f64], i: usize| {
        let (a, b) = range(all);
        if all[i] > 0.0 { b - all[i] } else { all[i] - a }
    };
    let far = (0..n).map(|i| nan_min(from_plane(&after, i), after[i].abs())).fold(0.0, nan_max);
    let mut rates: Vec<f64> = (0..n)
        .map(|i| (from_plane(&before, i), from_plane(&after, i)))
        .filter(|(first, last)| *first > 0.0 && *last > 0.0)
        .map(|(first, last)| (first / last).ln() / (late - early))
        .collect();
    rates.sort_by(f64::total_cmp);
    let planes = Finding::at_most(far / size, NEAR);
    let Some(median) = rates.get(rates.len() / 2) else { return Ok(planes) };
    let stated = ctx.claimed_constant(factor * values[0]);
    Ok(planes.and(Finding::law(*median, stated, PERCENT / 100.0 * values[0], 0.0)))
}
