//! The number of strong centres on S^2 as printed.

use super::centre_count;
use crate::theorem::prelude::*;

/// 2411.04990, Lemma C.1 with its factor 3: the cap of radius pi would have mass 3.
///
/// # Derivation
///
/// The expected number tends to one over the share of a cap of radius delta (`centre-count`), on S^2 `1/sin^2(delta/2)`. A factor 3 in
/// the denominator would give the cap of radius pi, the whole sphere, the share 3.
pub static ENTRY: Claim = Claim {
    name: "centre-count-printed",
    title: "Expected number of strong Renyi centres on S^2 (as printed)",
    statement: "d = 3: the expected number of strong centres for the radius delta in [0.3, 1.5] tends to 1/(3 sin^2(delta/2)): the mean of 400 draws is within 15 % of it.",
    domain: Domain { n: Sizes::Range(200, 400), d: Sizes::Fixed(3), ..centre_count::DOMAIN },
    narrower: "n <= 400",
    citation: "arXiv:2411.04990, Lemma C.1",
    status: Status::Misprinted,
    trials: (8, 30),
    trial: |case, ctx| {
        let delta = ctx.uniform_in(0.3, 1.5);
        centre_count::mean(case, ctx, delta, printed(delta))
    },
    // (1 - (1 - p)^n)/p passes through 1/(3p) at (1 - p)^n = 2/3.
    control: Control {
        what: "ten tokens at the delta at which their number passes through the printed limit",
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
