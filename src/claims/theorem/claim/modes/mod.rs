//! Modes and Kac-Rice.

use super::Topic;

pub mod circle_modes;
pub mod cross_attention_modes;
pub mod mode_bracket;
pub mod mode_endpoint_printed;
pub mod mode_samples_printed;
pub mod sphere_modes;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "modes",
    title: "Modes and Kac-Rice",
    page: "",
    claims: &[
        &circle_modes::ENTRY,
        &mode_bracket::ENTRY,
        &mode_endpoint_printed::ENTRY,
        &mode_samples_printed::ENTRY,
        &sphere_modes::ENTRY,
        &cross_attention_modes::ENTRY,
    ],
};
