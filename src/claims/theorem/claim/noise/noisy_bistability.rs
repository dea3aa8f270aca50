//! Noise: two stable measures below the linear threshold.

use crate::continuity::stationary::{StationaryMeasure, branch};
use crate::theorem::prelude::*;
use crate::theory::noise::threshold;

/// The discontinuous transition, tested with the continuity equation.
///
/// # Derivation
///
/// Which of the two stable measures has the lower free energy `F = H/kappa - E` depends on kappa.
/// Along the branch `dF/dkappa = -H/kappa^2`, because the rest of the derivative vanishes at a
/// stationary measure. So on the upper part of the branch F decreases from its largest value at the
/// fold to a negative value at `kappa_c`, and the clustered measure has the lower free energy
/// exactly above some kappa in between. (The trial only tests the slope of F.)
pub static ENTRY: Claim = Claim {
    name: "noisy-bistability",
    title: "Noisy USA, beta > beta_*: below kappa_c a stable clustered measure coexists with the \
            stable uniform one",
    then: "Consider the stationary measure of mean m at which kappa(m) increases by at least a \
           tenth of itself per unit of m (above the fold of the branch) and kappa <= 0.98 \
           kappa_c. It is stable: after a displacement of 1e-3 along the branch it returns. At \
           the same kappa the uniform measure is stable, too: 1 + 0.02 cos theta decays to it. \
           Stability is tested as: after the time 3 kappa the first mode is closer to its \
           stationary value, from either side. The free energy difference changes along the \
           branch by dF = -H/kappa^2 dkappa, tested to 1e-2 of it.",
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::Fixed(2),
        beta: Betas::Linear(4.0, 6.0),
        dynamics: &["usa"],
        ..Domain::EQUAL_MASSES
    },
    narrower: "the circle; beta from 4 to 6",
    source: "Mun, Rosenzweig, arXiv:2606.05140 (abstract)",
    status: Status::Corrected,
    trials: (4, 30),
    trial: |case, ctx| {
        // The means m above the fold with kappa below kappa_c lie in a wedge about these lines.
        let from = case.beta - 4.0;
        let mean = 0.64 + 0.045 * from + (0.06 + 0.05 * from) * ctx.uniform_in(0.0, 1.0);
        coexistence(case.beta, mean, None)
    },
    control: Control {
        what: "the uniform measure at kappa = 1.1 kappa_c, to which the density does not return",
        trial: |_: &mut Context| coexistence(4.0, 0.68, Some(1.1 * threshold(2, 1, 4.0)?)),
    },
    ..Claim::INEQUALITY
};

/// The fraction of the displacement of the first mode from `rest` that remains after the time
/// `3 kappa`.
fn remaining_fraction(start: Circle, rest: f64, kappa: f64, beta: f64) -> Result<f64> {
    let before = start.c[1].norm() - rest;
    let end = start
        .evolve(&MeasureDynamics::new("usa", beta, 1.0 / kappa)?, 3.0 * kappa, 64, |_, _| true)?
        .reached()?;
    Ok((end.c[1].norm() - rest) / before)
}

fn coexistence(beta: f64, mean: f64, uniform_at: Option<f64>) -> Result<Finding> {
    let critical = threshold(2, 1, beta)?;
    let [low, clustered, high]: [StationaryMeasure; 3] =
        [branch(beta, mean - 1e-3)?, branch(beta, mean)?, branch(beta, mean + 1e-3)?];
    if high.kappa < low.kappa * (1.0 + 2e-4) || clustered.kappa > 0.98 * critical {
        return Ok(Finding::HypothesesMissed);
    }
    // Displaced along the branch: this direction becomes unstable at the fold.
    let stable = Finding::nonnegative(
        1.0 - remaining_fraction(high.density.with_modes(24), mean, clustered.kappa, beta)?.abs(),
        1.0,
    )
    .with_evaluation_error(1e-6);
    let uniform = Circle::from_density(&Density::parse("cos:1=0.02")?, 8)?;
    let forgotten = Finding::nonnegative(
        1.0 - remaining_fraction(uniform, 0.0, uniform_at.unwrap_or(clustered.kappa), beta)?.abs(),
        1.0,
    )
    .with_evaluation_error(1e-6);
    // A central difference: its remainder is of the order of the squared step over the distance to
    // the fold.
    let stated =
        -clustered.density.negentropy() / clustered.kappa.powi(2) * (high.kappa - low.kappa);
    let falls =
        Finding::identity(((high.free_energy - low.free_energy) / stated - 1.0).abs(), 1e-2);
    Ok(stable.and(forgotten).and(falls))
}
