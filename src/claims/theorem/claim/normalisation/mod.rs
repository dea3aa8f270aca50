//! Normalisation.

use super::Topic;

pub mod affine_rank_as_said;
pub mod layernorm_invariance;
pub mod ln_cone;
pub mod ln_curve;
pub mod ln_discrete;
pub mod ln_initial_speed;
pub mod ln_late_rates;
pub mod ln_orbit;
pub mod ln_sphere;
pub mod ln_stall_range;
pub mod ln_time_change;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "normalisation",
    title: "Normalisation",
    page: "",
    claims: &[
        &affine_rank_as_said::ENTRY,
        &layernorm_invariance::ENTRY,
        &ln_cone::ENTRY,
        &ln_curve::ENTRY,
        &ln_discrete::ENTRY,
        &ln_initial_speed::ENTRY,
        &ln_late_rates::ENTRY,
        &ln_orbit::ENTRY,
        &ln_sphere::ENTRY,
        &ln_stall_range::ENTRY,
        &ln_time_change::ENTRY,
    ],
};
