//! The rank of scores and of outputs.

use super::mixing_structure::{MAPS, normals};
use super::query_key_product::{scores, soft};
use super::shared_value_rank::singular_ratio;
use super::{Case, Claim, Context, Control, Domain, Finding, Kind, Sizes, Status};
use crate::num::{dense::mul, sum::dot};

/// Scores have the rank of a head, outputs that of the values; weights have neither.
pub static ENTRY: Claim = Claim {
    name: "logit-rank",
    title: "Rank of Q X (K X)^T at most d_head; rank of A X V at most that of X V",
    statement: "n normal rows of R^d, d <= 4 < n: the matrix of scores <Q x_i, K x_j> and the outputs A X V^T have rank at most d: the singular value d + 1 is at most 1e-7 of the first.",
    domain: Domain { n: Sizes::Range(6, 12), d: Sizes::Range(1, 4), ..MAPS },
    narrower: "",
    citation: "linear algebra",
    status: Status::Theorem,
    kind: Kind::Inequality,
    trials: (8, 60),
    trial: |case, ctx| {
        let m = matrices(ctx, case);
        Ok(small(&m.0, case.n, case.d).and(small(&m.2, case.d, case.d)))
    },
    perturbed: "",
    control: Control {
        what: "the matrix of weights",
        trial: |ctx| {
            let m = matrices(ctx, &Case::new(6, 1, 0.0, "maps of rows"));
            Ok(small(&m.1, 6, 1))
        },
    },
    proof: None,
};

fn small(a: &[f64], columns: usize, rank: usize) -> Finding {
    Finding::at_most(singular_ratio(a, columns, rank), 1e-7)
}

/// Scores, weights and outputs of a head with normal matrices.
pub(super) fn matrices(ctx: &mut Context, case: &Case) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let (n, d) = (case.n, case.d);
    let size = (d as f64).sqrt().recip();
    let x = normals(ctx, n * d, 1.0);
    let (q, k, v) = (normals(ctx, d * d, size), normals(ctx, d * d, size), normals(ctx, d * d, size));
    let scores = scores(&x, &q, &k, d);
    let weights: Vec<f64> = scores.chunks_exact(n).flat_map(|s| soft(s.to_vec())).collect();
    let values: Vec<f64> = x.chunks_exact(d).flat_map(|x| v.chunks_exact(d).map(|r| dot(r, x)).collect::<Vec<f64>>()).collect();
    let out = mul(&weights, &values, d);
    (scores, weights, out)
}
