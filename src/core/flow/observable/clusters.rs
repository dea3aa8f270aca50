//! Number of clusters at the length scale of the kernel.

use super::Observable;
use crate::attention::Dynamics;

/// Two tokens closer than half a kernel width are linked: `beta^{-1/2} / 2`, with an interaction
/// `(max |phi| / max |phi'|)^{1/2} / 2`, at most 1/2. Clusters are the connected components.
pub static ENTRY: Observable = Observable {
    name: "clusters",
    summary: "Number of clusters: connected components of tokens closer than half a kernel width, beta^{-1/2} / 2 or (max |phi| / max |phi'|)^{1/2} / 2 with an interaction (at most 1/2).",
    needs_unit_vectors: false,
    columns: |_| vec!["clusters".into()],
    measure: |s, frame, row| {
        let radius = linking_radius(frame.dynamics, s.beta);
        row.push(count_clusters(frame.tokens, radius) as f64);
    },
    batch: None,
};

/// Half a kernel width: tokens within this distance are linked. beta is that of `e^{beta s}`; an
/// interaction has its own width.
pub fn linking_radius(dynamics: &Dynamics, beta: f64) -> f64 {
    let width = dynamics.pair_energy().map(|energy| energy.width());
    0.5 * width.unwrap_or_else(|| beta.abs().max(1.0).powf(-0.5))
}

/// Connected components of the graph of tokens at geodesic distance below `radius`.
pub fn count_clusters(x: &crate::sphere::Tokens, radius: f64) -> usize {
    crate::flow::merging::clusters_within(x, radius).0.n()
}
