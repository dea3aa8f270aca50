//! Saddles and landscapes.

use super::Topic;

pub mod block_inequality;
pub mod curvature_identity;
pub mod large_beta_chains;
pub mod large_beta_polygon;
pub mod polygon_saddles;
pub mod polygon_saddles_odd;
pub mod repulsive_minimisers;
pub mod saddles_unstable;
pub mod sharp_minimisers;
pub mod sharp_minimisers_printed;
pub mod small_beta_blocks;
pub mod strict_saddle;
pub mod uniform_grid;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "landscapes",
    title: "Saddles and landscapes",
    page: "",
    claims: &[
        &block_inequality::ENTRY,
        &curvature_identity::ENTRY,
        &large_beta_chains::ENTRY,
        &large_beta_polygon::ENTRY,
        &polygon_saddles::ENTRY,
        &polygon_saddles_odd::ENTRY,
        &repulsive_minimisers::ENTRY,
        &saddles_unstable::ENTRY,
        &sharp_minimisers::ENTRY,
        &sharp_minimisers_printed::ENTRY,
        &small_beta_blocks::ENTRY,
        &strict_saddle::ENTRY,
        &uniform_grid::ENTRY,
    ],
};
