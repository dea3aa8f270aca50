//! "Nearer positions are more alike."

use crate::theorem::prelude::*;
use crate::transformer::positions::overlap;

/// This is false: the first increase is at distance 5 for d = 64 and at 43 for d = 512.
pub static ENTRY: Claim = Claim {
    name: "pe-monotone-printed",
    title: "Sinusoidal positions: inner products decrease with the distance (as printed)",
    then: "<PE(p), PE(p + k)> >= <PE(p), PE(p + k + 1)> for all k >= 0.",
    domain: Domain { n: Sizes::Unused, d: Sizes::List(&[64, 128, 512]), ..Domain::BLOCKS },
    narrower: "k below 200",
    source: "a survey of sequence models; false: the inner product is a sum of cosines",
    status: Status::Misprinted,
    correct: "The inner product is a sum of cosines of the distance, which rises again at small \
               distances.",
    trials: (30, 200),
    trial: |case, ctx| falling(case, ctx, 200),
    control: Control {
        what: "k below 4",
        trial: |ctx| falling(&Case::new(2, 64, 1.0, "sa"), ctx, 4),
    },
    ..Claim::INEQUALITY
};

fn falling(case: &Case, ctx: &mut Context, below: usize) -> Result<Finding> {
    let k = ctx.index(below) as f64;
    // Cosines of numbers below 200, d / 2 of them.
    let error = 1e-13 * case.d as f64;
    let drop = overlap(k, case.d) - overlap(k + 1.0, case.d);
    Ok(Finding::nonnegative(drop, 1.0).with_evaluation_error(error))
}
