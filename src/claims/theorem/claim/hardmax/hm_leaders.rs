//! Hardmax in R^d: leaders do not move.

use crate::theorem::prelude::*;

/// If `<A z_i, z_j> < <A z_i, z_i>` for all j other than i, then z_i does not move, and every new
/// z_j is a convex combination of tokens below that level, so the inequality persists. A need not
/// be symmetric.
///
/// # Derivation
///
/// Let `<A z_i, z_j> < <A z_i, z_i>` for all j other than i. Then `C_i = {i}` and `z_i` stays.
/// Every other token moves to a convex combination of tokens, with some weight on itself (s < 1),
/// whose scores against `A z_i` are at most `<A z_i, z_i>`, its own less: the inequality holds
/// again. A need not be symmetric, since only its action on `z_i` is used.
///
/// Rounding: followers approach the leader, and scores that differ by less than `2 rho` cannot be
/// distinguished, where rho is the rounding error of a score (`d eps` times `| |A| |z_i| |` times
/// the longest row Z). By convexity the condition `<A z_i, z_i - z> >= kappa |A z_i| |z_i - z|` at
/// the start holds in the hull of the tokens for ever. So a token that wins by rounding lies within
/// `2 rho / (kappa |A z_i|)` of the leader, and in T layers the leader's level decreases by at most
/// 2 rho per layer, plus some `4 eps |A z_i| Z` for the rounding of coordinates. So it moves by at
/// most `2 T (rho / |A z_i| + 2 eps Z)/kappa`. Its own motion changes `A z_i` too, which is of
/// second order.
pub static ENTRY: Claim = Claim {
    name: "hm-leaders",
    title: "Hardmax: a token that is its own strict leader never moves, for any A",
    lets: "z_i+ = z_i + s mean_{j in C_i} (z_j - z_i) with C_i = argmax_j <A z_i, z_j>, s in (0, \
           1) and any matrix A",
    then: "Tokens with C_i = {i} at the start never move.",
    tested: "for tokens that lead by at least kappa |A z_i| |z_i - z_j|, kappa = 0.01: after T = \
             40 layers they have moved by at most 2 T eps (d r + 2) Z / kappa, a bound on \
             rounding, where Z is the longest row and r the norm of |A| |z_i| divided by that of \
             A z_i",
    domain: Domain {
        n: Sizes::Range(2, 24),
        d: Sizes::Range(1, 4),
        laws: &["normal"],
        ..Domain::HARDMAX
    },
    narrower: "A = I + normal entries of standard deviation 1/(2d), s in [0.1, 0.9]; kappa instead \
               of 0, r <= 1000",
    source: "arXiv:2407.01602, Section 3; for any A derived",
    trials: (20, 200),
    trial: |case, ctx| displacement(case, ctx, 1.0),
    control: Control {
        what: "layers of -A",
        trial: |ctx| displacement(&Case::new(12, 2, 0.0, "hardmax"), ctx, -1.0),
    },
    ..Claim::IDENTITY
};

/// Number of layers.
const LAYERS: usize = 40;
/// The least lead of a leader, relative to `|A z_i| |z_i - z_j|`.
const KAPPA: f64 = 0.01;
/// The largest admitted norm of `|A| |z_i|`, relative to that of `A z_i`.
const CANCELLED: f64 = 1e3;

fn displacement(case: &Case, ctx: &mut Context, sign: f64) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = Tokens::flat(d, ctx.normals(n * d))?;
    let mut a: Vec<f64> = ctx.normals(d * d).iter().map(|g| 0.5 * g / d as f64).collect();
    (0..d).for_each(|k| a[k * d + k] += 1.0);
    let step = ctx.uniform_in(0.1, 0.9);
    // Without a tie tolerance: a follower near the leader would move it.
    let dynamics = Dynamics::single(Hardmax::new(Some(a.iter().map(|v| sign * v).collect()), 0.0)?)
        .with_normalisation(Rescaled);
    let mut z = x.clone();
    for _ in 0..LAYERS {
        Layer::new(step)?.apply(&dynamics, &mut z);
    }
    let longest = x.rows().map(norm).fold(0.0, nan_max);
    let share = |i: usize| {
        let allowed = 2.0
            * LAYERS as f64
            * f64::EPSILON
            * (d as f64 * cancellation(&x, &a, i)? + 2.0)
            * longest
            / KAPPA;
        Some(chord2(x.row(i), z.row(i)).sqrt() / allowed)
    };
    Ok((0..n)
        .filter_map(share)
        .reduce(nan_max)
        .map_or(Finding::HypothesesMissed, |worst| Finding::identity(worst, 1.0)))
}

/// The norm of `|A| |z_i|` divided by that of `A z_i`, for a token that is its own leader by more
/// than the rounding.
fn cancellation(x: &Tokens, a: &[f64], i: usize) -> Option<f64> {
    let image = mul(a, x.row(i), 1);
    let size = norm(&image);
    let ahead = |j: usize| {
        let back: Vec<f64> = x.row(i).iter().zip(x.row(j)).map(|(z, y)| z - y).collect();
        dot(&image, &back) > KAPPA * size * norm(&back)
    };
    let terms = mul(&absolute(a), &absolute(x.row(i)), 1);
    let ratio = norm(&terms) / size;
    (ratio <= CANCELLED && (0..x.n()).all(|j| j == i || ahead(j))).then_some(ratio)
}
