//! An offset in the denominator of softmax.

use super::query_key_product::softmax_row;
use crate::theorem::prelude::*;

/// It is equivalent to one more token of value 0 and score log c.
///
/// # Derivation
///
/// The extra token of value 0 and score log c adds e^{log c} = c to the denominator and nothing to
/// the numerator, whatever the other scores are. For the limit, c/(c + Z) = 1 - Z/(c + Z): with c =
/// 1e8 Z the relative distance to sum e^s v is 1e-8.
pub static ENTRY: Claim = Claim {
    name: "offset-attention",
    title: "sum e^s v/(c + sum e^s) is softmax with a token of value 0 and score log c; for large \
            c, c times it tends to the unnormalised sum",
    lets: "n scores s and rows v of R^d be normal, c in [1e-3, 1e3] and Z = sum e^s",
    then: "Then sum e^s v/(c + Z) is softmax attention with one more token of value 0 and score \
           log c; and for large c, c times it tends to sum e^s v.",
    tested: "in every coordinate: the first to e^{4 eps S + 2 (n + 5) eps} - 1 of the sum of \
             absolute values sum_j w_j |v_j|, where w are the weights and S is the largest score \
             or |log c| (rounding of the scores); the second at c = 1e8 Z, to 2e-8 of sum e^s |v| \
             plus this rounding",
    domain: Domain { n: Sizes::Range(1, 12), ..Domain::MAPS },
    source: "derived",
    trials: (10, 80),
    trial: |case, ctx| null_token(ctx, case, false),
    control: Control {
        what: "the offset in the numerator, too",
        trial: |ctx| null_token(ctx, &Case::new(5, 3, 0.0, "maps of rows"), true),
    },
    ..Claim::IDENTITY
};

fn null_token(ctx: &mut Context, case: &Case, above: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let (scores, x, c) = (ctx.normals(n), ctx.normals(n * d), ctx.log_uniform_in(1e-3, 1e3));
    let total: f64 = scores.iter().map(|s| s.exp()).sum();
    let sum: Vec<f64> = (0..d)
        .map(|k| scores.iter().enumerate().map(|(j, s)| s.exp() * x[j * d + k]).sum())
        .collect();
    // The coordinates of softmax with the additional token for this c.
    let softmax = |c: f64| -> Vec<f64> {
        let with = softmax_row([scores.clone(), vec![c.ln()]].concat());
        (0..d).map(|k| (0..n).map(|j| with[j] * x[j * d + k]).sum()).collect()
    };
    let with = softmax(c);
    let most = |c: f64| scores.iter().fold(c.ln().abs(), |m, s| nan_max(m, s.abs()));
    // The scores and log c are rounded, and so are their distances to the largest.
    let change = |c: f64| weight_change(2.0 * f64::EPSILON * most(c), n + 1);
    let terms = |k: usize| {
        scores.iter().enumerate().map(|(j, s)| s.exp() * x[j * d + k].abs()).sum::<f64>()
    };
    let far = 1e8 * total;
    let limits = softmax(far);
    let (mut off, mut limit) = (0.0, 0.0);
    for k in 0..d {
        let direct = (sum[k] + if above { c } else { 0.0 }) / (c + total);
        off = nan_max(off, (with[k] - direct).abs() / (change(c) * terms(k) / (c + total) + TINY));
        limit = nan_max(
            limit,
            (far * limits[k] - sum[k]).abs() / ((2e-8 + change(far)) * terms(k) + TINY),
        );
    }
    Ok(Finding::identity(off, 1.0).and(Finding::identity(limit, 1.0)))
}
