//! The number of strong centres.

use crate::clusters::centres::find_strong_centres;
use crate::theorem::prelude::*;
use crate::theory::parking::strong_centres;

const DELTAS: (f64, f64) = (0.1, 1.5);
const PRINTED_DELTAS: (f64, f64) = (0.3, 1.5);
const CONTROL_DELTA: f64 = 0.4;
const DRAWS: usize = 400;
const ERRORS: f64 = 4.5;
const ALLOWED: f64 = 0.06;
const PERCENT: f64 = 15.0;
const LARGEST_N: usize = 400;

/// # Derivation
///
/// Token `k` is a strong centre iff none of the `k - 1` tokens before it lies within `delta` of it.
/// Given `x_k` these are independent and uniform, and each misses the cap of radius `delta` about
/// `x_k` with probability `1 - p`. So token `k` is a centre with probability `(1 - p)^{k-1}`, and
/// the sum over `k` is `(1 - (1 - p)^n)/p`, which tends to `1/p`.
///
/// On the circle `p = delta/pi`. On `S^2` a cap of radius `delta` has the height `1 - cos delta`,
/// and by Archimedes the fraction of the area is `p = (1 - cos delta)/2 = sin^2(delta/2)`, which is
/// 1 at `delta = pi`. The printed `1/(3 sin^2(delta/2))` as the expected number for large `n` would
/// give less than one centre at `delta = pi`.
pub static ENTRY: Claim = Claim {
    name: "centre-count",
    title: "Expected number of strong Renyi centres",
    lets: "`p` be the fraction of the sphere that a cap of radius `delta` in [{LEAST}, {MOST}] \
           covers",
    then: "Among `n` uniform tokens, the expected number of strong centres for the radius `delta` \
           is `(1 - (1 - p)^n)/p`.",
    tested: "with the mean of {DRAWS} draws, to {ERRORS} standard errors and {ALLOWED}",
    numbers: &[
        ("LEAST", DELTAS.0),
        ("MOST", DELTAS.1),
        ("DRAWS", DRAWS as f64),
        ("ERRORS", ERRORS),
        ("ALLOWED", ALLOWED),
        ("CONTROL_DELTA", CONTROL_DELTA),
    ],
    domain: DOMAIN,
    source: "arXiv:2411.04990 v2, Lemma C.1 (as quoted in a formal statement), with p = \
             sin^2(delta/2) on S^2",
    status: Status::Corrected,
    trials: (20, 120),
    trial: |case, ctx| {
        let delta = ctx.uniform_in(DELTAS.0, DELTAS.1);
        let expected = ctx.claimed_constant(strong_centres(case.n, case.d, delta)?);
        exact(case, ctx, delta, expected)
    },
    constant: "the expected number",
    control: Control {
        what: "a third of it on `S^2`, as printed, at `delta = {CONTROL_DELTA}`",
        trial: |ctx| {
            let expected = strong_centres(300, 3, CONTROL_DELTA)? / 3.0;
            exact(&Case::new(300, 3, 0.0, ""), ctx, CONTROL_DELTA, expected)
        },
    },
    variants: &[&PRINTED],
    ..Claim::LAW
};

static PRINTED: Claim = Claim {
    name: "centre-count-printed",
    title: "Expected number of strong Renyi centres on `S^2` (as printed)",
    then: "On `S^2`, the expected number of strong centres for the radius `delta` in [{LEAST}, \
           {MOST}] tends to `1/(3 sin^2(delta/2))` for large `n`.",
    tested: "with the mean of {DRAWS} draws, to {PERCENT} %",
    numbers: &[
        ("LEAST", PRINTED_DELTAS.0),
        ("MOST", PRINTED_DELTAS.1),
        ("DRAWS", DRAWS as f64),
        ("PERCENT", PERCENT),
        ("LARGEST_N", LARGEST_N as f64),
    ],
    domain: Domain { n: Sizes::Range(200, LARGEST_N), d: Sizes::Fixed(3), ..DOMAIN },
    narrower: "`n <= {LARGEST_N}`",
    source: "arXiv:2411.04990 v2, section on Renyi centres and strong Renyi centres: \"1/(3 \
             sin^2(delta/2))\" on S^2, as quoted in a formal statement. Its Lemma C.1, the general \
             count, is right",
    status: Status::Misprinted,
    trials: (8, 30),
    trial: |case, ctx| {
        let delta = ctx.uniform_in(PRINTED_DELTAS.0, PRINTED_DELTAS.1);
        mean(case, ctx, delta, printed(delta))
    },
    // (1 - (1 - p)^n)/p passes through 1/(3p) at (1 - p)^n = 2/3.
    control: Control {
        what: "ten tokens at the `delta` at which their expected number equals the printed limit",
        trial: |ctx| {
            let delta = 2.0 * (1.0 - (2f64 / 3.0).powf(0.1)).sqrt().asin();
            mean(&Case::new(10, 3, 0.0, ""), ctx, delta, printed(delta))
        },
    },
    ..Claim::LAW
};

fn printed(delta: f64) -> f64 {
    1.0 / (3.0 * (0.5 * delta).sin().powi(2))
}

/// Uniform tokens on the sphere, without dynamics.
const DOMAIN: Domain = Domain {
    n: Sizes::Range(2, 300),
    d: Sizes::Range(2, 8),
    beta: Betas::Unused,
    dynamics: &[],
    ..Domain::EQUAL_MASSES
};

/// Compares the mean number over independent draws with the expected one, up to the sampling error.
fn exact(case: &Case, ctx: &mut Context, delta: f64, expected: f64) -> Result<Finding> {
    let (mean, error) = count_centres(case, ctx, delta)?;
    // 4.5 standard errors are exceeded with probability e^{-10}. If nearly all counts are equal,
    // their spread is estimated badly: counts that differ by one are allowed (7/3) 10/399 = 0.06
    // more (Bernstein's inequality with the variance of the sample, Maurer and Pontil 2009).
    Ok(Finding::law(mean, expected, ERRORS * error + ALLOWED, 0.0))
}

/// Compares the mean number with another one.
fn mean(case: &Case, ctx: &mut Context, delta: f64, expected: f64) -> Result<Finding> {
    let (mean, error) = count_centres(case, ctx, delta)?;
    Ok(Finding::law(mean, expected, PERCENT / 100.0 * expected, error))
}

/// The mean number over independent draws and its standard error. The draws come from the method's
/// random stream, since the claim is about their law.
fn count_centres(case: &Case, ctx: &mut Context, delta: f64) -> Result<(f64, f64)> {
    let law = Law::parse("uniform")?;
    let mut counts = Vec::new();
    for _ in 0..DRAWS {
        counts
            .push(find_strong_centres(&law.sample(case.n, case.d, ctx.method_rng())?, delta).len()
                as f64);
    }
    Ok(mean_and_error(&counts))
}
