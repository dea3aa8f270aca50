//! Random weights.

use super::Topic;

pub mod depth_iid;
pub mod depth_smooth;
pub mod homogenised_weak_order;
pub mod lyapunov_iid;
pub mod random_arcsin;
pub mod random_logistic;
pub mod random_symmetric_pairs;
pub mod random_value_antipodal;
pub mod random_value_consensus;
pub mod random_value_drift;
pub mod random_value_groups;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "random-weights",
    title: "Random weights",
    page: "",
    claims: &[
        &depth_iid::ENTRY,
        &depth_smooth::ENTRY,
        &homogenised_weak_order::ENTRY,
        &lyapunov_iid::ENTRY,
        &random_arcsin::ENTRY,
        &random_logistic::ENTRY,
        &random_symmetric_pairs::ENTRY,
        &random_value_antipodal::ENTRY,
        &random_value_consensus::ENTRY,
        &random_value_drift::ENTRY,
        &random_value_groups::ENTRY,
    ],
};
