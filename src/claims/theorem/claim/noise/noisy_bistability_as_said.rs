//! Noise: the claim that the clustered measure of mean 0.7 has the lower free energy, from an
//! earlier version of this library.

use crate::continuity::stationary::branch;
use crate::theorem::prelude::*;
use crate::theory::noise::threshold;

/// This is false above beta = 4.32: there mean 0.7 lies between the fold and the kappa at which the
/// two free energies are equal, so the uniform measure has the lower one.
///
/// # Derivation
///
/// Along the branch `dF/dkappa = -H/kappa^2` (`noisy-bistability`), so F decreases from the fold to
/// kappa_c and has one zero. For beta above 4.32, mean 0.7 lies below this zero, and the uniform
/// measure has the lower free energy. (The number 4.32 is computed, not derived.)
pub static ENTRY: Claim = Claim {
    name: "noisy-bistability-as-said",
    title: "Noisy USA, 3.5 <= beta <= 5: the clustered measure of mean 0.7 has the lower free \
            energy (as said)",
    then: "At the kappa < kappa_c at which a stationary measure of mean 0.7 exists, this measure \
           has a lower free energy than the uniform one.",
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::Fixed(2),
        beta: Betas::Linear(3.5, 5.0),
        dynamics: &["usa"],
        ..Domain::EQUAL_MASSES
    },
    source: "an earlier wording of noisy-bistability in this library",
    status: Status::Folklore,
    trials: (6, 20),
    trial: |case, _| preferred(case),
    control: Control {
        what: "beta = 4, where it holds",
        trial: |_| preferred(&Case::new(2, 2, 4.0, "usa")),
    },
    ..Claim::INEQUALITY
};

/// The free energy difference relative to its entropic part, both in units of `1/kappa`.
fn preferred(case: &Case) -> Result<Finding> {
    let clustered = branch(case.beta, 0.7)?;
    if clustered.kappa >= threshold(2, 1, case.beta)? {
        return Ok(Finding::HypothesesMissed);
    }
    // The error of the fixed point is 1e-13.
    Ok(Finding::nonnegative(
        -clustered.free_energy,
        clustered.density.negentropy() / clustered.kappa,
    )
    .with_evaluation_error(1e-10))
}
