//! Invariances of layer normalisation.

use crate::theorem::prelude::*;

/// Shift and positive scale of a token, without the eps of implementations.
pub static ENTRY: Claim = Claim {
    name: "layernorm-invariance",
    title: "LN(a x + c 1) = LN(x) for a > 0, eps = 0; rows lie on a sphere of radius sqrt d",
    lets: "LN(x) = (x - mean)/(root mean square deviation) with eps = 0",
    then: "Then LN(a x + c 1) = LN(x) for a > 0, and |LN(x)| = sqrt(d).",
    tested: "with normal x in R^d, a in [1/10, 10] and normal c: the first to 2 eps sqrt(d) (d + \
             4)(max_j |x_j| + |c|/a)/max_j |x_j - mean| of the largest |LN(x)_j|, since \
             differences of nearly equal coordinates lose digits; the second to a relative 2 eps \
             (d + 4)",
    domain: Domain { n: Sizes::Fixed(1), d: Sizes::Range(2, 64), ..Domain::MAPS },
    source: "arXiv:1607.06450",
    trials: (10, 80),
    trial: |case, ctx| same(ctx, case.d, 0.0),
    control: Control { what: "eps = 1 under the root", trial: |ctx| same(ctx, 8, 1.0) },
    ..Claim::IDENTITY
};

fn same(ctx: &mut Context, d: usize, eps: f64) -> Result<Finding> {
    let x = ctx.normals(d);
    let (a, c) = (if eps > 0.0 { 0.1 } else { ctx.log_uniform_in(0.1, 10.0) }, ctx.normals(1)[0]);
    let norm = |x: &[f64]| -> Vec<f64> {
        let mean = x.iter().sum::<f64>() / d as f64;
        let spread = x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / d as f64;
        x.iter().map(|v| (v - mean) / (spread + eps).sqrt()).collect()
    };
    let (one, other) = (norm(&x), norm(&x.iter().map(|v| a * v + c).collect::<Vec<f64>>()));
    let spread = max_abs(&one);
    // Differences of nearly equal coordinates lose digits: d + 4 roundings of the size of x and of
    // c/a, divided by the largest difference, and sqrt d times as much through the root.
    let mean = x.iter().sum::<f64>() / d as f64;
    let deviation = x.iter().map(|v| (v - mean).abs()).fold(0.0, f64::max);
    let terms = max_abs(&x) + c.abs() / a;
    let off = one.iter().zip(&other).map(|(a, b)| (a - b).abs()).fold(0.0, nan_max) / spread;
    let size = (dot(&one, &one) / d as f64).sqrt();
    let rounding = 2.0 * f64::EPSILON * (d as f64 + 4.0);
    let within = Finding::identity(off, rounding * (d as f64).sqrt() * terms / deviation);
    Ok(within.and(Finding::identity((size - 1.0).abs(), rounding)))
}
