//! Noise: fluctuations of particles below the threshold.

use super::noisy_particles::{RUNS, pair_mean};
use crate::theorem::prelude::*;
use crate::theory::noise::threshold;

/// At the threshold of the density the fluctuations of particles diverge.
///
/// # Derivation
///
/// Near the uniform measure the mean c of n particles follows
/// `dc = -(d-1)(1/kappa - 1/kappa_c) c dt + dM` (`noisy-threshold`), and M has the covariance
/// `(2/kappa)(d-1)/(d n) dt` in every coordinate. So `E |c|^2 = 1/(n (1 - r))`,
/// `r = kappa/kappa_c`, and `<x_i, x_j>`, i != j, has the mean
/// `(n |c|^2 - 1)/(n - 1) = r/((1 - r) n)` to leading order. The neglected terms are quadratic in
/// `|c|^2/(1 - r)`, so smaller by the factor `1/(n (1 - r)^2)`.
pub static ENTRY: Claim = Claim {
    name: "noisy-fluctuations",
    title: "Noisy USA below the threshold: n <x_i, x_j> has mean r/(1 - r), r = kappa/kappa_c",
    then: "Simulate 48 uniform particles with Strang steps of length kappa/(10 max(1, beta^2)) \
           for the time 20 kappa, with kappa = r kappa_c and r in [0.2, 0.5]. The mean of (n-1) \
           <x_i, x_j> over pairs, 16 times and 48 runs is r/(1 - r), to 4 standard errors plus 2 \
           r/(n (1 - r)^3). (The order of this remainder is derived, the constant 2 is observed.)",
    domain: Domain {
        n: Sizes::Fixed(48),
        d: Sizes::List(&[2, 3]),
        beta: Betas::Linear(0.5, 1.5),
        dynamics: &["usa"],
        ..Domain::EQUAL_MASSES
    },
    narrower: "d = 2 and 3",
    source: "derived; arXiv:2606.05140 (abstract: the threshold)",
    status: Status::Observation,
    trials: (2, 10),
    trial: |case, ctx| {
        let share = ctx.uniform_in(0.2, 0.5);
        fluctuations(case, ctx, share, 1.0)
    },
    constant: "r/(1 - r)",
    control: Control {
        what: "twice kappa_c",
        trial: |ctx| fluctuations(&Case::new(48, 2, 1.0, "usa"), ctx, 0.5, 0.5),
    },
    ..Claim::LAW
};

fn fluctuations(case: &Case, ctx: &mut Context, share: f64, factor: f64) -> Result<Finding> {
    let kappa = share * threshold(case.d, 1, case.beta)?;
    let law = Law::parse("uniform")?;
    let starts = (0..RUNS)
        .map(|_| law.sample(case.n, case.d, ctx.method_rng()))
        .collect::<Result<Vec<_>>>()?;
    let (found, error) = pair_mean(case.beta, kappa, &starts, 20.0, ctx.method_rng())?;
    let (r, n) = (factor * share, case.n as f64);
    let stated = ctx.claimed_constant(r / (1.0 - r));
    Ok(Finding::law(
        (n - 1.0) * found,
        stated,
        4.0 * (n - 1.0) * error + 2.0 * r / (n * (1.0 - r).powi(3)),
        0.0,
    ))
}
