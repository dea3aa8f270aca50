//! Clustering and metastability.

use super::Topic;

pub mod alignment;
pub mod antipodal_escape;
pub mod bipartite_spectrum;
pub mod bipartite_threshold;
pub mod cluster_positions;
pub mod cluster_positions_iid;
pub mod dwell_law;
pub mod dynamic_metastability;
pub mod formation_time;
pub mod homogeneous_alignment_as_said;
pub mod nearest_at_small_beta_printed;
pub mod nearest_first;
pub mod nearest_first_folklore;
pub mod pairing_law;
pub mod pairing_law_printed;
pub mod peaks_to_clusters;
pub mod peaks_to_clusters_printed;
pub mod polygon_rates;
pub mod separated_start;
pub mod separated_start_folklore;
pub mod staircase;
pub mod two_clusters;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "metastability",
    title: "Clustering and metastability",
    page: "",
    claims: &[
        &antipodal_escape::ENTRY,
        &cluster_positions::ENTRY,
        &cluster_positions_iid::ENTRY,
        &dwell_law::ENTRY,
        &dynamic_metastability::ENTRY,
        &formation_time::ENTRY,
        &nearest_first::ENTRY,
        &nearest_first_folklore::ENTRY,
        &pairing_law::ENTRY,
        &pairing_law_printed::ENTRY,
        &peaks_to_clusters::ENTRY,
        &peaks_to_clusters_printed::ENTRY,
        &separated_start::ENTRY,
        &separated_start_folklore::ENTRY,
        &staircase::ENTRY,
        &two_clusters::ENTRY,
        &polygon_rates::ENTRY,
        &nearest_at_small_beta_printed::ENTRY,
        &alignment::ENTRY,
        &homogeneous_alignment_as_said::ENTRY,
        &bipartite_spectrum::ENTRY,
        &bipartite_threshold::ENTRY,
    ],
};
