//! Mammen's law at an interval that begins at the centre.

use super::mode_bracket::mean_count;
use crate::theorem::prelude::*;

/// 2412.09080, quoted theorem on fixed intervals: the single mode falls on either side of an end at 0 with probability 1/2.
///
/// # Derivation
///
/// For small beta the estimate has one mode, near 0, with a place that is nearly symmetric about 0. Where 0 is an end of the interval,
/// the mode lies inside with probability 1/2: the expected number is 1/2 and not 1.
pub static ENTRY: Claim = Claim {
    name: "mode-endpoint-printed",
    title: "Few modes on [a, b]: one if 0 is in the interval (as quoted)",
    statement: "beta << n^{2/5}, a <= 0 <= b: the expected number of modes in [a, b] is 1 up to o(1), here within 0.1 (mean of 400 proved counts).",
    domain: Domain {
        n: Sizes::Range(1000, 2000),
        d: Sizes::Unused,
        beta: Betas::Log(0.5, 10.0),
        dynamics: &["sa"],
        also: Some(Also { text: "beta <= n^{2/5}/4", holds: |c| 4.0 * c.beta <= (c.n as f64).powf(0.4) }),
        ..Domain::EQUAL_MASSES
    },
    citation: "arXiv:2412.09080, quoted from Mammen (false when 0 is an endpoint: one half)",
    status: Status::Misprinted,
    trials: (5, 30),
    trial: |case, ctx| {
        let (a, b) = (ctx.uniform_in(-3.0, -0.5), ctx.uniform_in(0.5, 3.0));
        // An end at 0 on either side, or none.
        let (a, b) = [(0.0, b), (a, 0.0), (a, b)][ctx.index(3)];
        mean_in(case, ctx, a, b)
    },
    control: Control { what: "0 inside the interval: [-3, 3]", trial: |ctx| mean_in(&Case::new(1000, 2, 3.0, "sa"), ctx, -3.0, 3.0) },
    ..Claim::INEQUALITY
};

fn mean_in(case: &Case, ctx: &mut Context, a: f64, b: f64) -> Result<Finding> {
    let (mean, error) = mean_count(case, ctx, 400, |m| (a..=b).contains(&m))?;
    // Not a law: a confirmation keeps the interval and draws other samples.
    Ok(Finding::at_most((mean - 1.0).abs(), 0.1).with_sampling(30.0 * error))
}
