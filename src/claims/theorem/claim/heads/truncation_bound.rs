//! Attention restricted to the tokens with the largest weights.

use super::query_key_product::softmax_row;
use crate::theorem::prelude::*;

/// The error is the dropped weight times the distance of two means.
///
/// # Derivation
///
/// The full mean is (1 - tau) a + tau b, a and b the means of the kept and of the dropped rows
/// under their own weights; so it is tau
/// (b - a) away from a. Both lie in the convex hull of the rows, and its diameter is the largest
/// distance of two rows.
pub static ENTRY: Claim = Claim {
    name: "truncation-bound",
    title: "Top-k softmax: the error is tau |mean of the kept - mean of the dropped| <= tau diam",
    lets: "n scores and rows be normal",
    then: "Keep the 1 <= k < n largest weights, divided by their sum, and let tau be the dropped \
           weight. The mean changes by tau |a - b|, where a and b are the means of the kept and \
           of the dropped rows under their weights, and so by at most tau times the largest \
           distance of two rows.",
    tested: "to 1e-13 and, since the bound is an equality for n = 2, to 1e-14 n times the largest \
             entry",
    domain: Domain { n: Sizes::Range(2, 12), ..Domain::MAPS },
    source: "derived",
    trials: (10, 80),
    trial: |case, ctx| {
        let x = ctx.normals(case.n * case.d);
        truncated(ctx, case, &x, true)
    },
    control: Control {
        what: "rows at distance 10 from 0, with kept weights that are not divided by their sum",
        trial: |ctx| {
            let x: Vec<f64> = ctx.normals(18).iter().map(|v| 10.0 + 0.1 * v).collect();
            truncated(ctx, &Case::new(6, 3, 0.0, "maps of rows"), &x, false)
        },
    },
    ..Claim::INEQUALITY
};

fn truncated(ctx: &mut Context, case: &Case, x: &[f64], divided: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let weights = softmax_row(ctx.normals(n));
    let kept = 1 + ctx.index(n - 1);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]));
    let mean = |tokens: &[usize], by: f64| -> Vec<f64> {
        (0..d)
            .map(|c| tokens.iter().map(|j| weights[*j] * x[j * d + c]).sum::<f64>() / by)
            .collect()
    };
    let tau: f64 = order[kept..].iter().map(|j| weights[*j]).sum();
    let distance =
        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    let (all, top, rest) = (
        mean(&order, 1.0),
        mean(&order[..kept], if divided { 1.0 - tau } else { 1.0 }),
        mean(&order[kept..], tau),
    );
    let error = distance(&all, &top);
    let rows = |i: usize| &x[i * d..(i + 1) * d];
    let diameter = (0..n * n).map(|k| distance(rows(k / n), rows(k % n))).fold(0.0, nan_max);
    let size = x.iter().fold(1.0, |m: f64, v| nan_max(m, v.abs()));
    let bound = Finding::at_most(error, tau * diameter + 1e-14 * size * n as f64);
    if !divided {
        return Ok(bound);
    }
    // The kept weight is 1 - tau, at least 1/n.
    Ok(bound.and(Finding::identity(
        (error - tau * distance(&top, &rest)).abs(),
        1e-13 * size * n as f64,
    )))
}
