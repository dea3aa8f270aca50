//! Weights depend only on the product of queries and keys.

use crate::num::softmax::softmax;
use crate::theorem::prelude::*;

/// <G Q x, G^{-T} K y> = <Q x, K y>. Values have no such invariance.
///
/// # Derivation
///
/// `<G Q x, G^{-T} K y> = x^T Q^T G^T G^{-T} K y`. Rounding: a score is a sum of products whose
/// absolute values add up to at most `a_i b_j`, `a_i` the norm of `|Q| |x_i|` and `b_j` that of
/// `|K| |x_j|`. On the other side G and `G^{-T}` are applied. Their entries are at most 2, so
/// `|G Q| |x_i|` is at most `2 sqrt(d) a_i` and the absolute values add up to at most
/// `4 d a_i b_j`: with `5 d` successive roundings (and `4 d` more because R is a rotation only up
/// to rounding) the two scores differ by less than `32 d^2 eps a_i b_j`, and weights by twice that,
/// relative.
pub static ENTRY: Claim = Claim {
    name: "query-key-product",
    title: "Weights depend only on Q^T K: (Q, K) and (G Q, G^{-T} K) agree",
    lets: "Q, K and n rows be normal, and G = R diag(g) with a rotation R and all g_k in [1/2, 2]",
    then: "The weights softmax_j(<Q x_i, K x_j>) do not change if (Q, K) is replaced by (G Q, \
           G^{-T} K).",
    tested: "to a relative e^{64 d^2 eps S_i + 2 (n + 4) eps} - 1, a bound on rounding, where S_i \
             is the largest product over j of the norms of |Q| |x_i| and |K| |x_j| (|.| entry by \
             entry)",
    domain: Domain { n: Sizes::Range(2, 8), d: Sizes::Range(2, 6), ..Domain::MAPS },
    source: "definition of attention, arXiv:1706.03762",
    trials: (10, 60),
    trial: |case, ctx| transformed(ctx, case, true),
    control: Control {
        what: "3 G instead of its inverse transposed",
        trial: |ctx| transformed(ctx, &Case::new(5, 4, 0.0, "maps of rows"), false),
    },
    ..Claim::IDENTITY
};

fn transformed(ctx: &mut Context, case: &Case, inverse: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let size = (d as f64).sqrt().recip();
    let (x, q, k) = (ctx.normals(n * d), normals(ctx, d * d, size), normals(ctx, d * d, size));
    let r = ctx.rotation(d);
    let stretch: Vec<f64> = (0..d).map(|_| ctx.log_uniform_in(0.5, 2.0)).collect();
    let g: Vec<f64> = (0..d * d).map(|e| r[e] * stretch[e % d]).collect();
    // (R D)^{-T} = R D^{-1}.
    let h: Vec<f64> =
        (0..d * d).map(|e| if inverse { r[e] / stretch[e % d] } else { 3.0 * g[e] }).collect();
    let weights = |q: &[f64], k: &[f64]| -> Vec<f64> {
        scores(&x, q, k, d).chunks_exact(n).flat_map(|s| softmax_row(s.to_vec())).collect()
    };
    let (a, b) = (weights(&q, &k), weights(&mul(&g, &q, d), &mul(&h, &k, d)));
    let norms = |m: &[f64]| -> Vec<f64> {
        let images = images(&absolute(&x), &absolute(m), d);
        images.iter().map(|v| norm(v)).collect()
    };
    let (queries, keys) = (norms(&q), norms(&k));
    let largest = keys.iter().copied().fold(0.0, f64::max);
    let change =
        |i: usize| weight_change(32.0 * f64::EPSILON * (d * d) as f64 * queries[i] * largest, n);
    let allowed: Vec<f64> =
        a.iter().zip(&b).enumerate().map(|(k, (a, b))| change(k / n) * a.max(*b) + TINY).collect();
    Ok(Finding::identity(max_relative_deviation(&a, &b, &allowed), 1.0))
}

/// `M x_i`, one for every row.
fn images(x: &[f64], m: &[f64], d: usize) -> Vec<Vec<f64>> {
    x.chunks_exact(d).map(|x| m.chunks_exact(d).map(|row| dot(row, x)).collect()).collect()
}

/// `<Q x_i, K x_j>`, n x n.
pub(crate) fn scores(x: &[f64], q: &[f64], k: &[f64], d: usize) -> Vec<f64> {
    let (queries, keys) = (images(x, q, d), images(x, k, d));
    queries.iter().flat_map(|q| keys.iter().map(|k| dot(q, k)).collect::<Vec<f64>>()).collect()
}

/// The softmax of a row.
pub(crate) fn softmax_row(mut row: Vec<f64>) -> Vec<f64> {
    let masses = vec![1.0; row.len()];
    softmax(&mut row, &masses);
    row
}
