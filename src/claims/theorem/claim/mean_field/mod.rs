//! Mean field and entropy.

use super::Topic;

pub mod dobrushin;
pub mod entropy_slopes;
pub mod fastest_mode;
pub mod layers_and_equation;
pub mod local_limit;
pub mod mean_field_collapse;
pub mod mean_field_rate;
pub mod mode_growth;
pub mod pair_equation;
pub mod row_entropy;
pub mod sa_entropy;
mod setting;
pub mod two_atoms;
pub mod usa_entropy;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "mean-field",
    title: "Mean field and entropy",
    page: "Infinitely many tokens are a measure on the sphere that the continuity equation \
           moves.\n\nThe first four claims connect tokens with measures. Two measures separate at \
           most at the rate `2 m` (dobrushin, with the sharp constant), so `n` tokens follow the \
           equation like `n^{-1/2}` or `1/n` (mean-field-rate). Layers follow it to first order in \
           their step (layers-and-equation). For finite `n` the law of two tokens depends on that \
           of three (pair-equation).\n\nThe next claims solve the equation. Small waves of the \
           uniform measure grow at known rates (mode-growth; the code of a paper plots them \
           without a factor). The fastest one changes at known `beta` (fastest-mode). For large \
           `beta` attention is local (local-limit). A density collapses to a point for small \
           `|beta|` (mean-field-collapse, to leading order and observed); two bumps may become two \
           atoms for large `beta` (two-atoms, partly observed).\n\nThe last claims are about \
           entropy. USA produces negentropy at a positive, bounded rate (usa-entropy), and \
           clusters produce it at a linear rate (entropy-slopes). That SA never loses negentropy \
           is open (sa-entropy). The entropy of the rows of weights increases from orthonormal \
           tokens, but not from every start (row-entropy).",
    claims: &[
        &dobrushin::ENTRY,
        &mean_field_rate::ENTRY,
        &layers_and_equation::ENTRY,
        &pair_equation::ENTRY,
        &mode_growth::ENTRY,
        &fastest_mode::ENTRY,
        &local_limit::ENTRY,
        &mean_field_collapse::ENTRY,
        &two_atoms::ENTRY,
        &usa_entropy::ENTRY,
        &entropy_slopes::ENTRY,
        &sa_entropy::ENTRY,
        &row_entropy::ENTRY,
    ],
};
