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
           Their expected number is a Kac-Rice integral as the number of samples tends to \
           `infinity`. On the circle and on `S^2` the field is stationary and the integral is \
           elementary: about `sqrt(3 beta/2)` and `beta/sqrt 3` modes (circle-modes, \
           sphere-modes).\n\nOn the line the samples are normal and thin out. The integral is \
           accurate up to `T*`, where one sample lies within a bandwidth; beyond, there are fewer \
           modes than samples (mode-bracket). The formulas are derived for the limit; how close \
           finite `n` comes is observed, with counts of modes that are proved one by one. Two \
           statements of the literature on modes are false as printed, one of them only at end \
           points; they are variants of mode-bracket.\n\nQueries that attend to a fixed memory do \
           not interact: each one climbs to a local maximum of one landscape \
           (cross-attention-modes, proved).",
    claims: &[
        &circle_modes::ENTRY,
        &sphere_modes::ENTRY,
        &mode_bracket::ENTRY,
        &cross_attention_modes::ENTRY,
    ],
};
