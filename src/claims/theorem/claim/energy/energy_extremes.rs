//! Minimum and maximum of the energy over all measures.

use crate::theorem::prelude::*;
use crate::theory::uniform::{log_energy_dirac, log_energy_uniform};

/// # Derivation
///
/// `e^{beta s} <= e^beta` with equality only at `s = 1` gives the upper end. For the lower one,
/// `e^{beta s} = sum_k lambda_k dim_k P_k(s)` with `lambda_k > 0`, so `2 beta E = sum_k lambda_k
/// |mu_k|^2` is least where all degrees `k >= 1` are empty, at the uniform measure, with the value
/// `lambda_0 = Gamma(d/2) (2/beta)^{d/2-1} I_{d/2-1}(beta)`.
pub static ENTRY: Claim = Claim {
    name: "energy-extremes",
    title: "The uniform measure minimises `E_beta`, and Dirac masses maximise it",
    lets: "`beta > 0`, and let `mu` be a measure on the sphere that is neither the uniform measure \
           `sigma` nor a Dirac mass",
    then: "`E_beta[sigma] < E_beta[mu] < e^beta/(2 beta)`, where `E_beta[sigma] = (1/(2 beta)) \
           Gamma(d/2) (2/beta)^{d/2-1} I_{d/2-1}(beta)`.",
    tested: "with the distance of `log E_beta[mu]` from the nearer bound, divided by the distance \
             between the bounds",
    domain: Domain {
        n: Sizes::Range(2, 200),
        beta: Betas::Log(0.01, 300.0),
        dynamics: &[],
        laws: &["uniform", "cap:radius=0.05"],
        corners: &[(200, 2, 8.0)],
        ..Domain::ATTENTION
    },
    narrower: "discrete measures",
    source: "arXiv:2312.10794, Proposition 3.4",
    trials: (60, 600),
    trial: |case, ctx| between_bounds(case, ctx, 0.0),
    constant: "`E_beta[sigma]`",
    control: Control {
        what: "the lower bound raised by a tenth of the distance to the upper bound",
        trial: |ctx| between_bounds(&Case::new(200, 2, 8.0, ""), ctx, 0.1),
    },
    ..Claim::INEQUALITY
};

fn between_bounds(case: &Case, ctx: &mut Context, raise: f64) -> Result<Finding> {
    let x = ctx.tokens(case)?;
    let log = Energy::new(case.beta, EnergyScale::Mean).log_value(&x)?;
    let (low, high) = (log_energy_uniform(case.d, case.beta), log_energy_dirac(case.beta));
    let distance = high - low;
    let low = low + ctx.claimed_constant(1.0).ln() + raise * distance;
    // The error of the logarithms is at most 4 eps (1 + beta).
    let error = 16.0 * f64::EPSILON * (1.0 + case.beta) / distance;
    Ok(Finding::nonnegative(nan_min(log - low, high - log), distance).with_evaluation_error(error))
}
