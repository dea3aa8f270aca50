//! The number of strong centres on S^2 as printed.

use super::centre_count;
use crate::theorem::prelude::*;

/// arXiv:2411.04990, Lemma C.1 with its factor 3.
///
/// # Derivation
///
/// The expected number tends to 1/p, where p is the fraction of the sphere that a cap of radius
/// delta covers (`centre-count`); on S^2 this is `1/sin^2(delta/2)`. With the factor 3 in the
/// denominator the cap of radius pi, the whole sphere, would have p = 3.
pub static ENTRY: Claim = Claim {
    name: "centre-count-printed",
    title: "Expected number of strong Renyi centres on S^2 (as printed)",
    then: "On S^2, the expected number of strong centres for the radius delta in [0.3, 1.5] tends \
           to 1/(3 sin^2(delta/2)).",
    tested: "with the mean of 400 draws, to 15 %",
    domain: Domain { n: Sizes::Range(200, 400), d: Sizes::Fixed(3), ..centre_count::DOMAIN },
    narrower: "n <= 400",
    source: "arXiv:2411.04990, Lemma C.1",
    status: Status::Misprinted,
    trials: (8, 30),
    trial: |case, ctx| {
        let delta = ctx.uniform_in(0.3, 1.5);
        centre_count::mean(case, ctx, delta, printed(delta))
    },
    // (1 - (1 - p)^n)/p passes through 1/(3p) at (1 - p)^n = 2/3.
    control: Control {
        what: "ten tokens at the delta at which their expected number equals the printed limit",
        trial: |ctx| {
            let delta = 2.0 * (1.0 - (2f64 / 3.0).powf(0.1)).sqrt().asin();
            centre_count::mean(&Case::new(10, 3, 0.0, "causal-sa"), ctx, delta, printed(delta))
        },
    },
    ..Claim::LAW
};

fn printed(delta: f64) -> f64 {
    1.0 / (3.0 * (0.5 * delta).sin().powi(2))
}
