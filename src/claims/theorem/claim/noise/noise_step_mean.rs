//! Noise: the mean of one step of the sampler.

use crate::attention::noise::Isotropic;
use crate::theorem::prelude::*;
use crate::theory::noise_step::{exact_mean, mean_cosine};

/// Pure noise; beta of the case is kappa.
pub(crate) const NOISE: Domain = Domain {
    n: Sizes::Unused,
    d: Sizes::Range(2, 12),
    beta: Betas::Log(0.5, 10.0),
    dynamics: &["noise"],
    ..Domain::EQUAL_MASSES
};

/// `E cos(s chi_{d-1}) = 1F1((d-1)/2; 1/2; -s^2/2)`. With
/// `s^2 = (2h/kappa)(1 - (d-2) h/(3 kappa))`, the second and fourth moments of the angle are those
/// of Brownian motion.
///
/// # Derivation
///
/// A step turns x by an angle s times a chi variable of `D = d - 1` degrees, so
/// `E <x', x> = 1 - s^2 D/2 + s^4 D (D+2)/24 - s^6 D (D+2)(D+4)/720 + ...`. Brownian motion has
/// `e^{-D tau}`, `tau = h/kappa`. With `s^2 = 2 tau (1 - (D-1) tau/3)`: the first order is
/// `-D tau`; the second `D ((D-1)/3 + (D+2)/6) = D^2/2`; the third
/// `-D (D+2) ((D-1)/9 + (D+4)/90) = -D (D+2)(11 D - 6)/90`, and its difference from `-D^3/6` is
/// `(2/45) D (D-1)(D-3)`. It vanishes for d = 2 (with all later ones) and d = 4.
pub static ENTRY: Claim = Claim {
    name: "noise-step-mean",
    title: "Noise: the one-step mean of the corrected geodesic step",
    then: "For the noise dX = sqrt(2/kappa) P o dW, take a step along a geodesic by the angle s \
           |P xi| with s^2 = (2h/kappa)(1 - (d-2) h/(3 kappa)). Then E <x', x> - e^{-(d-1) \
           h/kappa} = (2/45)(d-1)(d-2)(d-4) (h/kappa)^3 + O(h^4), which is of order 4 for d = 4 \
           and exact for d = 2.",
    tested: "without sampling, from the law of the step: the constant c = (2/45)(d-1)(d-2)(d-4) \
             is found to 0.01 (1 + |c|) by extrapolation from (d+2) h/kappa = 0.02",
    domain: NOISE,
    narrower: "beta of the case is kappa",
    source: "derived",
    trials: (24, 200),
    trial: |case, ctx| constant(case, ctx, true),
    constant: "the constant c",
    control: Control {
        what: "the uncorrected s^2 = 2h/kappa",
        trial: |ctx| constant(&Case::new(2, 5, 2.0, "noise"), ctx, false),
    },
    ..Claim::LAW
};

fn constant(case: &Case, ctx: &mut Context, corrected: bool) -> Result<Finding> {
    let (d, kappa) = (case.d, case.beta);
    let noise = Isotropic::new(kappa)?;
    let cubic = |tau: f64| {
        let s2 = if corrected { noise.step_scale(d, kappa * tau).powi(2) } else { 2.0 * tau };
        (mean_cosine(d as f64 - 1.0, s2) - exact_mean(d, tau)) / tau.powi(3)
    };
    let (tau, size) = (0.02 / (d as f64 + 2.0), d as f64);
    let stated = 2.0 / 45.0 * (size - 1.0) * (size - 2.0) * (size - 4.0);
    // Rounding of numbers of size 1, divided by tau^3 >= 3e-9: an error of 1e-7.
    Ok(Finding::law(
        2.0 * cubic(0.5 * tau) - cubic(tau),
        ctx.claimed_constant(stated),
        0.01 * (1.0 + stated.abs()),
        0.0,
    ))
}
