//! Energies of the uniform measure and of a Dirac mass, the extremal measures (arXiv:2312.10794,
//! Proposition 3.4).

use crate::num::bessel::log_scaled_sphere_mean;

/// `log E_beta[sigma_d]` for the uniform measure:
/// `E = (1/(2 beta)) Gamma(d/2) (2/beta)^{d/2-1} I_{d/2-1}(beta)`; beta > 0.
///
/// ```
/// use metastable::theory::uniform::log_energy_uniform;
/// // d = 3: E = sinh(beta) / (2 beta^2)
/// assert!((log_energy_uniform(3, 2.0) - (2f64.sinh() / 8.0).ln()).abs() < 1e-14);
/// ```
pub fn log_energy_uniform(d: usize, beta: f64) -> f64 {
    log_scaled_sphere_mean(d, beta) + beta - (2.0 * beta).ln()
}

/// `log E_beta[delta] = beta - log(2 beta)`.
pub fn log_energy_dirac(beta: f64) -> f64 {
    beta - (2.0 * beta).ln()
}
