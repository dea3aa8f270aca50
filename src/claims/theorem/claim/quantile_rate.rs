//! How fast particles at quantiles approach the mean field.

use super::mean_field_rate;
use crate::theorem::prelude::*;

/// Quantile starts: no sampling error, so the rate of a quadrature rule. A hunt found the slope off by 0.077 at a = 0.9, beta = 3 under
/// SA, on 2000 cells: particles in the peak then were closer than the cells. Now a particle has 200 of them.
///
/// # Derivation
///
/// The quantiles (i - 1/2)/n are within 1/(2n) in mass of their density, so W1 at 0 is at most of the order 1/n, and the flow multiplies
/// it at most by a constant (`dobrushin`). From below, n atoms are never nearer than of the order 1/n to a positive density on the
/// circle. So `c/n <= W1 <= C/n`, and the slope tends to -1; how near it is from n = 48 to 384 is observed.
///
/// About the test: a hunt found the slope off by 0.077 at a = 0.9, beta = 3 under SA, on 2000 cells: particles in the peak then were
/// closer than the cells. Now a particle has 200 of them.
pub static ENTRY: Claim = Claim {
    name: "quantile-rate",
    title: "W1 between n particles that start at quantiles and the mean field falls like 1/n",
    statement: "After t = 1 (SA) or e^{-beta} (USA) from the quantiles (i - 1/2)/n of 1 + a cos theta, 0 <= a <= 0.9: log W1 falls from n = 48 to n = 384 with slope -1 in log n, within 0.05.",
    domain: mean_field_rate::DOMAIN,
    narrower: "d = 2, densities 1 + a cos theta (the order is derived, the tolerance observed: c/n <= W1 <= C/n gives the slope -1 only in the limit)",
    citation: "arXiv:2312.10794, Remark 3.3 with W1 = O(1/n) at the start",
    trials: (8, 60),
    trial: |case, ctx| {
        let a = ctx.uniform_in(0.0, 0.9);
        quantiles(case, ctx, a, -1.0)
    },
    perturbed: "the exponent",
    control: Control { what: "slope -1/2, that of random starts", trial: |ctx| quantiles(&Case::new(1, 2, 1.0, "usa"), ctx, 0.5, -0.5) },
    ..Claim::INEQUALITY
};

fn quantiles(case: &Case, ctx: &mut Context, a: f64, slope: f64) -> Result<Finding> {
    let experiment = mean_field_rate::MeanFieldLimit::new(case, a)?;
    let mut distance = |n: usize| {
        let levels: Vec<f64> = (0..n).map(|i| (i as f64 + 0.5) / n as f64).collect();
        experiment.distance(case, ctx, &levels, 200 * n)
    };
    let found = (distance(384)? / distance(48)?).ln() / 8f64.ln();
    Ok(Finding::at_most((found - ctx.stated(slope)).abs(), 0.05))
}
