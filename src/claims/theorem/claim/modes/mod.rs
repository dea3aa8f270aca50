//! Modes and Kac-Rice.

use super::Topic;

pub mod circle_modes;
pub mod cross_attention_modes;
pub mod mode_bracket;
pub mod sphere_modes;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "modes",
    title: "Modes and Kac-Rice",
    page: "The clusters that form first are the modes of a kernel density estimate of the tokens. \
           Their expected number is a Kac-Rice integral, exact as the number n of samples grows. \
           For samples on the circle and on S^2 the field is stationary and the integral is \
           elementary (circle-modes, sphere-modes): sqrt(3 beta/2) and beta/sqrt 3 modes for large \
           beta.\n\n\
           On the line the samples are normal and thin out. The integral is accurate up to T*, \
           where one sample lies within a bandwidth; beyond it there are fewer modes than samples \
           (mode-bracket). Counts are proved by interval arithmetic, one sample at a time; the \
           accuracy of the formulas at finite n is observed. Two statements of the literature on \
           modes are false as they are printed; they are variants of mode-bracket.\n\n\
           Queries that attend to a fixed memory do not interact: each one climbs to a local \
           maximum of one landscape (cross-attention-modes, proved).",
    claims: &[
        &circle_modes::ENTRY,
        &sphere_modes::ENTRY,
        &mode_bracket::ENTRY,
        &cross_attention_modes::ENTRY,
    ],
};
