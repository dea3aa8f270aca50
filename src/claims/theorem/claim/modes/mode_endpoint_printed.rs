//! Mammen's law for an interval with an end at the centre.

use super::mode_bracket::mean_count;
use crate::theorem::prelude::*;

/// arXiv:2412.09080, quoted theorem on fixed intervals. If 0 is an end of the interval, the single
/// mode lies inside with probability 1/2.
///
/// # Derivation
///
/// For small beta the estimate has one mode near 0, whose law is nearly symmetric about 0. If 0 is
/// an end of the interval, the mode lies inside with probability 1/2, so the expected number is 1/2
/// and not 1.
pub static ENTRY: Claim = Claim {
    name: "mode-endpoint-printed",
    title: "Few modes in [a, b]: one if 0 is in the interval (as quoted)",
    lets: "beta << n^{2/5} and a <= 0 <= b",
    then: "The expected number of modes in [a, b] is 1 + o(1).",
    tested: "with the mean of 400 certified counts, to 0.1",
    domain: Domain {
        n: Sizes::Range(1000, 2000),
        d: Sizes::Unused,
        beta: Betas::Log(0.5, 10.0),
        dynamics: &["sa"],
        condition: Some(Condition {
            text: "beta <= n^{2/5}/4",
            holds: |c| 4.0 * c.beta <= (c.n as f64).powf(0.4),
        }),
        ..Domain::EQUAL_MASSES
    },
    source: "arXiv:2412.09080, quoted from Mammen (false when 0 is an endpoint: one half)",
    status: Status::Misprinted,
    correct: "Where 0 is inside the interval the expected number is 1; where 0 is an end of it, \
               1/2: the mode falls on either side.",
    trials: (5, 30),
    trial: |case, ctx| {
        let (a, b) = (ctx.uniform_in(-3.0, -0.5), ctx.uniform_in(0.5, 3.0));
        // The interval has its left end at 0, its right end at 0, or neither.
        let (a, b) = [(0.0, b), (a, 0.0), (a, b)][ctx.index(3)];
        mean_in(case, ctx, a, b)
    },
    control: Control {
        what: "the interval [-3, 3], with 0 inside",
        trial: |ctx| mean_in(&Case::new(1000, 2, 3.0, "sa"), ctx, -3.0, 3.0),
    },
    ..Claim::INEQUALITY
};

fn mean_in(case: &Case, ctx: &mut Context, a: f64, b: f64) -> Result<Finding> {
    let (mean, error) = mean_count(case, ctx, 400, |m| (a..=b).contains(&m))?;
    // The kind is not a law, so that a confirmation keeps the interval and draws other samples.
    Ok(Finding::at_most((mean - 1.0).abs(), 0.1).with_sampling_error(30.0 * error))
}
