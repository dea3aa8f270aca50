//! Only the product of queries and keys matters.

use super::mixing_structure::{MAPS, normals};
use super::{Case, Claim, Context, Control, Domain, Finding, Kind, Sizes, Status};
use crate::error::Result;
use crate::num::{dense::mul, softmax::softmax, stats::nan_max, sum::dot};

/// <G Q x, G^{-T} K y> = <Q x, K y>; values have no such freedom.
pub static ENTRY: Claim = Claim {
    name: "query-key-product",
    title: "Weights depend on Q^T K only: (Q, K) and (G Q, G^{-T} K) agree",
    statement: "Normal Q, K, normal rows, G = R diag(1/2 .. 2) with a rotation R: all weights softmax_j(<Q x_i, K x_j>) agree to 1e-12.",
    domain: Domain { n: Sizes::Range(2, 8), d: Sizes::Range(2, 6), ..MAPS },
    narrower: "",
    citation: "definition of attention, arXiv:1706.03762",
    status: Status::Theorem,
    kind: Kind::Identity,
    trials: (10, 60),
    trial: |case, ctx| turned(ctx, case, true),
    perturbed: "",
    control: Control {
        what: "3 G in place of its inverse transposed",
        trial: |ctx| turned(ctx, &Case::new(5, 4, 0.0, "maps of rows"), false),
    },
    proof: None,
};

fn turned(ctx: &mut Context, case: &Case, inverse: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let size = (d as f64).sqrt().recip();
    let (x, q, k) = (ctx.normals(n * d), normals(ctx, d * d, size), normals(ctx, d * d, size));
    let r = ctx.rotation(d);
    let stretch: Vec<f64> = (0..d).map(|_| ctx.log_uniform_in(0.5, 2.0)).collect();
    let g: Vec<f64> = (0..d * d).map(|e| r[e] * stretch[e % d]).collect();
    // (R D)^{-T} = R D^{-1}.
    let h: Vec<f64> = (0..d * d).map(|e| if inverse { r[e] / stretch[e % d] } else { 3.0 * g[e] }).collect();
    let weights = |q: &[f64], k: &[f64]| -> Vec<f64> { scores(&x, q, k, d).chunks_exact(n).flat_map(|s| soft(s.to_vec())).collect() };
    let (a, b) = (weights(&q, &k), weights(&mul(&g, &q, d), &mul(&h, &k, d)));
    Ok(Finding::identity(a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, nan_max), 1e-12))
}

/// `<Q x_i, K x_j>`, n x n.
pub(super) fn scores(x: &[f64], q: &[f64], k: &[f64], d: usize) -> Vec<f64> {
    let image = |m: &[f64]| -> Vec<Vec<f64>> { x.chunks_exact(d).map(|x| m.chunks_exact(d).map(|row| dot(row, x)).collect()).collect() };
    let (queries, keys) = (image(q), image(k));
    queries.iter().flat_map(|q| keys.iter().map(|k| dot(q, k)).collect::<Vec<f64>>()).collect()
}

/// The softmax of a row.
pub(super) fn soft(mut row: Vec<f64>) -> Vec<f64> {
    let masses = vec![1.0; row.len()];
    softmax(&mut row, &masses);
    row
}
