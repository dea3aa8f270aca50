//! The derivative of softmax.

use crate::num::softmax::softmax;
use crate::theorem::prelude::*;

const SIZES: (f64, f64) = (0.1, 30.0);

/// It is small if one weight is near 1, so large scores make gradients vanish.
///
/// # Derivation
///
/// The absolute row sums of `diag(p) - p p^T` are `p_i (1 - p_i) + p_i sum_{j != i} p_j = 2 p_i
/// (1 - p_i) <= 1/2`, and the norm of a symmetric matrix is at most the largest of them. If `i` is
/// the maximiser, `1 - p_i = 1 - max p`; if not, `p_i <= 1 - max p`.
pub static ENTRY: Claim = Claim {
    name: "softmax-jacobian",
    title: "Softmax: `|diag(p) - p p^T| <= min(1/2, 2 (1 - max p))`",
    lets: "`p` be the softmax of `n` scores",
    then: "`|diag(p) - p p^T| <= min(1/2, 2 (1 - max p))`.",
    tested: "with normal scores of a size in [1/{PARTS}, {LARGEST}]",
    numbers: &[("PARTS", 1.0 / SIZES.0), ("LARGEST", SIZES.1)],
    domain: Domain {
        n: Sizes::Range(2, 16),
        d: Sizes::Unused,
        draws: "`n` scores",
        ..Domain::FREE
    },
    source: "derived",
    trials: (12, 120),
    trial: |case, ctx| norm(ctx, case.n, 1.0),
    constant: "the bound",
    control: Control { what: "`diag(p)` without `p p^T`, `n = 2`", trial: |ctx| norm(ctx, 2, 0.0) },
    ..Claim::INEQUALITY
};

fn norm(ctx: &mut Context, n: usize, centred: f64) -> Result<Finding> {
    let size = if centred > 0.0 { ctx.log_uniform_in(SIZES.0, SIZES.1) } else { 10.0 };
    let mut p = normals(ctx, n, size);
    softmax(&mut p, &vec![1.0; n]);
    let matrix: Vec<f64> = (0..n * n)
        .map(|k| if k / n == k % n { p[k / n] } else { 0.0 } - centred * p[k / n] * p[k % n])
        .collect();
    let Some(values) = symmetric_eigenvalues(&matrix, n) else {
        return Ok(Finding::HypothesesMissed);
    };
    // 1 - max p is the sum of the others: no cancellation.
    let top = (0..n).fold(0, |t, k| if p[k] > p[t] { k } else { t });
    let rest: f64 = (0..n).filter(|k| *k != top).map(|k| p[k]).sum();
    let largest = nan_max(values[n - 1], -values[0]);
    // The error of eigenvalues is 1e-15 of the largest entry.
    let bound = ctx.claimed_constant(1.0) * nan_min(2.0 * rest, 0.5);
    Ok(Finding::at_most(largest, bound + 1e-14))
}
