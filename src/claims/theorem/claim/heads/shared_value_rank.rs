//! Heads that share V.

use super::query_key_product::{scores, softmax_row};
use crate::theorem::prelude::*;

/// Different weights do not increase the dimension of the space of values.
///
/// # Derivation
///
/// sum_h P_h X v o^T = (sum_h P_h X v) o^T is a column times a row for all weights P_h: rank 1.
/// With a v_h and an o_h for every head it is a sum of three such products, whose rank is 3 for
/// almost all draws with n, d >= 3, and 2 for d = 2.
pub static ENTRY: Claim = Claim {
    name: "shared-value-rank",
    title: "Heads that share V: the sum of their outputs has rank at most that of V",
    lets: "three heads have normal Q and K and share one V of size 1 x d, with one W^O of d rows",
    then: "The sum of their outputs has rank 1.",
    tested: "as: the second singular value is at most 1e-7 of the first",
    domain: Domain { n: Sizes::Range(3, 8), d: Sizes::Range(2, 6), ..Domain::MAPS },
    source: "derived; a tutorial prints V_1 in all heads",
    trials: (8, 60),
    trial: |case, ctx| second(ctx, case, true),
    control: Control {
        what: "a separate V and W^O for every head",
        trial: |ctx| second(ctx, &Case::new(5, 4, 0.0, "maps of rows"), false),
    },
    ..Claim::INEQUALITY
};

fn second(ctx: &mut Context, case: &Case, shared: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = ctx.normals(n * d);
    let (first_v, first_o) = (ctx.normals(d), ctx.normals(d));
    let mut sum = vec![0.0; n * d];
    for _ in 0..3 {
        let size = (d as f64).sqrt().recip();
        let (q, k) = (normals(ctx, d * d, size), normals(ctx, d * d, size));
        let (v, o) = if shared {
            (first_v.clone(), first_o.clone())
        } else {
            (ctx.normals(d), ctx.normals(d))
        };
        let values: Vec<f64> = x.chunks_exact(d).map(|x| dot(&v, x)).collect();
        for (i, s) in scores(&x, &q, &k, d).chunks_exact(n).enumerate() {
            let mean = dot(&softmax_row(s.to_vec()), &values);
            axpy(mean, &o, &mut sum[i * d..(i + 1) * d]);
        }
    }
    Ok(Finding::at_most(singular_ratio(&sum, d, 1), 1e-7))
}

/// The singular value number `k` (from 0) of a matrix with rows of length d, relative to the
/// largest. It is computed from the eigenvalues of the Gram matrix, so its error is 1e-8.
pub(crate) fn singular_ratio(a: &[f64], d: usize, k: usize) -> f64 {
    let n = a.len() / d;
    let gram: Vec<f64> =
        (0..n * n).map(|e| dot(&a[e / n * d..][..d], &a[e % n * d..][..d])).collect();
    let Some(values) = symmetric_eigenvalues(&gram, n) else { return f64::NAN };
    if k >= n { 0.0 } else { (values[n - 1 - k].max(0.0) / values[n - 1]).sqrt() }
}
