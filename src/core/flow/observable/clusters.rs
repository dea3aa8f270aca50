//! Number of clusters: connected components of tokens nearer than half a kernel width, beta^{-1/2} / 2 (at most 1/2).

use super::Observable;

/// Number of clusters: connected components of tokens nearer than half a kernel width, beta^{-1/2} / 2 (at most 1/2).
pub static ENTRY: Observable = Observable {
    name: "clusters",
    summary: "Number of clusters: connected components of tokens nearer than half a kernel width, beta^{-1/2} / 2 (at most 1/2).",
    needs_unit: false,
    columns: |_| vec!["clusters".into()],
    measure: |s, frame, row| row.push(count(frame.tokens, link(s.beta)) as f64),
    batch: None,
};

/// Half a kernel width: the distance below which tokens are linked.
pub fn link(beta: f64) -> f64 {
    0.5 * beta.abs().max(1.0).powf(-0.5)
}

/// Connected components of the graph of tokens at geodesic distance below `radius`.
pub fn count(x: &crate::sphere::Tokens, radius: f64) -> usize {
    crate::flow::coalesce::clusters_within(x, radius).0.n()
}
