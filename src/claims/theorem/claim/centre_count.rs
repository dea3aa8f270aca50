//! How many strong centres there are.

use crate::clusters::centres::strong;
use crate::theorem::prelude::*;
use crate::theory::parking::strong_centres;

/// 2411.04990, Lemma C.1, with the cap of S^2 corrected.
///
/// # Derivation
///
/// Token k is a strong centre iff none of the k - 1 tokens before it lies within delta of it. Given `x_k` these are independent and
/// uniform, and each misses the cap of radius delta about `x_k` with probability `1 - p`. So token k is a centre with probability `(1 -
/// p)^{k-1}`, and the sum over k is `(1 - (1 - p)^n)/p`, which tends to `1/p`.
///
/// On the circle `p = delta/pi`. On S^2 a cap of radius delta has the height `1 - cos delta`, and by Archimedes the share `p = (1 - cos
/// delta)/2 = sin^2(delta/2)`, which is 1 at `delta = pi`. The printed `1/(3 sin^2(delta/2))` would give that whole sphere the share 3.
pub static ENTRY: Claim = Claim {
    name: "centre-count",
    title: "Expected number of strong Renyi centres",
    statement: "n uniform tokens have (1 - (1 - p)^n)/p strong centres for the radius delta in [0.1, 1.5] in the mean, p the share of a cap of radius delta: the mean of 400 draws is within 4.5 standard errors and 0.06.",
    domain: DOMAIN,
    citation: "arXiv:2411.04990, Lemma C.1 (p = sin^2(delta/2) on S^2)",
    status: Status::Corrected,
    trials: (20, 120),
    trial: |case, ctx| {
        let delta = ctx.uniform_in(0.1, 1.5);
        let expected = ctx.stated(strong_centres(case.n, case.d, delta)?);
        exact(case, ctx, delta, expected)
    },
    perturbed: "the expected number",
    control: Control {
        what: "a third of it on S^2, as printed, at delta = 0.4",
        trial: |ctx| exact(&Case::new(300, 3, 0.0, "causal-sa"), ctx, 0.4, strong_centres(300, 3, 0.4)? / 3.0),
    },
    ..Claim::LAW
};

/// Uniform tokens of a sphere; nothing moves.
pub const DOMAIN: Domain =
    Domain { n: Sizes::Range(2, 300), d: Sizes::Range(2, 8), beta: Betas::Unused, dynamics: &["causal-sa"], ..Domain::EQUAL_MASSES };

/// The mean number over independent draws against the expected one, up to the error of sampling.
fn exact(case: &Case, ctx: &mut Context, delta: f64, expected: f64) -> Result<Finding> {
    let (mean, error) = counted(case, ctx, delta)?;
    // 4.5 standard errors have the chance e^{-10}. Where nearly all counts are the same their spread is seen badly: counts that differ by
    // one are allowed (7/3) 10/399 = 0.06 more (Bernstein's inequality with the variance of the sample, Maurer and Pontil 2009).
    Ok(Finding::law(mean, expected, 4.5 * error + 0.06, 0.0))
}

/// The mean number against another one, within 15 %.
pub fn mean(case: &Case, ctx: &mut Context, delta: f64, expected: f64) -> Result<Finding> {
    let (mean, error) = counted(case, ctx, delta)?;
    Ok(Finding::law(mean, expected, 0.15 * expected, error))
}

/// The mean number over independent draws and its standard error. The draws are the method's: the claim is about their law.
fn counted(case: &Case, ctx: &mut Context, delta: f64) -> Result<(f64, f64)> {
    let law = Law::parse("uniform")?;
    let mut counts = Vec::new();
    for _ in 0..400 {
        counts.push(strong(&law.sample(case.n, case.d, ctx.chance())?, delta).len() as f64);
    }
    Ok(mean_and_error(&counts))
}
