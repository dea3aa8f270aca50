//! Attention with Q = K = 0.

use super::query_key_product::{scores, softmax_row};
use crate::theorem::prelude::*;

/// All weights are 1/n, so every token has the same output, V times the mean.
///
/// # Derivation
///
/// All scores are 0, so every weight is 1/n, and sum_j (1/n) V x_j = V xbar does not depend on the
/// row. A tokenwise map needs the identity as the matrix of weights, that is, one token, or beta to
/// infinity with every token its own strict maximiser.
pub static ENTRY: Claim = Claim {
    name: "zero-query-is-mean",
    title: "Q = K = 0: every output is V times the mean token",
    lets: "n rows and V be normal and all scores 0",
    then: "All outputs are equal bit for bit, and equal to V times the mean row.",
    tested: "to 1e-13 |V| max |x_i|, with the Frobenius norm of V",
    domain: Domain::MAPS,
    source: "derived",
    trials: (8, 60),
    trial: |case, ctx| mean_of(ctx, case, 0.0),
    control: Control {
        what: "Q = K = I",
        trial: |ctx| mean_of(ctx, &Case::new(5, 3, 0.0, "maps of rows"), 1.0),
    },
    ..Claim::IDENTITY
};

fn mean_of(ctx: &mut Context, case: &Case, strength: f64) -> Result<Finding> {
    let (x, v, out) = attended(ctx, case, strength);
    let (n, d) = (case.n, case.d);
    let mean: Vec<f64> =
        (0..d).map(|c| x.iter().skip(c).step_by(d).sum::<f64>() / n as f64).collect();
    let stated: Vec<f64> = v.chunks_exact(d).map(|r| dot(r, &mean)).collect();
    let (mut apart, mut off) = (0.0, 0.0);
    for (k, o) in out.iter().enumerate() {
        apart = nan_max(apart, (o - out[k % d]).abs());
        off = nan_max(off, (o - stated[k % d]).abs());
    }
    let size = norm(&v) * x.chunks_exact(d).map(norm).fold(0.0, nan_max);
    // Numbers of order 1 that are not equal differ by more than 1e-30.
    Ok(Finding::identity(apart, 1e-30).and(Finding::identity(off, 1e-13 * size)))
}

/// Rows, V, and the outputs of a head with `Q = K = strength I`.
pub(crate) fn attended(
    ctx: &mut Context,
    case: &Case,
    strength: f64,
) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let (n, d) = (case.n, case.d);
    let (x, v) = (ctx.normals(n * d), ctx.normals(d * d));
    let q: Vec<f64> = identity(d).iter().map(|e| strength * e).collect();
    let weights: Vec<f64> =
        scores(&x, &q, &q, d).chunks_exact(n).flat_map(|s| softmax_row(s.to_vec())).collect();
    let values: Vec<f64> = x
        .chunks_exact(d)
        .flat_map(|x| v.chunks_exact(d).map(|r| dot(r, x)).collect::<Vec<f64>>())
        .collect();
    let out = mul(&weights, &values, d);
    (x, v, out)
}
