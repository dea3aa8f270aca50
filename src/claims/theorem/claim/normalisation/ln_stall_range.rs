//! Normalisation schemes: a range in which lengths cannot stall.

use crate::attention::OutputForm;
use crate::theorem::prelude::*;

const LARGEST_SHARE: f64 = 3.0;

/// The least radial output, with the Lambert function W, the inverse of `y e^y`.
///
/// # Derivation
///
/// `<theta_j, A_j>` is the mean of the inner products `g_k` under the weights `e^{beta g_k}`, where
/// the token itself has `g = 1`. It is at least `c` if and only if `(1 - c) e^beta + sum_k (g_k -
/// c) e^{beta g_k} >= 0`. Each term of the sum is at least `-e^{beta c - 1}/beta`, its value at
/// `g = c - 1/beta`. So the largest `c` for which this holds everywhere has `beta (1 - c) e^{beta
/// (1 - c)} = (n-1)/e`: `c = 1 - W((n-1)/e)/beta`. All other tokens at the inner product `c -
/// 1/beta` with token `j` attain it, which lies in [-1, 1] if `W <= 2 beta - 1`, and `c >= 0` and
/// `beta >= 1` suffice for that. And `c > 0` means `(n-1)/e < beta e^beta`.
pub static ENTRY: Claim = Claim {
    name: "ln-stall-range",
    title: "Pre-LN and peri-LN: lengths grow if `n < 1 + e beta e^beta`, and `<theta_j, A_j> >= 1 \
            - W((n-1)/e)/beta`",
    lets: "`beta >= 1` and `n - 1 <= e beta e^beta`, and let `W` be the Lambert function, the \
           inverse of `y e^y`",
    then: "Every token has `<theta_j, A_j> >= 1 - W((n-1)/e)/beta`, which is positive for `n < 1 + \
           e beta e^beta`; the source has `n <= e^beta`. So the lengths of pre-LN and peri-LN \
           grow. The bound is attained.",
    numbers: &[("LARGEST_SHARE", LARGEST_SHARE)],
    domain: Domain {
        n: Sizes::Range(2, 64),
        d: Sizes::Range(2, 6),
        beta: Betas::TimesThreshold {
            lo: 1.001,
            hi: LARGEST_SHARE,
            formula: "max(1, W((n-1)/e))",
            threshold: |n, _| lambert(n).max(1.0),
        },
        laws: &[],
        draws: "tokens near the inner product `1 - (W + 1)/beta` with the first, at which the \
                bound is attained",
        ..Domain::LAYERED
    },
    narrower: "`Q = K = V = I`; at most {LARGEST_SHARE} times the smallest admitted `beta`",
    source: "derived; widens arXiv:2510.22026, Theorem 3.2 (n <= e^beta)",
    trials: (60, 400),
    trial: |case, ctx| radial(case, ctx, case.n),
    constant: "the lower bound",
    control: Control {
        what: "twice as many tokens, at the `beta` of the threshold",
        trial: |ctx| radial(&Case::new(32, 3, 1.001 * lambert(32), "sa"), ctx, 64),
    },
    ..Claim::INEQUALITY
};

/// `W((n-1)/e)`, the solution of `y e^{1 + y} = n - 1`.
fn lambert(n: usize) -> f64 {
    let f = |y: f64| y * (1.0 + y).exp() - (n as f64 - 1.0);
    crate::num::roots::bracketed_root(f, 0.0, 50.0, 0.0).unwrap_or(f64::NAN)
}

/// `<theta_1, A_1>` for n tokens near the worst place for the number of tokens of the case.
fn radial(case: &Case, ctx: &mut Context, n: usize) -> Result<Finding> {
    let (d, beta) = (case.d, case.beta);
    let bound = 1.0 - lambert(case.n) / beta;
    let spread = ctx.log_uniform_in(1e-3, 1.0);
    let mut x = ctx.normals(n * d);
    for (i, row) in x.chunks_exact_mut(d).enumerate() {
        let near = bound - 1.0 / beta + 0.2 * spread * row[0];
        let g = if i == 0 { 1.0 } else { near.clamp(-1.0, 1.0) };
        let size = norm(&row[1..]).max(1e-300);
        scale((1.0 - g * g).sqrt() / size, &mut row[1..]);
        row[0] = g;
    }
    let x = Tokens::normalised(d, x)?;
    let mut a = vec![0.0; n * d];
    Dynamics::single(Attention::new(beta)).output(
        0.0,
        &x,
        OutputForm::Sum,
        &mut Workspace::default(),
        &mut a,
    );
    let along = dot(x.row(0), &a[..d]);
    Ok(Finding::at_least(along, ctx.claimed_constant(bound))
        .with_evaluation_error(64.0 * f64::EPSILON / bound))
}
