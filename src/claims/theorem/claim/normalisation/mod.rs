//! Normalisation.

use super::Topic;

pub mod ln_affine_rank;
pub mod ln_cone;
pub mod ln_curve;
pub mod ln_initial_speed;
pub mod ln_late_rates;
pub mod ln_orbit;
pub mod ln_stall_range;
mod setting;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "normalisation",
    title: "Normalisation",
    page: "Where a network normalises decides how fast tokens move and what their lengths do. The \
           schemes of arXiv:2510.22026 (post, pre, peri, mix, nGPT, CoD) and literal LN scaling \
           move directions by the tangential part of the output over a scale `s`.\n\nEquiangular \
           tokens reduce every scheme to one equation for the inner product and the length \
           (ln-curve, read it first). From it follow the speeds at the start (ln-initial-speed), \
           the rates at late times (ln-late-rates), and one orbit for three schemes \
           (ln-orbit).\n\nFor general tokens the variance in a narrow cone decays at the rate \
           `2/s`, with a bound on the deviation (ln-cone), and lengths grow for `n < 1 + e beta \
           e^beta` (ln-stall-range, sharp). The last claim is about one LayerNorm: it keeps the \
           rank of the centred rows, not the affine rank (ln-affine-rank).\n\nAll claims are \
           derived here; ln-cone corrects a condition and a scale of the source.",
    claims: &[
        &ln_curve::ENTRY,
        &ln_initial_speed::ENTRY,
        &ln_late_rates::ENTRY,
        &ln_orbit::ENTRY,
        &ln_cone::ENTRY,
        &ln_stall_range::ENTRY,
        &ln_affine_rank::ENTRY,
    ],
};
