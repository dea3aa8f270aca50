//! Pure attention loses rank cubically.

use super::{Betas, Case, Claim, Context, Control, Domain, Finding, Kind, Masses, Sizes, Status};
use crate::error::Result;
use crate::num::{dense::mul, stats::nan_max, sum::dot};
use crate::theory::rank_collapse::RankResidual;

/// Matrices of rows, no space.
pub(super) const ROWS: Domain = Domain {
    n: Sizes::Range(3, 16),
    d: Sizes::Range(2, 8),
    beta: Betas::Unused,
    dynamics: &["attention layers"],
    laws: &["uniform"],
    masses: Masses::Equal,
    also: None,
    corners: &[],
};

/// Row constants drop out of softmax and the common part moves all rows alike: `r_i+ = r_i W C_q W_V (1 + O(|W| |R|^2))`.
///
/// # Derivation
///
/// With `x_i = mu + r_i` the score `x_i W x_j^T` is a part that depends on i alone, which softmax drops, plus `mu W r_j + r_i W r_j`. The
/// first alone gives all rows the same weights `q_j`, and one common output. To first order in the second row i differs from it by `sum_j
/// q_j (r_i W r_j)(r_j - mean_q) W_V = r_i W C_q W_V`, C_q the covariance of the `r_j` under q; subtracting the mean row changes nothing
/// at this order. The next order carries another factor `r_i W r_j`, of size `|W| |R|^2`. `C_q` is of second order in R: so `|R+| = O(|R|^3)`, and `log |R|` triples up to a constant.
pub static ENTRY: Claim = Claim {
    name: "rank-collapse-cubic",
    title: "Pure attention: residuals shrink cubically",
    statement: "X+ = softmax(X W X^T) X W_V, R = X less its mean row, |R_0| about 1/20, normal W and W_V: one layer is r_i W C_q W_V up to 3 |W| |R|^2 relative (against plain softmax in the first layer, of which the arithmetic that keeps log |R| agrees to rounding), and log |R_5| / log |R_4| = 3 within 0.1 in arithmetic that keeps log |R|.",
    domain: ROWS,
    narrower: "W, W_V normal with entries of variance 1/d",
    citation: "derived; sharpens arXiv:2103.03404, Theorem 2.2 (constants there not seen)",
    status: Status::Theorem,
    kind: Kind::Law,
    trials: (20, 200),
    trial: |case, ctx| ladder(case, ctx, 0.0),
    perturbed: "the ratio 3",
    control: Control { what: "a skip connection", trial: |ctx| ladder(&Case::new(8, 4, 0.0, "attention layers"), ctx, 1.0) },
    proof: None,
};

/// A layer in plain double precision, with `skip` times X added.
fn plain_layer(x: &[f64], w: &[f64], w_v: &[f64], d: usize, skip: f64) -> Vec<f64> {
    let images = mul(x, w, d);
    let rows = images.chunks_exact(d).flat_map(|image| {
        let scores: Vec<f64> = x.chunks_exact(d).map(|y| dot(image, y)).collect();
        let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|s| (s - top).exp()).collect();
        let total: f64 = weights.iter().sum();
        (0..d).map(|c| x.chunks_exact(d).zip(&weights).map(|(y, p)| p / total * y[c]).sum()).collect::<Vec<f64>>()
    });
    let mixed: Vec<f64> = rows.collect();
    mul(&mixed, w_v, d).iter().zip(x).map(|(a, x)| a + skip * x).collect()
}

fn ladder(case: &Case, ctx: &mut Context, skip: f64) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let mut scaled = |count: usize, size: f64| ctx.normals(count).iter().map(|g| size * g).collect::<Vec<f64>>();
    let common = scaled(d, 0.5);
    let x: Vec<f64> = scaled(n * d, 0.05 / (n as f64 * d as f64).sqrt()).iter().enumerate().map(|(k, r)| r + common[k % d]).collect();
    let size = (d as f64).sqrt().recip();
    let (w, w_v) = (scaled(d * d, size), scaled(d * d, size));
    let Some(start) = RankResidual::new(&x, d) else { return Ok(Finding::Missed) };
    // The first layer by plain softmax: its residual is known to 1e-16 absolutely.
    let direct = RankResidual::new(&plain_layer(&x, &w, &w_v, d, skip), d);
    let (Some(direct), Some(leading), Some(mut r)) = (direct, start.leading(&w, &w_v), start.layer(&w, &w_v)) else {
        return Ok(Finding::Missed);
    };
    let off = direct.shape.iter().zip(&leading.shape).map(|(a, b)| (a - b).abs()).fold((direct.log_size - leading.log_size).abs(), nan_max);
    let norm = dot(&w, &w).sqrt();
    // A fifth of |W| |R|^2 was the most of 1500 draws; the residual of the plain layer is known to rounding of numbers of order 1.
    let rounding = 1e-14 / direct.log_size.exp();
    let shape = Finding::law(off, 0.0, 3.0 * norm * (2.0 * start.log_size).exp() + rounding, 0.0);
    if skip > 0.0 {
        return Ok(shape);
    }
    let same = direct.shape.iter().zip(&r.shape).map(|(a, b)| (a - b).abs()).fold((direct.log_size - r.log_size).abs(), nan_max);
    let shape = shape.and(Finding::identity(same, 10.0 * rounding));
    let mut logs = vec![start.log_size, r.log_size];
    for _ in 0..4 {
        match r.layer(&w, &w_v) {
            Some(next) => r = next,
            None => return Ok(Finding::Missed),
        }
        logs.push(r.log_size);
    }
    let stated = ctx.stated(3.0);
    Ok(shape.and(Finding::law(logs[5] / logs[4], stated, 0.1, 0.0)))
}
