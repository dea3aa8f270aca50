//! Noise: that the clustered measure of mean 0.7 is the preferred one, as this library said.

use crate::continuity::stationary::branch;
use crate::theorem::prelude::*;
use crate::theory::noise::threshold;

/// False above beta = 4.32: there mean 0.7 lies between the fold and the kappa at which the two free energies are equal, and the uniform
/// measure is preferred.
///
/// # Derivation
///
/// Along the branch `dF/dkappa = -H/kappa^2` (`noisy-bistability`), so F falls from the fold to kappa_c through 0 once. Where mean 0.7
/// lies below that place, above beta = 4.32, the uniform measure has the lower free energy. (The place 4.32 is computed, not derived.)
pub static ENTRY: Claim = Claim {
    name: "noisy-bistability-as-said",
    title: "Noisy USA, 3.5 <= beta <= 5: the clustered measure of mean 0.7 wins (as said)",
    statement: "At the kappa < kappa_c of the stationary measure with mean 0.7 that measure has a lower free energy than the uniform one.",
    domain: Domain { n: Sizes::Unused, d: Sizes::Fixed(2), beta: Betas::Linear(3.5, 5.0), dynamics: &["usa"], ..Domain::EQUAL_MASSES },
    citation: "an earlier wording of noisy-bistability in this library",
    status: Status::Folklore,
    trials: (6, 20),
    trial: |case, _| preferred(case),
    control: Control { what: "beta = 4, where it holds", trial: |_| preferred(&Case::new(2, 2, 4.0, "usa")) },
    ..Claim::INEQUALITY
};

/// The free energy difference against its entropic part, both in units of `1/kappa`.
fn preferred(case: &Case) -> Result<Finding> {
    let clustered = branch(case.beta, 0.7)?;
    if clustered.kappa >= threshold(2, 1, case.beta)? {
        return Ok(Finding::Missed);
    }
    // The fixed point is right to 1e-13.
    Ok(Finding::nonnegative(-clustered.free_energy, clustered.density.negentropy() / clustered.kappa).with_error(1e-10))
}
