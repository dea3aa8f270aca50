//! The Lipschitz constant of attention.

use crate::attention::pattern::FullAttention;
use crate::num::dense;
use crate::num::linearised::spectral_norm;
use crate::theorem::prelude::*;
use crate::transformer::tangent::LinearisedAttention;
use crate::transformer::{AttentionLayer, Grouping, Linear};

const RADII: (f64, f64) = (0.1, 3.0);
const NORM_ERROR: f64 = 1e-6;
const EXAMPLE_FORM: f64 = 40.0;
const EXAMPLE_RADIUS: f64 = 3.0;

/// # Derivation
///
/// For `V = I`, `dy_i[h] = sum_j P_ij h_j + Cov_i A^T h_i + sum_j P_ij (x_j - y_i) <x_i, A h_j>`.
/// The first term is at most `|P| |h| <= sqrt n |h|`, with equality if all tokens attend to one,
/// and the second is at most `R^2 |A| |h_i|`. By Cauchy and Schwarz the third is at most `R |A| c_i
/// (sum_j |h_j|^2)^{1/2}` with `c_i^2 = sum_j P_ij^2 |x_j - y_i|^2`.
///
/// `c_i^2 <= R^2/2`: if no weight exceeds 1/2, because `sum_j P_ij |x_j - y_i|^2 <= R^2`. Otherwise
/// let `p > 1/2` be the largest weight. Its token is at most `2 R (1 - p)` from `y_i`, so its term
/// is at most `p` times `4 R^2 p (1 - p)^2`, and the others add up to at most `1 - p` times the
/// rest of `R^2`: together `R^2 ((1 - p) + 4 (2 p - 1) p (1 - p)^2)`, which with `q = p - 1/2` is
/// `R^2 (1/2 - 2 q^2 - 4 q^3 + 8 q^4) <= R^2/2`. So the squares of the third term add up to at most
/// `n R^4 |A|^2 |h|^2/2`. (`metastable` uses the bound with `sqrt n` in place of `sqrt(n/2)`.)
///
/// At `n = 2`, `x_1 = -x_2 = R e_1`, `<e_1, A e_1> = 0` and `A e_1 = A^T e_1 = |A| e_2`, the
/// direction `h_1 = -h_2 = e_2` has `dy_1 = -dy_2 = 2 |A| R^2 e_1`: the second and the third term
/// attain their bounds together.
pub static ENTRY: Claim = Claim {
    name: "lipschitz-bound",
    title: "Attention on a ball: `|J| <= |V| (sqrt n + |A| R^2 (1 + sqrt(n/2)))`",
    lets: "`J` be the derivative of `X -> (sum_j softmax_j(<x_i, A x_j>) V x_j)_i` at tokens of \
           length at most `R`",
    then: "`|J| <= |V| (sqrt n + |A| R^2 (1 + sqrt(n/2)))`. If `V = I` and all tokens attend to \
           one, `|J| = sqrt n`. At `n = 2` and `V = I`, `|J| = 2 |A| R^2` for some `A` and tokens.",
    tested: "with normal `A` and `V` and tokens of one length, and with tokens that attend to one, \
             to {NORM_ERROR}. At the example of the derivation for the last sentence, with `|A| = \
             {EXAMPLE_FORM}` and `R = {EXAMPLE_RADIUS}`, the bound is 1.002 times as large as \
             `|J|`",
    numbers: &[
        ("SHORTEST", RADII.0),
        ("LONGEST", RADII.1),
        ("NORM_ERROR", NORM_ERROR),
        ("EXAMPLE_FORM", EXAMPLE_FORM),
        ("EXAMPLE_RADIUS", EXAMPLE_RADIUS),
    ],
    domain: Domain {
        n: Sizes::Range(2, 16),
        d: Sizes::List(&[2, 4]),
        draws: "normal `A` and `V`, tokens of equal lengths `R` in [{SHORTEST}, {LONGEST}]",
        ..Domain::FREE
    },
    source: "derived; compare arXiv:2312.14820 and arXiv:2006.04710",
    trials: (10, 200),
    trial: |case, ctx| {
        let (n, d) = (case.n, case.d);
        let (size, radius) = (ctx.uniform_in(0.1, 3.0), ctx.log_uniform_in(RADII.0, RADII.1));
        let (a, v) = (ctx.normals(d * d), ctx.normals(d * d));
        let a: Vec<f64> = a.iter().map(|x| size * x).collect();
        let x: Vec<f64> = ctx
            .tokens_with_law(n, d, "uniform")?
            .coordinates()
            .iter()
            .map(|x| radius * x)
            .collect();
        let norms = (dense::spectral_norm(&v, d), dense::spectral_norm(&a, d));
        let stated = ctx.claimed_constant(1.0) * bound(n, norms, radius * radius);
        let random = Finding::at_most(derivative_norm(&form(d, &a, &v)?, &x)?, stated);
        // All keys except the first have far smaller scores.
        let mut leader = vec![0.0; n * d];
        leader.iter_mut().step_by(d).for_each(|x| *x = 0.5);
        leader[0] = 1.0;
        let hard: Vec<f64> = identity(d).iter().map(|v| 400.0 * v).collect();
        let one = derivative_norm(&form(d, &hard, &identity(d))?, &leader)?;
        let off = (one - (n as f64).sqrt()).abs();
        Ok(random
            .and(opposite(ctx, d, EXAMPLE_RADIUS * EXAMPLE_RADIUS)?)
            .and(Finding::answer(off <= NORM_ERROR)))
    },
    constant: "the bound",
    control: Control {
        what: "`R` in place of `R^2`, at the example of the derivation",
        trial: |ctx| opposite(ctx, 2, EXAMPLE_RADIUS),
    },
    ..Claim::INEQUALITY
};

/// The bound for the norms of V and A.
fn bound(n: usize, (value, form): (f64, f64), squared_radius: f64) -> f64 {
    let n = n as f64;
    value * (n.sqrt() + form * squared_radius * (1.0 + (0.5 * n).sqrt()))
}

/// Two opposite tokens of length 3 and a form of norm 40 that exchanges their direction with an
/// orthogonal one, against the bound for this squared radius.
fn opposite(ctx: &mut Context, d: usize, squared_radius: f64) -> Result<Finding> {
    let (mut a, mut x) = (vec![0.0; d * d], vec![0.0; 2 * d]);
    (a[1], a[d], x[0], x[d]) = (EXAMPLE_FORM, EXAMPLE_FORM, EXAMPLE_RADIUS, -EXAMPLE_RADIUS);
    let stated = ctx.claimed_constant(1.0) * bound(2, (1.0, EXAMPLE_FORM), squared_radius);
    Ok(Finding::at_most(derivative_norm(&form(d, &a, &identity(d))?, &x)?, stated))
}

/// One head with `A = W_q^T W_k / sqrt d` and V.
fn form(d: usize, a: &[f64], v: &[f64]) -> Result<AttentionLayer> {
    // W_q = sqrt d A^T, W_k = I.
    let query = (0..d * d).map(|k| (d as f64).sqrt() * a[k % d * d + k / d]).collect();
    let map = |w: Vec<f64>| Linear::new("map", d, w, Vec::new());
    let maps = [map(query)?, map(identity(d))?, map(v.to_vec())?, map(identity(d))?];
    AttentionLayer::new("head", maps, Grouping { heads: 1, kv_heads: 1 }, Arc::new(FullAttention))
}

/// A lower bound on the norm of the derivative, by power iteration.
fn derivative_norm(of: &AttentionLayer, x: &[f64]) -> Result<f64> {
    let start = (0..x.len()).map(|k| 1.0 + (k as f64 * 2.4).sin()).collect();
    Ok(spectral_norm(&LinearisedAttention::self_attention(of, x)?, start, 60).0)
}
