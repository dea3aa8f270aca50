//! Weights of additive attention have a positive lower bound.

use crate::num::stats::nan_min;
use crate::recurrent::{alignment::Alignment, trace::Trace};
use crate::theorem::prelude::*;

/// Scores lie in [-|v|_1, |v|_1], so every softmax weight is at least the weight of a score -|v|_1
/// among scores |v|_1.
///
/// # Derivation
///
/// |tanh| < 1 gives |e_j| <= |v|_1 for every score, so two scores differ by at most 2 |v|_1 and
/// e^{e_k - e_j} <= e^{2|v|_1} for all k. Hence 1/a_j = 1 + sum_{k != j} e^{e_k - e_j} <= 1 + (n-1)
/// e^{2|v|_1}, with equality in the limit of saturated scores of both signs.
pub static ENTRY: Claim = Claim {
    name: "bahdanau-floor",
    title: "Additive attention: every weight is at least 1/(1 + (n-1) e^{2 |v|_1})",
    lets: "a_j = softmax_j(v^T tanh(W s + U h_j))",
    then: "Then a_j >= 1/(1 + (n-1) e^{2 |v|_1}).",
    tested: "with n normal states, normal W and U of variance 9/d and v of variance 1/d, and with \
             W = 0, U = 12 and states +-sign(v)",
    domain: Domain { n: Sizes::Range(2, 16), d: Sizes::Range(2, 8), ..Domain::MAPS },
    source: "derived, for arXiv:1409.0473",
    trials: (20, 200),
    trial: |case, ctx| least_weight(ctx, case, false),
    constant: "the exponent 2 |v|_1",
    control: Control {
        what: "products s^T W h as scores",
        trial: |ctx| least_weight(ctx, &Case::new(8, 4, 0.0, "maps of rows"), true),
    },
    ..Claim::INEQUALITY
};

fn least_weight(ctx: &mut Context, case: &Case, products: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let size = (d as f64).sqrt().recip();
    let v = normals(ctx, d, size);
    let norm1: f64 = v.iter().map(|v| v.abs()).sum();
    let (mut w, mut u) = (normals(ctx, d * d, 3.0 * size), normals(ctx, d * d, 3.0 * size));
    let mut rows = ctx.normals(n * d);
    if !products && ctx.index(2) == 0 {
        // Near equality: saturated scores, one of the opposite sign.
        w.fill(0.0);
        u = identity(d).iter().map(|v| 12.0 * v).collect();
        rows = (0..n * d).map(|k| if k < d { -1.0 } else { 1.0 } * v[k % d].signum()).collect();
    }
    let alignment = if products {
        Alignment::General(normals(ctx, d * d, 30.0 * size))
    } else {
        Alignment::Additive { decoder_weights: w, encoder_weights: u, score_vector: v }
    };
    let mut trace = Trace::default();
    let s = trace.constant(&ctx.normals(d));
    let rows: Vec<_> = rows.chunks_exact(d).map(|row| trace.constant(row)).collect();
    let weights = alignment.weights(&mut trace, s, &rows);
    let least = trace.value(weights).iter().copied().fold(f64::INFINITY, nan_min);
    let exponent = ctx.claimed_constant(2.0 * norm1);
    Ok(Finding::at_least(least, 1.0 / (1.0 + (n as f64 - 1.0) * exponent.exp())))
}
