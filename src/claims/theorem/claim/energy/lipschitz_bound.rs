//! The Lipschitz constant of attention.

use crate::attention::pattern::FullAttention;
use crate::num::dense;
use crate::num::linearised::spectral_norm;
use crate::theorem::prelude::*;
use crate::transformer::tangent::LinearisedAttention;
use crate::transformer::{AttentionLayer, Grouping, Linear, lipschitz};

/// The term `sqrt n` is attained by tokens that all attend to one.
///
/// # Derivation
///
/// For V = I, `dy_i[h] = sum_j P_ij h_j + Cov_i A^T h_i + sum_j P_ij (x_j - y_i) <x_i, A h_j>`. The
/// first term is at most `|P| |h| <= sqrt n |h|`, the second `R^2 |A| |h_i|`, and the third, by
/// Cauchy and Schwarz, `R |A| R (sum_j P_ij |h_j|^2)^{1/2}`, whose squares sum to at most
/// `n |h|^2`.
pub static ENTRY: Claim = Claim {
    name: "lipschitz-bound",
    title: "Attention on a ball: |J| <= |V| (sqrt n + |A| R^2 (1 + sqrt n))",
    then: "At tokens of length at most R, the derivative of sum_j softmax_j(<x_i, A x_j>) V x_j \
           has norm at most |V| (sqrt n + |A| R^2 (1 + sqrt n)). If V = I and all tokens attend \
           to one, the norm is sqrt n, tested to 1e-6.",
    domain: Domain { n: Sizes::Range(2, 16), d: Sizes::List(&[2, 4]), ..Domain::BLOCKS },
    narrower: "normal A and V, R from 0.1 to 3",
    source: "derived; compare arXiv:2312.14820 and arXiv:2006.04710",
    trials: (10, 200),
    trial: |case, ctx| {
        let (d, size, radius) = (case.d, ctx.uniform_in(0.1, 3.0), ctx.log_uniform_in(0.1, 3.0));
        let (a, v) = (ctx.normals(d * d), ctx.normals(d * d));
        let a: Vec<f64> = a.iter().map(|x| size * x).collect();
        let x: Vec<f64> = ctx.tokens(case)?.coordinates().iter().map(|x| radius * x).collect();
        let stretched = derivative_norm(&form(d, &a, &v)?, &x)?;
        let bound = lipschitz::attention(
            case.n,
            dense::spectral_norm(&v, d),
            dense::spectral_norm(&a, d),
            radius,
        );
        // All keys except the first have far smaller scores.
        let leader: Vec<f64> = (0..case.n * d)
            .map(|k| {
                if k % d > 0 {
                    0.0
                } else if k == 0 {
                    1.0
                } else {
                    0.5
                }
            })
            .collect();
        let identity: Vec<f64> = (0..d * d).map(|k| f64::from(u8::from(k / d == k % d))).collect();
        let hard: Vec<f64> = identity.iter().map(|v| 400.0 * v).collect();
        let one = derivative_norm(&form(d, &hard, &identity)?, &leader)?;
        let share = 1.0 - (one - (case.n as f64).sqrt()).abs() / 1e-6;
        Ok(Finding::at_most(stretched, bound).and(Finding::nonnegative(share, 1.0)))
    },
    control: Control {
        what: "the bound without R^2, tokens at 4 and -4",
        trial: |_| {
            let of = form(2, &[0.0, 0.0, 1.0, 0.0], &[1.0, 0.0, 0.0, 1.0])?;
            let stretched = derivative_norm(&of, &[4.0, 0.0, -4.0, 0.0])?;
            Ok(Finding::at_most(stretched, lipschitz::attention(2, 1.0, 1.0, 1.0)))
        },
    },
    ..Claim::INEQUALITY
};

/// One head with `A = W_q^T W_k / sqrt d` and V.
fn form(d: usize, a: &[f64], v: &[f64]) -> Result<AttentionLayer> {
    let identity: Vec<f64> = (0..d * d).map(|k| f64::from(u8::from(k / d == k % d))).collect();
    // W_q = sqrt d A^T, W_k = I.
    let query = (0..d * d).map(|k| (d as f64).sqrt() * a[k % d * d + k / d]).collect();
    let map = |w: Vec<f64>| Linear::new("map", d, w, Vec::new());
    let maps = [map(query)?, map(identity.clone())?, map(v.to_vec())?, map(identity)?];
    AttentionLayer::new("head", maps, Grouping { heads: 1, kv_heads: 1 }, Arc::new(FullAttention))
}

/// A lower bound on the norm of the derivative, by power iteration.
fn derivative_norm(of: &AttentionLayer, x: &[f64]) -> Result<f64> {
    let start = (0..x.len()).map(|k| 1.0 + (k as f64 * 2.4).sin()).collect();
    Ok(spectral_norm(&LinearisedAttention::self_attention(of, x)?, start, 60).0)
}
