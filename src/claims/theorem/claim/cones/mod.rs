//! Cones and a single cluster.

use super::Topic;

pub mod cap_inequality;
pub mod cap_overlap;
pub mod cap_overlap_printed;
pub mod chain_lemma;
pub mod circle_mean;
pub mod concentration;
pub mod cone_collapse;
pub mod cone_rate;
pub mod cone_speed;
pub mod cone_speed_printed;
pub mod consensus_rates;
pub mod consensus_value;
pub mod cyclic_order;
pub mod dimension_at_least_n;
pub mod gamma_bound;
pub mod gamma_bound_printed;
pub mod gamma_curve;
pub mod hemisphere_monotone;
pub mod min_inner;
pub mod min_inner_folklore;
pub mod score_positions_collapse;
pub mod single_cluster;
pub mod wendel;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "cones",
    title: "Cones and a single cluster",
    page: "",
    claims: &[
        &cone_collapse::ENTRY,
        &cone_rate::ENTRY,
        &cone_speed::ENTRY,
        &cone_speed_printed::ENTRY,
        &hemisphere_monotone::ENTRY,
        &cap_inequality::ENTRY,
        &cap_overlap::ENTRY,
        &cap_overlap_printed::ENTRY,
        &chain_lemma::ENTRY,
        &min_inner::ENTRY,
        &min_inner_folklore::ENTRY,
        &dimension_at_least_n::ENTRY,
        &wendel::ENTRY,
        &single_cluster::ENTRY,
        &consensus_rates::ENTRY,
        &consensus_value::ENTRY,
        &circle_mean::ENTRY,
        &cyclic_order::ENTRY,
        &concentration::ENTRY,
        &gamma_bound::ENTRY,
        &gamma_bound_printed::ENTRY,
        &gamma_curve::ENTRY,
        &score_positions_collapse::ENTRY,
    ],
};
