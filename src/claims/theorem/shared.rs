//! What claims of several topics use: ranges, sums over pairs, random matrices.

use super::prelude::*;
use crate::sphere::geometry::antichord2;

/// The range for identities between sums over pairs: every sign of beta, weights that do not
/// underflow, uniform tokens, tokens in a cap, and nearly coincident tokens.
pub const PAIRS: Domain = Domain {
    n: Sizes::Range(1, 64),
    beta: Betas::Signed(0.01, 300.0),
    laws: &["uniform", "cap:radius=0.3", "cap:radius=1e-6"],
    corners: &[(2, 2, 0.0), (3, 3, 1.0), (12, 4, 4.0), (30, 2, 10.0)],
    ..Domain::ATTENTION
};

/// `m_i m_j e^{beta G_ij - |beta|}`.
pub fn weight(beta: f64, x: &Tokens, i: usize, j: usize) -> f64 {
    x.masses()[i] * x.masses()[j] * (beta * x.inner(i, j) - beta.abs()).exp()
}

/// `|x_i ^ x_j| = |P_{x_i} x_j|`, without cancellation.
pub fn sine(x: &Tokens, i: usize, j: usize) -> f64 {
    0.5 * (chord2(x.row(i), x.row(j)) * antichord2(x.row(i), x.row(j))).sqrt()
}

/// Factor of the tolerance (1e-9) for the integrations that test symmetries.
pub const SYMMETRY_TOLERANCE: f64 = 1e-4;

/// A random matrix of Frobenius norm 1, so that beta is the scale of the logits.
pub fn unit_matrix(ctx: &mut Context, d: usize) -> Option<(usize, Vec<f64>)> {
    let mut a = ctx.normals(d * d);
    let norm = norm(&a).max(f64::MIN_POSITIVE);
    divide(&mut a, norm);
    Some((d, a))
}

/// Normal numbers of this standard deviation.
pub fn normals(ctx: &mut Context, count: usize, size: f64) -> Vec<f64> {
    ctx.normals(count).iter().map(|v| size * v).collect()
}
