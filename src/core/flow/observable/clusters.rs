//! Number of clusters at the length scale of the kernel.

use super::Observable;

/// Two tokens closer than half a kernel width, `beta^{-1/2} / 2` (at most 1/2), are linked;
/// clusters are the connected components.
pub static ENTRY: Observable = Observable {
    name: "clusters",
    summary: "Number of clusters: connected components of tokens closer than half a kernel width, beta^{-1/2} / 2 (at most 1/2).",
    needs_unit_vectors: false,
    columns: |_| vec!["clusters".into()],
    measure: |s, frame, row| row.push(count_clusters(frame.tokens, linking_radius(s.beta)) as f64),
    batch: None,
};

/// Half a kernel width: tokens within this distance are linked.
pub fn linking_radius(beta: f64) -> f64 {
    0.5 * beta.abs().max(1.0).powf(-0.5)
}

/// Connected components of the graph of tokens at geodesic distance below `radius`.
pub fn count_clusters(x: &crate::sphere::Tokens, radius: f64) -> usize {
    crate::flow::merging::clusters_within(x, radius).0.n()
}
