//! Clustering and metastability.

use super::Topic;

pub mod alignment;
pub mod antipodal_escape;
pub mod bipartite_spectrum;
pub mod cluster_positions;
pub mod dwell_law;
pub mod dynamic_metastability;
pub mod formation_time;
pub mod nearest_first;
pub mod pairing_law;
pub mod polygon_rates;
pub mod separated_start;
mod setting;
pub mod staircase;
pub mod two_clusters;

/// The claims in reading order.
pub static TOPIC: Topic = Topic {
    name: "metastability",
    title: "Clustering and metastability",
    page: "Tokens form clusters at rates of order one; then the clusters wait for times that grow \
           exponentially in `beta`, and merge one pair after the other.\n\nTwo clusters are \
           solved: two-clusters has the exact equation, dwell-law the exponent of their lifetime, \
           antipodal-escape the lifetime next to the antipode, and pairing-law the approach in a \
           suitable time.\n\nSeveral clusters: dynamic-metastability has explicit times of \
           collapse and of stay, separated-start says when uniform tokens meet its hypotheses, \
           nearest-first which pair merges first, staircase what the energy does meanwhile, and \
           polygon-rates how fast a regular polygon of clusters breaks.\n\nThe phases before: \
           formation-time and cluster-positions predict when and where clusters form from a nearly \
           uniform start. alignment and bipartite-spectrum treat a symmetric value matrix `V`: \
           tokens follow `V` first, and a gap in its spectrum makes two antipodal clusters \
           stable.\n\nAll claims are proved in their source or in their file, except for these: \
           the accuracy of formation-time and cluster-positions and the numbers `1e-3` and 1/100 \
           of staircase are observed. Other wordings of pairing-law, nearest-first, \
           separated-start, cluster-positions and alignment are false; each is a variant of the \
           claim that corrects it.",
    claims: &[
        &two_clusters::ENTRY,
        &dwell_law::ENTRY,
        &antipodal_escape::ENTRY,
        &pairing_law::ENTRY,
        &dynamic_metastability::ENTRY,
        &separated_start::ENTRY,
        &nearest_first::ENTRY,
        &staircase::ENTRY,
        &polygon_rates::ENTRY,
        &formation_time::ENTRY,
        &cluster_positions::ENTRY,
        &alignment::ENTRY,
        &bipartite_spectrum::ENTRY,
    ],
};
