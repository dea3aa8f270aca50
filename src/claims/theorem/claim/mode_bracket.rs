//! Expected modes on the line between Kac-Rice and Kac-Rice plus tails.

use crate::proofs::modes::{self, Modes};
use crate::theorem::prelude::*;
use crate::theory::kac_rice::{default_interval, expected_modes};
use statrs::distribution::{ContinuousCDF, Normal};

/// 2412.09080, section on Kac-Rice, with the interval on which its Gaussian proxy is valid.
///
/// # Derivation
///
/// No proof of the bracket at finite n; the reasons: modes are the zeros at which `F(t) = sum_i (X_i - t) e^{-beta (t - X_i)^2/2}` falls.
/// By Kac and Rice their expected number in an interval is the integral of `p_t(0) E[(-F')_+ | F = 0]`, and where many samples
/// contribute, for `|t| <= T*`, (F, F') is nearly Gaussian with moments in closed form: the lower end KR(T*). Beyond T* about one sample
/// or none lies within a bandwidth; there the expected number of modes is at most the expected number of samples, `2 n Q(T*)`, Q the tail
/// of the normal law: the upper end. Neglected are the Edgeworth corrections near T*, positive where they were measured.
pub static ENTRY: Claim = Claim {
    name: "mode-bracket",
    title: "Expected number of modes: KR(T*) <= E <= KR(T*) + 2 n Q(T*)",
    statement: "n standard normal samples, Gaussian kernel of bandwidth beta^{-1/2}: the expected number of modes (mean of 200 proved counts) lies between the Kac-Rice integral over |t| <= T* = \
                sqrt(2 log n - log beta) and that plus the expected number of samples outside.",
    domain: Domain {
        n: Sizes::Range(200, 1000),
        d: Sizes::Unused,
        beta: Betas::Log(14.0, 1000.0),
        dynamics: &["sa"],
        also: Some(Also {
            text: "n^{1/2} <= beta <= n^{3/2}",
            holds: |c| c.beta >= (c.n as f64).sqrt() && c.beta <= (c.n as f64).powf(1.5),
        }),
        corners: &[(400, 2, 20.0), (1000, 2, 32.0)],
        ..Domain::EQUAL_MASSES
    },
    narrower: "c = 1/2 in the source's n^c << beta << n^{2-c}",
    citation: "arXiv:2412.09080, main theorem and Kac-Rice formula",
    status: Status::Observation,
    trials: (5, 30),
    trial: |case, ctx| bracket(case, ctx, |low, high| (low, high)),
    perturbed: "both ends of the bracket",
    control: Control {
        what: "half the Kac-Rice integral as upper end",
        trial: |ctx| bracket(&Case::new(400, 2, 400.0, "sa"), ctx, |low, _| (0.0, 0.5 * low)),
    },
    ..Claim::INEQUALITY
};

/// The modes of a proved count.
pub fn proved(found: Modes) -> Result<Vec<f64>> {
    Ok(found.locations()?.to_vec())
}

/// The mean of proved counts of modes of n normal samples in a set, with its standard error.
pub fn mean_count(case: &Case, ctx: &mut Context, draws: usize, counts: impl Fn(f64) -> bool) -> Result<(f64, f64)> {
    let (mut found, mut samples) = (Vec::with_capacity(draws), vec![0.0; case.n]);
    for _ in 0..draws {
        ctx.go_on()?;
        ctx.chance().normals(&mut samples);
        found.push(proved(modes::line(&samples, case.beta)?)?.into_iter().filter(|m| counts(*m)).count() as f64);
    }
    Ok(mean_and_error(&found))
}

fn bracket(case: &Case, ctx: &mut Context, ends: fn(f64, f64) -> (f64, f64)) -> Result<Finding> {
    let n = case.n as f64;
    let interval = default_interval(n, case.beta)?;
    let low = expected_modes(n, case.beta, interval)?;
    let (low, high) = ends(low, low + 2.0 * n * Normal::standard().sf(interval));
    let (low, high) = (ctx.stated(low), ctx.stated(high));
    let (mean, error) = mean_count(case, ctx, 200, |_| true)?;
    let half = 0.5 * (high - low);
    Ok(Finding::nonnegative((mean - low).min(high - mean), half).with_sampling(3.0 * error / half))
}
