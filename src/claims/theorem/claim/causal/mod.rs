//! Causal attention.

use super::Topic;

pub mod block_prefix;
pub mod causal_limit;
pub mod causal_limit_in_time;
pub mod causal_prefix;
pub mod centre_count;
pub mod centre_count_printed;
pub mod decode_cache;
pub mod frozen_centres;
pub mod strong_centres;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "causal",
    title: "Causal attention",
    page: "",
    claims: &[
        &causal_limit::ENTRY,
        &causal_limit_in_time::ENTRY,
        &causal_prefix::ENTRY,
        &centre_count::ENTRY,
        &centre_count_printed::ENTRY,
        &frozen_centres::ENTRY,
        &strong_centres::ENTRY,
        &block_prefix::ENTRY,
        &decode_cache::ENTRY,
    ],
};
