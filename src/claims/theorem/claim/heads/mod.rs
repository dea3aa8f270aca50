//! Heads, scores and positions.

use super::Topic;

pub mod gap_counting;
pub mod long_context_cosine;
pub mod long_context_iid;
pub mod rank_collapse_cubic;
pub mod rope_consensus_rate;
pub mod sentences;
mod setting;
pub mod softmax_full_rank;
pub mod softmax_jacobian;
pub mod twisted_states;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "heads",
    title: "Heads, scores and positions",
    page: "What one matrix of weights can and cannot do. Read softmax-jacobian first: the \
           derivative of a row is small once one weight is near 1. softmax-full-rank shows that \
           the weights of a head of width 1 may have full rank, with a determinant in closed form; \
           its variant, that they have the rank of the scores, is printed and false. \
           rank-collapse-cubic bounds what is left of different rows if such matrices act layer \
           after layer without skip connections. long-context-cosine is the transition of one \
           layer over equiangular tokens at `beta = gamma log n`. Two claims are about long rows \
           of uniform keys: `beta` of the order `n^{2/(d-1)}` decides how many keys a row attends \
           to (gap-counting), and at this scale the sum of squared weights has a limit \
           (long-context-iid). Rotary positions on a ring turn the linearisation into a circulant \
           matrix: rope-consensus-rate at consensus, twisted-states at all other twisted states. \
           All of these are proved or derived here. sentences runs the short checks that decide \
           sixty sentences of popular documents.",
    claims: &[
        &softmax_jacobian::ENTRY,
        &softmax_full_rank::ENTRY,
        &rank_collapse_cubic::ENTRY,
        &long_context_cosine::ENTRY,
        &gap_counting::ENTRY,
        &long_context_iid::ENTRY,
        &rope_consensus_rate::ENTRY,
        &twisted_states::ENTRY,
        &sentences::ENTRY,
    ],
};
