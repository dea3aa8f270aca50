//! The production of negentropy by clusters, without the width of the clusters.

use crate::num::bessel::scaled_bessel_i;
use crate::num::fft::Complex64;
use crate::theorem::prelude::*;

/// This is false for USA: bumps of concentration kappa reduce the rate by the fraction
/// `(1 + 3 beta)/kappa`, which exceeds 2 % for beta >= 13 at kappa = 2000.
///
/// # Derivation
///
/// The production of USA at chord r is smaller than at 0 by the fraction
/// `(1/2 + beta/2 + beta/(d-1)) r^2` (`entropy-slopes`). Bumps of concentration kappa have the mean
/// squared chord 2/kappa on the circle, so the rate is lower by the fraction `(1 + 3 beta)/kappa`,
/// more than 2 % for beta >= 13 at kappa = 2000.
pub static ENTRY: Claim = Claim {
    name: "entropy-slopes-folklore",
    title: "Narrow clusters far apart: production e^beta sum alpha_q^2 (USA) and 1 (SA) to 2 %, \
            for every beta",
    lets: "m equispaced bumps of concentration 2000 and masses alpha_q lie on the circle",
    then: "USA (U1) produces negentropy at the rate e^beta sum alpha_q^2 and SA at the rate 1, to \
           2 %.",
    domain: DOMAIN,
    source: "an earlier version of entropy-slopes",
    status: Status::Folklore,
    trials: (12, 60),
    trial: slope,
    control: Control {
        what: "USA at beta = 10, where the reduction is 1.6 %",
        trial: |ctx| slope(&Case::with_random_masses(2, 2, 10.0, "usa"), ctx),
    },
    ..Claim::INEQUALITY
};

/// n is the number of bumps.
const DOMAIN: Domain = Domain {
    n: Sizes::Range(1, 3),
    d: Sizes::Fixed(2),
    beta: Betas::Linear(10.0, 16.0),
    laws: &["placed"],
    ..Domain::ATTENTION
};

fn slope(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let raw = ctx.masses(case.n);
    let total: f64 = raw.iter().sum();
    let alpha: Vec<f64> = raw.iter().map(|m| m / total).collect();
    let i = scaled_bessel_i(400, 2000.0);
    // The bump at theta_q has the coefficients e^{-i k theta_q} I_k/I_0.
    let wave = |k: usize| -> Complex64 {
        let turn = |(q, a): (usize, &f64)| {
            Complex64::from_polar(*a, -TAU * (k * q) as f64 / case.n as f64)
        };
        alpha.iter().enumerate().map(turn).sum::<Complex64>() * (i[k] / i[0])
    };
    let rate = Circle { c: (0..=400).map(wave).collect() }.negentropy_rate(&MeasureDynamics::new(
        case.dynamics,
        case.beta,
        0.0,
    )?);
    let slope = if case.row_weights()? == RowWeights::Exponential {
        case.beta.exp() * alpha.iter().map(|a| a * a).sum::<f64>()
    } else {
        1.0
    };
    // The series represents the bumps to 1e-14.
    Ok(Finding::at_most((rate / slope - 1.0).abs(), 0.02).with_evaluation_error(1e-9))
}
