//! Noise: two stable measures below the linear threshold.

use super::{Case, Claim, Control, Expected, Finding};
use crate::continuity::{Medium, circle::Circle, density::Density, stationary::branch};
use crate::error::Result;
use crate::theory::noise::threshold;

/// The discontinuous transition seen by the equation itself.
pub static ENTRY: Claim = Claim {
    name: "noisy-bistability",
    title: "Noisy USA, beta > beta_*: below kappa_c a clustered measure coexists with the uniform one, and wins",
    statement: "At the kappa < kappa_c of the stationary measure with mean 0.7: the equation keeps that measure (mean >= 0.65 after t = 20 kappa), forgets 1 + 0.02 cos theta (mean below 0.01 then), and the clustered measure has \
                the lower free energy.",
    hypotheses: "circle, beta = 3.5 to 5",
    applies: |case| (3.5..=5.0).contains(&case.beta),
    citation: "Mun, Rosenzweig, arXiv:2606.05140 (abstract)",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(1, 2, 4.0, "usa"), Case::new(1, 2, 4.5, "usa")],
    quick: 1,
    trials: (1, 1),
    trial: |case, _| coexistence(case.beta, None),
    control: Control { what: "beta = 1 at 0.96 kappa_c", trial: |_| coexistence(1.0, Some(0.96)) },
};

fn coexistence(beta: f64, factor: Option<f64>) -> Result<Finding> {
    let clustered = branch(beta, 0.7)?;
    let critical = threshold(2, 1, beta)?;
    let kappa = factor.map_or(clustered.kappa, |f| f * critical);
    let medium = Medium::new("usa", beta, 1.0 / kappa)?;
    let mean = |start: Circle| -> Result<f64> { Ok(start.evolve(&medium, 20.0 * kappa, 96, |_, _| true)?.reached()?.c[1].norm()) };
    let kept = mean(clustered.density.resized(24))? - 0.65;
    let forgotten = 0.01 - mean(Circle::from_density(&Density::parse("cos:1=0.02")?, 8)?)?;
    Ok(Finding::exact(kept.min(forgotten).min(critical - kappa).min(-clustered.free_energy)))
}
