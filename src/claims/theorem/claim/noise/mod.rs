//! Noise.

use super::Topic;

pub mod noise_step_mean;
pub mod noise_strong_order;
pub mod noise_weak_order;
pub mod noisy_bistability;
pub mod noisy_bistability_as_said;
pub mod noisy_fluctuations;
pub mod noisy_particles;
pub mod noisy_threshold;
pub mod transition_order;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "noise",
    title: "Noise",
    page: "",
    claims: &[
        &noise_step_mean::ENTRY,
        &noise_strong_order::ENTRY,
        &noise_weak_order::ENTRY,
        &noisy_bistability::ENTRY,
        &noisy_bistability_as_said::ENTRY,
        &noisy_fluctuations::ENTRY,
        &noisy_particles::ENTRY,
        &noisy_threshold::ENTRY,
        &transition_order::ENTRY,
    ],
};
