//! Expected number of modes on the line, between two Kac-Rice bounds.

use crate::proofs::modes::{self, Modes};
use crate::theorem::prelude::*;
use crate::theory::kac_rice::{default_interval, expected_modes};
use statrs::distribution::{ContinuousCDF, Normal};

/// arXiv:2412.09080, section on Kac-Rice, on the interval where its Gaussian approximation is
/// valid.
///
/// # Derivation
///
/// The bracket is not proved at finite n; the argument is as follows. Modes are the zeros at which
/// `F(t) = sum_i (X_i - t) e^{-beta (t - X_i)^2/2}` is decreasing. By Kac and Rice their expected
/// number in an interval is the integral of `p_t(0) E[(-F')_+ | F = 0]`, and where many samples
/// contribute, for `|t| <= T*`, (F, F') is nearly Gaussian with moments in closed form. This gives
/// the lower bound KR(T*). Beyond T* about one sample or none lies within a bandwidth; there the
/// expected number of modes is at most the expected number of samples, `2 n Q(T*)`, where Q is the
/// tail of the normal law. This gives the upper bound. The Edgeworth corrections near T* are
/// neglected; they are positive where they were measured.
pub static ENTRY: Claim = Claim {
    name: "mode-bracket",
    title: "Expected number of modes: KR(T*) <= E <= KR(T*) + 2 n Q(T*)",
    lets: "n samples be standard normal and use a Gaussian kernel of bandwidth beta^{-1/2}; \
           KR(T*) be the Kac-Rice integral over |t| <= T* = sqrt(2 log n - log beta), and Q the \
           tail of the normal law",
    then: "The expected number of modes lies between KR(T*) and KR(T*) + 2 n Q(T*).",
    tested: "with the mean of 200 certified counts",
    domain: Domain {
        n: Sizes::Range(200, 1000),
        d: Sizes::Unused,
        beta: Betas::Log(14.0, 1000.0),
        dynamics: &["sa"],
        condition: Some(Condition {
            text: "n^{1/2} <= beta <= n^{3/2}",
            holds: |c| c.beta >= (c.n as f64).sqrt() && c.beta <= (c.n as f64).powf(1.5),
        }),
        corners: &[(400, 2, 20.0), (1000, 2, 32.0)],
        ..Domain::EQUAL_MASSES
    },
    narrower: "c = 1/2 in the source's n^c << beta << n^{2-c}",
    source: "arXiv:2412.09080, main theorem and Kac-Rice formula",
    status: Status::Observation,
    trials: (5, 30),
    trial: |case, ctx| bracket(case, ctx, |low, high| (low, high)),
    constant: "both bounds",
    control: Control {
        what: "half the Kac-Rice integral as upper bound",
        trial: |ctx| bracket(&Case::new(400, 2, 400.0, "sa"), ctx, |low, _| (0.0, 0.5 * low)),
    },
    ..Claim::INEQUALITY
};

/// The number of modes, certified.
pub fn certified_modes(found: Modes) -> Result<Vec<f64>> {
    Ok(found.locations()?.to_vec())
}

/// The mean of certified counts of modes of n normal samples, with its standard error.
pub fn mean_count(
    case: &Case,
    ctx: &mut Context,
    draws: usize,
    counts: impl Fn(f64) -> bool,
) -> Result<(f64, f64)> {
    let (mut found, mut samples) = (Vec::with_capacity(draws), vec![0.0; case.n]);
    for _ in 0..draws {
        ctx.check_stop()?;
        ctx.method_rng().normals(&mut samples);
        found.push(
            certified_modes(modes::line(&samples, case.beta)?)?
                .into_iter()
                .filter(|m| counts(*m))
                .count() as f64,
        );
    }
    Ok(mean_and_error(&found))
}

fn bracket(case: &Case, ctx: &mut Context, ends: fn(f64, f64) -> (f64, f64)) -> Result<Finding> {
    let n = case.n as f64;
    let interval = default_interval(n, case.beta)?;
    let low = expected_modes(n, case.beta, interval)?;
    let (low, high) = ends(low, low + 2.0 * n * Normal::standard().sf(interval));
    let (low, high) = (ctx.claimed_constant(low), ctx.claimed_constant(high));
    let (mean, error) = mean_count(case, ctx, 200, |_| true)?;
    let half = 0.5 * (high - low);
    Ok(Finding::nonnegative((mean - low).min(high - mean), half)
        .with_sampling_error(3.0 * error / half))
}
