//! What layer normalisation does not see.

use super::mixing_structure::MAPS;
use super::{Claim, Context, Control, Domain, Finding, Kind, Sizes, Status};
use crate::error::Result;
use crate::num::{stats::nan_max, sum::dot};

/// Shift and positive scale of a token, without the eps of implementations.
pub static ENTRY: Claim = Claim {
    name: "layernorm-invariance",
    title: "LN(a x + c 1) = LN(x) for a > 0, eps = 0; rows lie on a sphere of radius sqrt d",
    statement: "x normal in R^d, a in [1/10, 10], c normal: LN(a x + c 1) = LN(x) to 1e-12 (1 + |c|)/(a min(1, max_j |x_j - mean|)) of the largest |LN(x)_j|, and |LN(x)| = sqrt(d), relative, to 1e-13, LN(x) = (x - mean)/root mean square deviation.",
    domain: Domain { n: Sizes::Fixed(1), d: Sizes::Range(2, 64), ..MAPS },
    narrower: "",
    citation: "arXiv:1607.06450",
    status: Status::Theorem,
    kind: Kind::Identity,
    trials: (10, 80),
    trial: |case, ctx| same(ctx, case.d, 0.0),
    perturbed: "",
    control: Control { what: "eps = 1 in the root", trial: |ctx| same(ctx, 8, 1.0) },
    proof: None,
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
    let spread = one.iter().map(|v| v.abs()).fold(0.0, f64::max);
    // Two coordinates that nearly agree lose digits in their difference.
    let mean = x.iter().sum::<f64>() / d as f64;
    let deviation = x.iter().map(|v| (v - mean).abs()).fold(0.0, f64::max);
    let off = one.iter().zip(&other).map(|(a, b)| (a - b).abs()).fold(0.0, nan_max) / spread;
    let size = (dot(&one, &one) / d as f64).sqrt();
    let within = Finding::identity(off, 1e-12 * (1.0 + c.abs()) / a / deviation.min(1.0));
    Ok(within.and(Finding::identity((size - 1.0).abs(), 1e-13)))
}
