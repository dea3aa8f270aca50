//! Bounds on the velocity and on the weights.

use crate::num::sum::block_sum;
use crate::theorem::prelude::*;

const ROUNDINGS: f64 = 4.0;
const LIGHT: f64 = 1e-120;
const SPEED_ERROR: f64 = 1e-12;
const CONTROL_BETA: f64 = -100.0;

/// # Derivation
///
/// A row of weights has the sum 1 (SA) or at most `w = e^|beta|` (USA), and `|P x_j| <= 1`. For the
/// Lipschitz constant let all tokens move by at most `eps`. The projection of `y_i = sum_j a_ij
/// x_j`, `|y_i| <= 1`, changes by `eps |y_i|`, the values move `y_i` by `eps`, and the logits,
/// `dl_ij = beta (<dx_i, x_j> + <x_i, dx_j>)`, move it by the covariance of `x_j` and `dl_ij` under
/// the row, at most `2 |beta| eps`. Unnormalised weights are at most `e^|beta|` and satisfy the
/// same estimate.
///
/// The term `2 |beta|` of SA is attained: let one token be `e_1` and all others alternately `e_2`
/// and `-e_2`, and turn all tokens by `h`, so that their inner products with the first become `sin
/// 2h` and `-sin 2h`. If `beta` is so negative that this token does not see itself, its speed grows
/// from 0 to `tanh(|beta| sin 2h)`.
pub static ENTRY: Claim = Claim {
    name: "speed-bound",
    title: "Speeds are at most 1 (SA) and `e^|beta|` (USA); rows sum to 1",
    lets: "`w = 1` for SA and `w = e^|beta|` for USA (U1)",
    then: "`|x_i'| <= w`. The velocities of two sets of tokens with the same masses differ by at \
           most `2 (1 + |beta|) w` times their largest distance. Softmax rows are positive, sum to \
           1, and do not change if all masses are multiplied by a common factor. A token of \
           vanishing mass at the angle `t` from a heavy one has the speed `sin t` (SA) and \
           `e^{beta cos t} sin t` (USA).",
    tested: "with two independent sets, and with two sets for which `2 |beta|` is attained at \
             large negative `beta`; rows to `{ROUNDINGS} eps`; the speed of a token of mass \
             {LIGHT} to `{SPEED_ERROR} (1 + |beta|)`",
    numbers: &[
        ("ROUNDINGS", ROUNDINGS),
        ("LIGHT", LIGHT),
        ("SPEED_ERROR", SPEED_ERROR),
        ("CONTROL_BETA", CONTROL_BETA),
    ],
    domain: Domain {
        n: Sizes::Range(1, 64),
        beta: Betas::Signed(0.01, 100.0),
        dynamics: &["sa", "usa", "causal-sa", "causal-usa"],
        laws: &["uniform", "cap:radius=0.3"],
        corners: &[(2, 2, 0.0), (64, 64, 0.0), (64, 2, 1.0)],
        ..Domain::ATTENTION
    },
    narrower: "`Q = K = I`; `|beta|` is limited so that no weight underflows",
    source: "arXiv:2312.10794, (2.3): convex combinations of unit vectors; the Lipschitz \
               constant is derived",
    trials: (80, 400),
    trial: |case, ctx| bound(case, ctx, 1.0),
    constant: "the factor `w` of both bounds",
    control: Control {
        what: "nine tenths of the Lipschitz constant, at `beta = {CONTROL_BETA}`",
        trial: |ctx| bound(&Case::with_random_masses(64, 2, CONTROL_BETA, "sa"), ctx, 0.9),
    },
    ..Claim::INEQUALITY
};

fn bound(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let y = Tokens::from_parts(
        case.d,
        ctx.tokens_with_law(case.n, case.d, case.law)?.coordinates().to_vec(),
        x.masses().to_vec(),
    );
    // Velocities have a relative error of 1e-13, and a token of vanishing own weight may attain the
    // bound.
    let limit = ctx.claimed_constant(case.largest_weight()?) * (1.0 + 1e-13);
    let lipschitz = factor * 2.0 * (1.0 + case.beta.abs()) * limit;
    let (v, w) = (ctx.velocity(case, &x)?, ctx.velocity(case, &y)?);
    let largest = |v: &[f64]| v.chunks_exact(case.d).map(norm).fold(0.0, nan_max);
    let change = |(x, v): (&Tokens, &[f64]), (y, w): (&Tokens, &[f64])| {
        let difference: Vec<f64> = v.iter().zip(w).map(|(a, b)| a - b).collect();
        let apart = x.rows().zip(y.rows()).map(|(a, b)| dist(a, b)).fold(0.0, nan_max);
        Finding::at_most(largest(&difference), lipschitz * apart)
    };
    let (before, after) = (crossed(case, 0.0), crossed(case, 1e-3 / (1.0 + case.beta.abs())));
    let (slow, fast) = (ctx.velocity(case, &before)?, ctx.velocity(case, &after)?);
    Ok(Finding::at_most(largest(&v), limit)
        .and(change((&x, &v), (&y, &w)))
        .and(change((&before, &slow), (&after, &fast)))
        .and(rows(case, ctx, &x))
        .and(light_token(case, ctx)?))
}

/// The speed of a light token beside a heavy one. It sees the heavy one under causal masks, too.
fn light_token(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let angle = ctx.uniform_in(0.3, 2.8);
    let x = Tokens::from_angles(&[0.0, angle])?.with_masses(&[1.0, LIGHT])?;
    let v = ctx.velocity(&Case::new(2, 2, case.beta, case.dynamics), &x)?;
    // Towards the heavy token, at the angle 0, and nowhere else.
    let (speed, radial) =
        (v[2] * angle.sin() - v[3] * angle.cos(), v[2] * angle.cos() + v[3] * angle.sin());
    let known = match case.row_weights()? {
        RowWeights::Exponential => (case.beta * angle.cos()).exp() * angle.sin(),
        _ => angle.sin(),
    };
    let off = nan_max((speed / known - 1.0).abs(), (radial / known).abs());
    Ok(Finding::identity(off, SPEED_ERROR * (1.0 + case.beta.abs())))
}

/// The last token at e_1, which sees all others also under a mask, and the others alternately at
/// e_2 and -e_2, all turned by h: inner products with the last are sin 2h and -sin 2h.
fn crossed(case: &Case, h: f64) -> Tokens {
    let (sin, cos) = h.sin_cos();
    let mut rows = vec![0.0; case.n * case.d];
    for (i, row) in rows.chunks_exact_mut(case.d).enumerate() {
        let side = if i % 2 == 0 { 1.0 } else { -1.0 };
        (row[0], row[1]) = if i + 1 == case.n { (cos, sin) } else { (side * sin, side * cos) };
    }
    Tokens::from_parts(case.d, rows, vec![1.0 / case.n as f64; case.n])
}

/// A row of weights as the dynamics computes it.
fn rows(case: &Case, ctx: &mut Context, x: &Tokens) -> Finding {
    let attention = Attention::new(case.beta);
    let (i, factor) = (ctx.index(case.n), ctx.log_uniform_in(1e-3, 1e3));
    let row = attention.row_weights(x, 0, i);
    let scaled = Tokens::from_parts(
        case.d,
        x.coordinates().to_vec(),
        x.masses().iter().map(|m| factor * m).collect(),
    );
    let moved = row
        .iter()
        .zip(attention.row_weights(&scaled, 0, i))
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, nan_max);
    let off = nan_max((block_sum(&row) - 1.0).abs(), moved);
    Finding::identity(off, ROUNDINGS * f64::EPSILON)
        .and(Finding::answer(row.iter().all(|a| *a > 0.0)))
}
