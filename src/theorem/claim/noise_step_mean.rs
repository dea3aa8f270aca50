//! Noise: the law of one step of the sampler that is shipped.

use super::{Betas, Case, Claim, Context, Control, Domain, Finding, Kind, Masses, Sizes, Status};
use crate::attention::noise::Isotropic;
use crate::error::Result;
use crate::theory::noise_step::{exact_mean, mean_cosine};

/// Pure noise; beta is kappa.
pub(super) const NOISE: Domain = Domain {
    n: Sizes::Unused,
    d: Sizes::Range(2, 12),
    beta: Betas::Log(0.5, 10.0),
    dynamics: &["noise"],
    masses: Masses::Equal,
    ..Domain::ATTENTION
};

/// `E cos(s chi_{d-1}) = 1F1((d-1)/2; 1/2; -s^2/2)`; with `s^2 = (2h/kappa)(1 - (d-2) h/(3 kappa))` second and fourth moments of the angle are those of Brownian motion.
pub static ENTRY: Claim = Claim {
    name: "noise-step-mean",
    title: "Noise: a step of the corrected geodesic has the mean of Brownian motion up to h^3",
    statement: "One step of angle s |P xi| of the noise of dX = sqrt(2/kappa) P o dW: E <x', x> - e^{-(d-1) h/kappa} falls by 2^3 when h is halved (order 3 within 0.1 at (d+2) h/kappa = 0.02), from the law of the step, no sampling.",
    domain: NOISE,
    narrower: "beta is kappa here",
    citation: "derived",
    status: Status::Theorem,
    kind: Kind::Law,
    trials: (24, 200),
    trial: |case, ctx| order(case, ctx, true),
    perturbed: "the order",
    control: Control { what: "s^2 = 2h/kappa, of order 2 for d > 2", trial: |ctx| order(&Case::new(2, 5, 2.0, "noise"), ctx, false) },
    proof: None,
};

fn order(case: &Case, ctx: &mut Context, corrected: bool) -> Result<Finding> {
    let (d, kappa) = (case.d, case.beta);
    let noise = Isotropic::new(kappa)?;
    let off = |h: f64| {
        let s2 = if corrected { noise.angle(d, h).powi(2) } else { 2.0 * h / kappa };
        mean_cosine(d as f64 - 1.0, s2) - exact_mean(d, h / kappa)
    };
    let h = kappa * 0.02 / (d as f64 + 2.0);
    // On the circle the law is exact: nothing is left but rounding.
    if d == 2 {
        return Ok(Finding::law(off(h), 0.0, 1e-14, 0.0));
    }
    // A third difference of 1e-6 of numbers of size 1, known to 1e-16.
    Ok(Finding::law((off(2.0 * h) / off(h)).log2(), ctx.stated(3.0), 0.1, 0.0))
}
