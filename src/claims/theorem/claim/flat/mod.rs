//! Tokens in R^d.

use super::Topic;

pub mod large_beta_distance;
pub mod rd_boolean_rate;
pub mod rd_codimension_printed;
pub mod rd_codimension_simple;
pub mod rd_distances;
pub mod rd_gaussian;
pub mod rd_hull;
pub mod rd_hypercube;
pub mod rd_hyperplane_rate;
pub mod rd_leader;
pub mod rd_paranormal;
pub mod rd_remark_printed;
pub mod rd_repulsive;
pub mod rd_rescaling;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "flat",
    title: "Tokens in R^d",
    page: "",
    claims: &[
        &large_beta_distance::ENTRY,
        &rd_boolean_rate::ENTRY,
        &rd_codimension_printed::ENTRY,
        &rd_codimension_simple::ENTRY,
        &rd_distances::ENTRY,
        &rd_gaussian::ENTRY,
        &rd_hull::ENTRY,
        &rd_hypercube::ENTRY,
        &rd_hyperplane_rate::ENTRY,
        &rd_leader::ENTRY,
        &rd_paranormal::ENTRY,
        &rd_remark_printed::ENTRY,
        &rd_repulsive::ENTRY,
        &rd_rescaling::ENTRY,
    ],
};
