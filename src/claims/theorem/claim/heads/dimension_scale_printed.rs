//! "Scores are divided by the dimension, for a stable training."

use super::logit_variance::squares;
use crate::theorem::prelude::*;

/// The formula of the source has the root. Division by d leaves the variance 1/d, so attention
/// tends to the mean.
pub static ENTRY: Claim = Claim {
    name: "dimension-scale-printed",
    title: "Scores divided by d have variance 1 (as printed)",
    lets: "q and k in R^d be independent and standard normal",
    then: "The variance of <q, k>/d is 1.",
    tested: "with d in {4, 16, 64}: the mean of (<q, k>/d)^2 over 4000 pairs is 1 to 4.5 standard \
             errors",
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::List(&[4, 16, 64]),
        laws: &["uniform"],
        ..Domain::MAPS
    },
    source: "a tutorial on attention, against arXiv:1706.03762",
    status: Status::Misprinted,
    trials: (3, 20),
    trial: |case, ctx| scaled(ctx, case.d, 1.0),
    control: Control { what: "division by sqrt d", trial: |ctx| scaled(ctx, 16, 0.5) },
    ..Claim::LAW
};

fn scaled(ctx: &mut Context, d: usize, power: f64) -> Result<Finding> {
    let by = (d as f64).powf(2.0 * power);
    let (mean, error) =
        mean_and_error(&squares(ctx, d, false).iter().map(|s| s / by).collect::<Vec<f64>>());
    Ok(Finding::law(mean, 1.0, 4.5 * error, 0.0))
}
