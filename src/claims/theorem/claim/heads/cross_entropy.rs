//! Cross-entropy with a one-hot target.

use super::query_key_product::softmax_row;
use crate::theorem::prelude::*;

/// It equals the divergence, since a one-hot vector has entropy 0.
pub static ENTRY: Claim = Claim {
    name: "cross-entropy",
    title: "H(p, q) = H(p) + KL(p, q); for a one-hot p it is KL(p, q) = -log q_i",
    then: "H(p, q) = H(p) + KL(p, q), where p and q are the softmax of n normal scores, or p is \
           one-hot; then both sides are -log q_i.",
    tested: "to 1e-13 (1 + H(p, q))",
    domain: Domain { n: Sizes::Range(2, 32), d: Sizes::Unused, ..Domain::MAPS },
    source: "Kullback and Leibler (1951)",
    trials: (8, 60),
    trial: |case, ctx| {
        let one_hot = ctx.index(2) == 1;
        difference(ctx, case.n, one_hot, 1.0)
    },
    control: Control {
        what: "the formula without the entropy of p",
        trial: |ctx| difference(ctx, 6, false, 0.0),
    },
    ..Claim::IDENTITY
};

fn difference(ctx: &mut Context, n: usize, one_hot: bool, entropies: f64) -> Result<Finding> {
    let (mut p, q) = (softmax_row(ctx.normals(n)), softmax_row(ctx.normals(n)));
    if one_hot {
        let k = ctx.index(n);
        p = (0..n).map(|j| f64::from(u8::from(j == k))).collect();
    }
    let sum = |f: &dyn Fn(f64, f64) -> f64| {
        p.iter().zip(&q).filter(|(p, _)| **p > 0.0).map(|(p, q)| f(*p, *q)).sum::<f64>()
    };
    let (cross, entropy, divergence) =
        (sum(&|p, q| -p * q.ln()), sum(&|p, _| -p * p.ln()), sum(&|p, q| p * (p / q).ln()));
    Ok(Finding::identity((cross - entropies * entropy - divergence).abs(), 1e-13 * (1.0 + cross)))
}
