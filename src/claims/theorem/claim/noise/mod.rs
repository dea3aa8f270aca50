//! Noise.

use super::Topic;

pub mod noise_step_mean;
pub mod noisy_bistability;
pub mod noisy_fluctuations;
pub mod noisy_particles;
pub mod noisy_threshold;
pub mod setting;
pub mod transition_order;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "noise",
    title: "Noise",
    page: "Tokens move by USA and by Brownian motion, `dX = v dt + sqrt(2/kappa) P o dW`: the \
           larger `kappa`, the weaker the noise. If `kappa` is small, the uniform measure is \
           stable.\n\nIt becomes unstable at a `kappa_c` in closed form (noisy-threshold). On the \
           circle, clustered measures branch off there continuously for `beta < beta_* = 2.4469` \
           and backwards for larger `beta` (transition-order); both are derived. Beyond `beta_*` a \
           clustered and the uniform measure are both stable for `kappa` a little below `kappa_c`, \
           with an unstable one between them (noisy-bistability, partly observed).\n\nTwo claims \
           compare `n` particles with these densities. Below `kappa_c` their correlations are \
           derived by diagrams up to the order `1/n`, with a remainder that is observed \
           (noisy-fluctuations). Above it particles keep the mean of the stationary density, up to \
           a term whose constant is observed (noisy-particles). The last claim has the error of \
           one step of the particle scheme in closed form (noise-step-mean).",
    claims: &[
        &noisy_threshold::ENTRY,
        &transition_order::ENTRY,
        &noisy_bistability::ENTRY,
        &noisy_fluctuations::ENTRY,
        &noisy_particles::ENTRY,
        &noise_step_mean::ENTRY,
    ],
};
