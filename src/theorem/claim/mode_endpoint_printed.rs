//! Mammen's law at an interval that begins at the centre.

use super::{Case, Claim, Context, Control, Expected, Finding, Margin};
use crate::clusters::modes;
use crate::error::Result;

/// 2412.09080, quoted theorem on fixed intervals.
pub static ENTRY: Claim = Claim {
    name: "mode-endpoint-printed",
    title: "Few modes on [0, b]: one if 0 is in the interval (as quoted)",
    statement: "beta << n^{2/5}: the expected number of modes in [a, b] is 1 if 0 lies in [a, b], up to o(1); tested on [0, 3] (mean of 400 draws above 0.9).",
    hypotheses: "beta << n^{2/5}",
    applies: |case| case.beta < 0.5 * (case.n as f64).powf(0.4),
    citation: "arXiv:2412.09080, quoted from Mammen (false when 0 is an endpoint: one half)",
    expected: Expected::Violated,
    almost_sure: false,
    cases: &[Case::new(4000, 2, 3.0, "sa")],
    quick: 1,
    trials: (1, 3),
    trial: |case, ctx| mean_above(case, ctx, 0.9),
    control: Control { what: "a mean above 2", trial: |ctx| mean_above(&Case::new(4000, 2, 3.0, "sa"), ctx, 2.0) },
};

fn mean_above(case: &Case, ctx: &mut Context, level: f64) -> Result<Finding> {
    let mut samples = vec![0.0; case.n];
    let mut total = 0usize;
    for _ in 0..400 {
        ctx.stream.normals(&mut samples);
        let found = modes::line(&samples, case.beta)?;
        let Ok(locations) = found.locations() else {
            return Ok(Finding::Unfinished("a count could not be proved".into()));
        };
        total += locations.iter().filter(|m| (0.0..=3.0).contains(*m)).count();
    }
    let mean = total as f64 / 400.0;
    Ok(Finding::Margin(Margin { value: mean - level, sampling: 3.0 * (0.25f64 / 400.0).sqrt(), ..Margin::default() }))
}
