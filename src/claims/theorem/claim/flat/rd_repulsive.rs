//! Tokens in R^d, V = -I: the covariance becomes isotropic.

use super::setting::{UNIT, attention, evolve};
use crate::theorem::prelude::*;

const TIME: f64 = 100.0;
const SLOPE_ERROR: f64 = 0.02;

/// Near 0 the weights are linear in x: `x_i' = -(m + beta C x_i)`, so `(C^{-1})' = 2 beta I`.
///
/// # Derivation
///
/// This is an argument to leading order near 0, not a proof. The scores are small, so `A_ij = (1 +
/// <x_i, x_j - m>)/n` and `x_i' = -(m + C x_i)` with `m` the mean and `C` the matrix of second
/// moments about it. The mean decays exponentially, and then `C' = -2 C^2`, that is `(C^{-1})' = 2
/// I`: every eigenvalue `c` has `1/c(2t) - 1/c(t) = 2t`. The neglected terms are of relative order
/// `c`, which decreases like `1/(2t)`.
pub static ENTRY: Claim = Claim {
    name: "rd-repulsive",
    title: "`R^d`, `V = -I`: the covariance `C` satisfies `2t C -> I`",
    lets: "`x_i' = -sum_j A_ij x_j` with scores `<x_i, x_j>`, from at least `3d` normal tokens",
    then: "Every eigenvalue `c` of their covariance matrix satisfies `(1/c(2t) - 1/c(t)) / (2t) = \
           1`.",
    tested: "at `t = {TIME}`, to {SLOPE_ERROR}",
    numbers: &[("TIME", TIME), ("SLOPE_ERROR", SLOPE_ERROR)],
    domain: Domain { n: Sizes::Range(9, 16), d: Sizes::Range(1, 3), ..UNIT },
    source: "derived to leading order (arXiv:2305.05465, section on V = -I; the Gaussian \
               closure is exact)",
    status: Status::Observation,
    trials: (4, 30),
    trial: |case, ctx| slope(case, ctx, 1.0),
    constant: "the slope",
    control: Control {
        what: "the slope 1/2",
        trial: |ctx| slope(&Case::new(10, 2, 1.0, "sa"), ctx, 0.5),
    },
    ..Claim::LAW
};

fn slope(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let x = Tokens::flat(d, ctx.normals(n * d))?;
    let minus: Vec<f64> = crate::num::dense::identity(d).iter().map(|v| -v).collect();
    let dynamics = attention(case.beta, n, d, None, Some((d, minus)), false)?;
    let first = evolve(ctx, &dynamics, &x, TIME, 1.0)?;
    let last = evolve(ctx, &dynamics, &first, TIME, 1.0)?;
    let inverse = |x: &Tokens| {
        let mean = x.mean();
        let entry = |k: usize| {
            x.rows().map(|r| (r[k / d] - mean[k / d]) * (r[k % d] - mean[k % d])).sum::<f64>()
                / n as f64
        };
        symmetric_eigenvalues(&(0..d * d).map(entry).collect::<Vec<_>>(), d).unwrap_or_default()
    };
    let stated = ctx.claimed_constant(factor);
    let (first, last) = (inverse(&first), inverse(&last));
    let slopes =
        first.iter().zip(&last).map(|(a, b)| (1.0 / b - 1.0 / a) / (2.0 * case.beta * TIME));
    let off = |slope: &f64| (slope - stated).abs();
    // NaN is the largest number of this order.
    let Some(worst) = slopes.max_by(|a, b| off(a).total_cmp(&off(b))) else {
        return Err(Error::Numerical { what: "a covariance has no eigenvalues".into() });
    };
    Ok(Finding::law(worst, stated, SLOPE_ERROR, 0.0))
}
