//! Tokens in R^d, V = I: the convex hull never grows.

use super::rd_rescaling::{attention, evolve, points};
use crate::theorem::prelude::*;

/// The hull does not grow for any row-stochastic weights A, whatever the scores. A layer
/// z_i+ = z_i + eta sum_j A_ij (z_j - z_i) is a convex combination for eta <= 1.
///
/// # Derivation
///
/// With row sums of one z_i' = sum_j A_ij (z_j - z_i). For a direction w let i attain
/// `max_i <w, z_i>`: every term of `<w, z_i'>` is at most 0. The upper right derivative of a
/// maximum of finitely many smooth functions is the largest derivative among those that attain it,
/// so the support function does not increase; as w is arbitrary, neither does the hull.
/// A layer is z_i+ = (1 - eta) z_i + eta sum_j A_ij z_j, for eta <= 1 a convex combination of
/// points of the hull. Scores do not matter, the sign of V does: with V = -I all terms change sign.
pub static ENTRY: Claim = Claim {
    name: "rd-hull",
    title: "R^d, V = I: the hull of the rescaled tokens never grows",
    then: "For V = I and scores beta <Q x_i, x_j> with any matrix Q, the convex hull of the \
           rescaled tokens never grows.",
    tested: "as: the support functions max_i <w, z_i> of 16 directions w do not increase from \
             time 0 to a time t <= 2 of the flow (to 1e-9 of the size of the tokens) and in each \
             of ten layers of step <= 1 (to 1e-12)",
    domain: Domain { beta: Betas::Signed(0.01, 2.0), ..Domain::FLAT },
    narrower: "normal tokens and Q",
    source: "arXiv:2305.05465, Proposition 6.1 (its proof needs row sums of one only)",
    trials: (12, 80),
    trial: |case, ctx| growth(case, ctx, 1.0),
    control: Control {
        what: "V = -I",
        trial: |ctx| growth(&Case::with_random_masses(6, 2, 1.0, "sa"), ctx, -1.0),
    },
    ..Claim::IDENTITY
};

/// The support function of the hull in the direction w.
fn support(x: &Tokens, w: &[f64]) -> f64 {
    x.rows().map(|row| dot(row, w)).fold(f64::NEG_INFINITY, f64::max)
}

/// Largest increase of a support function, over a time and in ten layers, for V = sign I.
fn growth(case: &Case, ctx: &mut Context, sign: f64) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = points(case, ctx)?;
    let q = ctx.normals(d * d);
    let directions = ctx.normals(16 * d);
    let v: Vec<f64> = crate::num::dense::identity(d).iter().map(|v| sign * v).collect();
    let dynamics = attention(case.beta, n, d, Some((d, q)), Some((d, v)), true)?;
    let size = x.numbers().iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let excess = |before: &Tokens, after: &Tokens| {
        let grown =
            directions.chunks_exact(d).map(|w| (support(after, w) - support(before, w)) / norm(w));
        grown.fold(0.0, crate::num::stats::nan_max)
    };
    let t = ctx.uniform_in(0.1, 2.0);
    let end = evolve(ctx, &dynamics, &x, t, 0.1)?;
    let along = Finding::identity(excess(&x, &end), 1e-9 * size);
    let layer = Layer::new(ctx.uniform_in(0.05, 1.0))?;
    let mut worst = 0.0f64;
    let mut z = x;
    for _ in 0..10 {
        let before = z.clone();
        layer.apply(&dynamics, &mut z);
        worst = worst.max(excess(&before, &z));
    }
    Ok(along.and(Finding::identity(worst, 1e-12 * size)))
}
