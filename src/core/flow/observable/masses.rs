//! Masses of the clusters, in descending order.

use super::Observable;

/// Clusters are components of tokens within the merge radius. One column per initial token; columns
/// beyond the number of clusters are 0.
pub static ENTRY: Observable = Observable {
    name: "masses",
    summary: "Masses of the clusters (components of tokens within the merge radius) in descending order, padded with zeros to n columns.",
    needs_unit_vectors: false,
    columns: |s| (0..s.n).map(|i| format!("mass_{i}")).collect(),
    measure: |s, frame, row| {
        let mut masses = crate::flow::merging::clusters_within(frame.tokens, frame.merge_radius)
            .0
            .masses()
            .to_vec();
        masses.sort_by(|a, b| b.total_cmp(a));
        masses.resize(s.n, 0.0);
        row.extend(masses);
    },
    batch: None,
};
