//! Noise: the order of Strang steps.

use super::noise_step_mean::NOISE;
use crate::attention::noise::Sampler;
use crate::theorem::prelude::*;
use crate::theory::noise_step::{stationary_mean, stationary_means};

/// By the transfer operator of a step on 48 Legendre modes, whose fixed point is the stationary law of the scheme.
///
/// # Derivation
///
/// The step is `e^{hA/2} N e^{hA/2}` with A the generator of the drift, whose flow is exact, and N that of the noise step, which agrees
/// with `e^{hL}` to third order (`noise-step-mean` for the first harmonic). By the symmetric splitting its logarithm is `h (A + L) +
/// O(h^3)`, so stationary means are off by a multiple of `h^2`. The exact one is that of the density `e^{kappa x_1}` on S^2, `coth
/// kappa - 1/kappa`.
pub static ENTRY: Claim = Claim {
    name: "noise-weak-order",
    title: "Noise: Strang steps with the corrected geodesic have weak order 2",
    statement: "dX = P e_1 dt + sqrt(2/kappa) P o dW on S^2, half drift, noise, half drift of length h: the error of the stationary mean (exact coth kappa - 1/kappa) has order 2 within 0.1 between h = 0.4 and 0.2.",
    domain: Domain { d: Sizes::Fixed(3), beta: Betas::Linear(3.0, 5.0), ..NOISE },
    narrower: "d = 3, one drift (the order is derived, the tolerance observed)",
    citation: "derived",
    trials: (2, 8),
    trial: |case, ctx| order(case, ctx, Sampler::Corrected),
    perturbed: "the order",
    control: Control {
        what: "the geodesic without correction: order 1",
        trial: |ctx| order(&Case::new(2, 3, 4.0, "noise"), ctx, Sampler::Geodesic),
    },
    ..Claim::LAW
};

fn order(case: &Case, ctx: &mut Context, sampler: Sampler) -> Result<Finding> {
    let off = |h: f64| stationary_means(sampler, case.beta, h).1 - stationary_mean(case.beta);
    Ok(Finding::law((off(0.4) / off(0.2)).log2(), ctx.stated(2.0), 0.1, 0.0))
}
