//! Trained blocks and recurrent maps.

use super::Topic;

pub mod attention_cost;
pub mod attention_cost_printed;
pub mod bahdanau_floor;
pub mod block_collapse;
pub mod ffn_share;
pub mod fixed_context;
pub mod gelu_constants;
pub mod gru_bounds;
pub mod gru_reset_printed;
pub mod lstm_additive_path;
pub mod mixing_structure;
pub mod rnn_contraction;
pub mod rnn_equal_weight_printed;
pub mod rnn_influence;
pub mod rnn_order;
pub mod rnn_order_printed;
pub mod rnn_spectral_radius_folklore;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "trained",
    title: "Trained blocks and recurrent maps",
    page: "",
    claims: &[
        &attention_cost::ENTRY,
        &attention_cost_printed::ENTRY,
        &bahdanau_floor::ENTRY,
        &block_collapse::ENTRY,
        &ffn_share::ENTRY,
        &fixed_context::ENTRY,
        &gelu_constants::ENTRY,
        &gru_bounds::ENTRY,
        &gru_reset_printed::ENTRY,
        &lstm_additive_path::ENTRY,
        &mixing_structure::ENTRY,
        &rnn_contraction::ENTRY,
        &rnn_equal_weight_printed::ENTRY,
        &rnn_influence::ENTRY,
        &rnn_order::ENTRY,
        &rnn_order_printed::ENTRY,
        &rnn_spectral_radius_folklore::ENTRY,
    ],
};
