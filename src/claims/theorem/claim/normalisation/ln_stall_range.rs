//! Normalisation schemes: a range in which radii cannot stall.

use crate::attention::OutputForm;
use crate::theorem::prelude::*;

/// The numerator of `<theta, A>` is `e^beta + sum_k g_k e^{beta g_k} >= e^beta - (n-1) m`, its
/// denominator at most `n e^beta`.
///
/// # Derivation
///
/// `<theta_j, A_j>` is the mean of the inner products `g_k` under the weights `e^{beta g_k}`, where
/// the token itself has g = 1. Its numerator is at least `e^beta - (n-1) m`, where `-m` is the
/// least value of `g e^{beta g}` on [-1, 1], at `g = -1/beta` for `beta >= 1` and at -1 below; its
/// denominator is at most `n e^beta`. So it is at least `(1 - (n-1) m e^{-beta})/n`, positive for
/// `n < 1 + e^beta/m`.
pub static ENTRY: Claim = Claim {
    name: "ln-stall-range",
    title: "Pre-LN and peri-LN: radii grow if n < 1 + e^beta/m",
    lets: "Q = K = V = I and m = max_g (-g e^{beta g}) over [-1, 1], which is 1/(e beta) for beta \
           >= 1 and e^{-beta} below",
    then: "Then <theta_j, A_j> >= (1 - (n-1) m e^{-beta})/n, which is positive for n < 1 + \
           e^beta/m. So radii grow for n < 1 + e beta e^beta if beta >= 1, where the source has n \
           <= e^beta.",
    domain: Domain {
        n: Sizes::Range(2, 64),
        d: Sizes::Range(2, 6),
        beta: Betas::TimesThreshold {
            lo: 1.001,
            hi: 3.0,
            formula: "the beta with 1 + e beta e^beta = n",
            threshold: |n, _| threshold_beta(n),
        },
        laws: &["placed"],
        ..Domain::LAYERED
    },
    narrower: "beta >= 1 and at most 3 times the smallest admitted beta; tokens near the worst \
               angle",
    source: "derived; widens arXiv:2510.22026, Theorem 3.2 (n <= e^beta)",
    trials: (60, 400),
    trial: |case, ctx| radial(case, ctx, case.n),
    constant: "the lower bound",
    control: Control {
        what: "five times as many tokens",
        trial: |ctx| radial(&Case::new(32, 3, threshold_beta(32), "sa"), ctx, 160),
    },
    ..Claim::INEQUALITY
};

/// The solution of `1 + e beta e^beta = n`, at least 1.
fn threshold_beta(n: usize) -> f64 {
    let f = |b: f64| 1.0 + b * (1.0 + b).exp() - n as f64;
    crate::num::roots::bracketed_root(f, 1.0, 50.0, 0.0).unwrap_or(1.0)
}

/// `<theta_1, A_1>` where all other tokens have inner products near -1/beta with the first.
fn radial(case: &Case, ctx: &mut Context, n: usize) -> Result<Finding> {
    let (d, beta) = (case.d, case.beta);
    let spread = ctx.log_uniform_in(1e-3, 1.0);
    let mut x = ctx.normals(n * d);
    for (i, row) in x.chunks_exact_mut(d).enumerate() {
        let g = if i == 0 { 1.0 } else { (-1.0 / beta + 0.2 * spread * row[0]).clamp(-1.0, 1.0) };
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
        &mut crate::attention::kernel::Workspace::default(),
        &mut a,
    );
    let m = if beta >= 1.0 { (-1.0f64).exp() / beta } else { (-beta).exp() };
    let bound = (1.0 - (case.n as f64 - 1.0) * m * (-beta).exp()) / case.n as f64;
    let along = dot(x.row(0), &a[..d]);
    Ok(Finding::at_least(along, ctx.claimed_constant(bound))
        .with_evaluation_error(64.0 * f64::EPSILON / bound))
}
