//! Attention without softmax.

use super::query_key_product::softmax_row;
use crate::theorem::prelude::*;

/// It multiplies every token by the same matrix.
///
/// # Derivation
///
/// sum_j V x_j (B x_j)^T x_i: the sum over j does not depend on i. On the sphere the field is P M x
/// with M determined by the tokens: an Oja flow towards the leading eigenvector of M.
pub static ENTRY: Claim = Claim {
    name: "linear-attention",
    title: "Without softmax: sum_j <x_i, B x_j> V x_j = M x_i, M = sum_j V x_j (B x_j)^T",
    then: "sum_j <x_i, B x_j> V x_j = M x_i with M = sum_j V x_j (B x_j)^T, the same matrix for \
           all tokens.",
    tested: "with n normal rows and normal B and V, in every coordinate, to 2 eps (n + d) of the \
             sum of the absolute values of all terms, sum_j |v_j|_c <|k_j|, |x_i|> with k_j = B \
             x_j and v_j = V x_j, entry by entry",
    domain: Domain { n: Sizes::Range(2, 8), ..Domain::MAPS },
    narrower: "both sides are computed in this claim: the library has no head without softmax",
    source: "derived; a tutorial prints C = Q K V X",
    trials: (8, 60),
    trial: |case, ctx| field(ctx, case, false),
    control: Control {
        what: "the softmax of the scores",
        trial: |ctx| field(ctx, &Case::new(5, 3, 0.0, "maps of rows"), true),
    },
    ..Claim::IDENTITY
};

fn field(ctx: &mut Context, case: &Case, normalised: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let (x, b, v) = (ctx.normals(n * d), ctx.normals(d * d), ctx.normals(d * d));
    let image = |m: &[f64], j: usize| -> Vec<f64> {
        m.chunks_exact(d).map(|r| dot(r, &x[j * d..][..d])).collect()
    };
    let (keys, values): (Vec<_>, Vec<_>) = (0..n).map(|j| (image(&b, j), image(&v, j))).unzip();
    let mut m = vec![0.0; d * d];
    keys.iter()
        .zip(&values)
        .for_each(|(k, v)| (0..d * d).for_each(|e| m[e] += v[e / d] * k[e % d]));
    let mut worst = 0.0;
    for i in 0..n {
        let row = &x[i * d..][..d];
        let mut weights: Vec<f64> = keys.iter().map(|k| dot(row, k)).collect();
        if normalised {
            weights = softmax_row(weights);
        }
        // Both sides add the same n d products, with n + d + 1 roundings each.
        let products: Vec<f64> = keys.iter().map(|k| dot(&absolute(row), &absolute(k))).collect();
        for (c, o) in image(&m, i).iter().enumerate() {
            let sum = |weights: &[f64], of: fn(f64) -> f64| {
                (0..n).map(|j| weights[j] * of(values[j][c])).sum::<f64>()
            };
            let allowed = 2.0 * f64::EPSILON * (n + d) as f64 * sum(&products, f64::abs) + TINY;
            worst = nan_max(worst, (o - sum(&weights, |v| v)).abs() / allowed);
        }
    }
    Ok(Finding::identity(worst, 1.0))
}
