//! The rate at which particles at quantiles approach the mean field.

use super::mean_field_rate;
use crate::theorem::prelude::*;

/// Starts at quantiles have no sampling error, so the rate is that of a quadrature rule.
///
/// # Derivation
///
/// The quantiles (i - 1/2)/n are within 1/(2n) in mass of their density, so W1 at 0 is at most of
/// the order 1/n, and the flow multiplies it at most by a constant (`dobrushin`). From below, the
/// distance of n atoms from a positive density on the circle is at least of the order 1/n. So
/// `c/n <= W1 <= C/n`, and the slope tends to -1; its deviation between n = 48 and n = 384 is
/// observed.
///
/// About the test: with 2000 finite volumes a hunt found a deviation of 0.077 in the slope at a =
/// 0.9, beta = 3 under SA, because particles in the peak were closer than the volumes. Now there
/// are 200 volumes per particle.
pub static ENTRY: Claim = Claim {
    name: "quantile-rate",
    title: "W1 between n particles that start at quantiles and the mean field decreases like 1/n",
    lets: "n tokens start at the quantiles (i - 1/2)/n of the density proportional to 1 + a cos \
           theta, 0 <= a <= 0.9",
    then: "At t = 1 (SA) or t = e^{-beta} (USA), log W1 between the tokens and the mean field is \
           a linear function of log n with slope -1.",
    tested: "as: the slope between n = 48 and n = 384 is within 0.05",
    domain: mean_field_rate::DOMAIN,
    narrower: "d = 2, densities 1 + a cos theta (the order is derived, the tolerance observed: c/n \
               <= W1 <= C/n gives the slope -1 only in the limit)",
    source: "arXiv:2312.10794, Remark 3.3 with W1 = O(1/n) at the start",
    trials: (8, 60),
    trial: |case, ctx| {
        let a = ctx.uniform_in(0.0, 0.9);
        quantiles(case, ctx, a, -1.0)
    },
    constant: "the exponent",
    control: Control {
        what: "the slope -1/2 of random starts",
        trial: |ctx| quantiles(&Case::new(1, 2, 1.0, "usa"), ctx, 0.5, -0.5),
    },
    ..Claim::INEQUALITY
};

fn quantiles(case: &Case, ctx: &mut Context, a: f64, slope: f64) -> Result<Finding> {
    let experiment = mean_field_rate::MeanFieldLimit::new(case, a)?;
    let mut distance = |n: usize| {
        let levels: Vec<f64> = (0..n).map(|i| (i as f64 + 0.5) / n as f64).collect();
        experiment.distance(case, ctx, &levels, 200 * n)
    };
    let found = (distance(384)? / distance(48)?).ln() / 8f64.ln();
    Ok(Finding::at_most((found - ctx.claimed_constant(slope)).abs(), 0.05))
}
