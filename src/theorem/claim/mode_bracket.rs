//! Expected modes on the line between Kac-Rice and Kac-Rice plus tails.

use super::{Case, Claim, Context, Control, Expected, Finding, Margin};
use crate::clusters::modes;
use crate::error::Result;
use crate::num::stats::mean_and_error;
use crate::theory::kac_rice::{default_interval, expected_modes};
use statrs::distribution::{ContinuousCDF, Normal};

/// 2412.09080, section on Kac-Rice, with the interval on which its Gaussian proxy is valid.
pub static ENTRY: Claim = Claim {
    name: "mode-bracket",
    title: "Expected number of modes: KR(T*) <= E <= KR(T*) + 2 n Q(T*)",
    statement: "n standard normal samples, Gaussian kernel of bandwidth beta^{-1/2}: the mean number of modes (certified counts, 60 draws) lies between the Kac-Rice integral over |t| <= T* = \
                sqrt(2 log n - log beta) and that plus the expected number of samples outside, within four standard errors.",
    hypotheses: "n^c << beta << n^{2-c}",
    applies: |case| case.beta > 10.0 && case.beta < (case.n as f64).powf(1.5),
    citation: "arXiv:2412.09080, main theorem and Kac-Rice formula",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[
        Case::new(400, 2, 100.0, "sa"),
        Case::new(2000, 2, 1000.0, "sa"),
        Case::new(20_000, 2, 1000.0, "sa"),
        Case::new(400, 2, 20.0, "sa"),
    ],
    quick: 3,
    trials: (1, 5),
    trial: |case, ctx| bracket(case, ctx, 1.0),
    control: Control { what: "half the Kac-Rice integral as upper end", trial: |ctx| bracket(&Case::new(2000, 2, 1000.0, "sa"), ctx, 0.4) },
};

fn bracket(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let n = case.n as f64;
    let interval = default_interval(n, case.beta)?;
    let low = expected_modes(n, case.beta, interval)?;
    let high = factor * (low + 2.0 * n * Normal::standard().sf(interval));
    let mut counts = Vec::new();
    let mut samples = vec![0.0; case.n];
    for _ in 0..60 {
        ctx.stream.normals(&mut samples);
        let Ok(count) = modes::line(&samples, case.beta)?.proved() else {
            return Ok(Finding::Unfinished("a count could not be proved".into()));
        };
        counts.push(count as f64);
    }
    let (mean, error) = mean_and_error(&counts);
    let value = (mean - low).min(high - mean) + 4.0 * error;
    Ok(Finding::Margin(Margin { value, sampling: error, ..Margin::default() }))
}
