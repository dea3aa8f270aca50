//! The rank of scores and of outputs.

use super::query_key_product::{scores, softmax_row};
use super::shared_value_rank::singular_ratio;
use crate::theorem::prelude::*;

/// Scores have at most the rank of a head, outputs that of the values; weights have neither bound.
pub static ENTRY: Claim = Claim {
    name: "logit-rank",
    title: "Rank of Q X (K X)^T at most d_head; rank of A X V^T at most that of V",
    lets: "n rows of R^d be normal, Q and K normal of shape r x d, and V of rank r, with 1 <= r < \
           d < n",
    then: "The matrix of scores <Q x_i, K x_j> (n x n) and the outputs A X V^T (n x d), A the \
           softmax of the scores, have rank at most r.",
    tested: "as: the singular value number r + 1 is at most 1e-7 of the first",
    domain: Domain { n: Sizes::Range(6, 12), d: Sizes::Range(2, 5), ..Domain::MAPS },
    source: "linear algebra",
    trials: (8, 60),
    trial: |case, ctx| {
        let rank = 1 + ctx.index((case.d - 1).max(1));
        let (scores, _, out) = head(ctx, case, rank);
        Ok(small(&scores, case.n, rank).and(small(&out, case.d, rank)))
    },
    control: Control {
        what: "the matrix of weights",
        trial: |ctx| {
            let (_, weights, _) = head(ctx, &Case::new(6, 3, 0.0, "maps of rows"), 1);
            Ok(small(&weights, 6, 1))
        },
    },
    ..Claim::INEQUALITY
};

fn small(a: &[f64], columns: usize, rank: usize) -> Finding {
    Finding::at_most(singular_ratio(a, columns, rank), 1e-7)
}

/// Scores, weights and outputs of a head as wide as the tokens, with normal matrices.
pub(crate) fn matrices(ctx: &mut Context, case: &Case) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    head(ctx, case, case.d)
}

/// Scores, weights and outputs of a head with normal `r x d` matrices Q and K and a V of rank r,
/// the product of normal `d x r` and `r x d`.
fn head(ctx: &mut Context, case: &Case, r: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let (n, d) = (case.n, case.d);
    let size = (d as f64).sqrt().recip();
    let x = normals(ctx, n * d, 1.0);
    let (q, k) = (normals(ctx, r * d, size), normals(ctx, r * d, size));
    let v = mul(&normals(ctx, d * r, size), &normals(ctx, r * d, size), d);
    let scores = scores(&x, &q, &k, d);
    let weights: Vec<f64> = scores.chunks_exact(n).flat_map(|s| softmax_row(s.to_vec())).collect();
    let values: Vec<f64> = x
        .chunks_exact(d)
        .flat_map(|x| v.chunks_exact(d).map(|r| dot(r, x)).collect::<Vec<f64>>())
        .collect();
    let out = mul(&weights, &values, d);
    (scores, weights, out)
}
