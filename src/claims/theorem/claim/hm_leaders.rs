//! Hardmax in R^d: leaders stay.

use crate::theorem::prelude::*;

/// If `<A z_i, z_j> < <A z_i, z_i>` for all j then z_i stays, and for every j the next z_j is a convex combination of tokens below that
/// level: so it is for ever. A need not be symmetric.
///
/// # Derivation
///
/// Let `<A z_i, z_j> < <A z_i, z_i>` for all j other than i. Then `C_i = {i}` and `z_i` stays. Every other token moves to a convex
/// combination of tokens, with some weight on itself (s < 1), whose scores against `A z_i` are at most `<A z_i, z_i>`, its own less: the
/// inequality holds again. A need not be symmetric, since only its action on `z_i` is used.
///
/// What rounding may do: followers come near, and below `2 rho` of the leader's score nothing tells them apart, rho the rounding of a score
/// (`d eps` times `| |A| |z_i| |` times the longest row Z). By convexity the condition `<A z_i, z_i - z> >= kappa |A z_i| |z_i - z|` at the
/// start holds in the hull of the tokens for ever. So a token that wins by rounding lies within `2 rho / (kappa |A z_i|)` of the leader, and in
/// T layers the leader's level falls by 2 rho a layer at most, beside some `4 eps |A z_i| Z` of the rounding of coordinates: it moves by at
/// most `2 T (rho / |A z_i| + 2 eps Z)/kappa`. Its own motion changes `A z_i` too, which is of second order.
pub static ENTRY: Claim = Claim {
    name: "hm-leaders",
    title: "Hardmax: a token that is its own strict leader never moves, for any A",
    statement: "z+ = z + s mean_{j in C_i} (z_j - z_i), C_i = argmax_j <A z_i, z_j>, s in (0, 1), A any matrix: tokens with C_i = {i} at the \
                start, by at least kappa |A z_i| |z_i - z_j| with kappa = 0.01, are where they were after 40 layers, to 2 T eps (d r + 2) Z / kappa, \
                T = 40, Z the longest row, r the norm of |A| |z_i| over that of A z_i (what rounding of scores and followers that come near may do).",
    domain: Domain { n: Sizes::Range(2, 24), d: Sizes::Range(1, 4), laws: &["normal"], ..Domain::HARDMAX },
    narrower: "A = I + normal entries of standard deviation 1/(2d), s in [0.1, 0.9]; kappa in place of 0, r <= 1000",
    citation: "arXiv:2407.01602, Section 3; for any A derived",
    trials: (20, 200),
    trial: |case, ctx| moved(case, ctx, 1.0),
    control: Control { what: "layers of -A", trial: |ctx| moved(&Case::new(12, 2, 0.0, "hardmax"), ctx, -1.0) },
    ..Claim::IDENTITY
};

/// Layers.
const LAYERS: usize = 40;
/// The least margin of a leader, over `|A z_i| |z_i - z_j|`.
const KAPPA: f64 = 0.01;
/// The largest norm of `|A| |z_i|` over that of `A z_i`.
const CANCELLED: f64 = 1e3;

fn moved(case: &Case, ctx: &mut Context, sign: f64) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = Tokens::flat(d, ctx.normals(n * d))?;
    let mut a: Vec<f64> = ctx.normals(d * d).iter().map(|g| 0.5 * g / d as f64).collect();
    (0..d).for_each(|k| a[k * d + k] += 1.0);
    let step = ctx.uniform_in(0.1, 0.9);
    // No width of ties: a follower that has come near would pull its leader.
    let dynamics = Dynamics::of(Hardmax::new(Some(a.iter().map(|v| sign * v).collect()), 0.0)?).with(Rescaled);
    let mut z = x.clone();
    for _ in 0..LAYERS {
        Layer::new(step)?.apply(&dynamics, &mut z);
    }
    let longest = x.rows().map(norm).fold(0.0, nan_max);
    let share = |i: usize| {
        let allowed = 2.0 * LAYERS as f64 * f64::EPSILON * (d as f64 * cancelled(&x, &a, i)? + 2.0) * longest / KAPPA;
        Some(chord2(x.row(i), z.row(i)).sqrt() / allowed)
    };
    Ok((0..n).filter_map(share).reduce(nan_max).map_or(Finding::Missed, |worst| Finding::identity(worst, 1.0)))
}

/// The norm of `|A| |z_i|` over that of `A z_i`, for a token that is its own leader by more than rounding could hide.
fn cancelled(x: &Tokens, a: &[f64], i: usize) -> Option<f64> {
    let image = mul(a, x.row(i), 1);
    let size = norm(&image);
    let ahead = |j: usize| {
        let back: Vec<f64> = x.row(i).iter().zip(x.row(j)).map(|(z, y)| z - y).collect();
        dot(&image, &back) > KAPPA * size * norm(&back)
    };
    let terms = mul(&sizes(a), &sizes(x.row(i)), 1);
    let ratio = norm(&terms) / size;
    (ratio <= CANCELLED && (0..x.n()).all(|j| j == i || ahead(j))).then_some(ratio)
}
