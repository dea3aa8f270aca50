//! Noise: weak order of Strang steps.

use super::noise_step_mean::NOISE;
use crate::attention::noise::Sampler;
use crate::theorem::prelude::*;
use crate::theory::noise_step::{stationary_mean, stationary_means};

/// Computed with the transfer operator of one step on 48 Legendre modes, whose fixed point is the
/// stationary law of the scheme.
///
/// # Derivation
///
/// The step is `e^{hA/2} N e^{hA/2}` with A the generator of the drift, whose flow is exact, and N
/// the operator of the noise step, which agrees with `e^{hL}` to third order (`noise-step-mean` for
/// the first harmonic). By the symmetric splitting its logarithm is `h (A + L) + O(h^3)`, so the
/// error of stationary means is a multiple of `h^2`. The exact one is that of the density
/// `e^{kappa x_1}` on S^2, `coth kappa - 1/kappa`.
pub static ENTRY: Claim = Claim {
    name: "noise-weak-order",
    title: "Noise: Strang steps with the corrected geodesic have weak order 2",
    then: "For dX = P e_1 dt + sqrt(2/kappa) P o dW on S^2 with steps of half drift, noise, half \
           drift of length h, the error of the stationary mean (exact value coth kappa - 1/kappa) \
           has order 2 in h.",
    tested: "as: the order observed between h = 0.4 and h = 0.2 is 2 to 0.1",
    domain: Domain { d: Sizes::Fixed(3), beta: Betas::Linear(3.0, 5.0), ..NOISE },
    narrower: "d = 3, one drift (the order is derived, the tolerance observed)",
    source: "derived",
    trials: (2, 8),
    trial: |case, ctx| order(case, ctx, Sampler::Corrected),
    constant: "the order",
    control: Control {
        what: "the geodesic step without correction, which has order 1",
        trial: |ctx| order(&Case::new(2, 3, 4.0, "noise"), ctx, Sampler::Geodesic),
    },
    ..Claim::LAW
};

fn order(case: &Case, ctx: &mut Context, sampler: Sampler) -> Result<Finding> {
    let off = |h: f64| stationary_means(sampler, case.beta, h).1 - stationary_mean(case.beta);
    Ok(Finding::law((off(0.4) / off(0.2)).log2(), ctx.claimed_constant(2.0), 0.1, 0.0))
}
