//! Clusters by single linkage: connected components of tokens within a given geodesic radius.

use crate::error::Result;
use crate::flow::ClosePairs;
use crate::num::disjoint_sets::DisjointSets;
use crate::num::vector::{axpy, divide};
use crate::sphere::{
    Tokens,
    geometry::{chord_of, dist, retract},
};

/// The clusters at one radius.
#[derive(Clone, Debug, PartialEq)]
pub struct Linkage {
    /// The linking radius.
    pub radius: f64,
    /// For every token the index of its cluster; clusters are numbered by their first token.
    pub labels: Vec<usize>,
    /// Number of tokens per cluster.
    pub sizes: Vec<usize>,
    /// Mass-weighted mean directions with summed masses. If the mean of a cluster vanishes, its
    /// first token is used.
    pub centres: Tokens,
    /// For every cluster the largest distance of a token from its centre.
    pub radii: Vec<f64>,
}

/// Links tokens at geodesic distance at most `radius`. **Cost** `O(n log n)`, plus the number of
/// close pairs. **Errors** a radius outside `[0, pi]`.
///
/// ```
/// use metastable::{clusters::linkage::linkage, sphere::Tokens};
/// let x = Tokens::from_angles(&[0.0, 0.1, 0.2, 2.0]).unwrap();
/// let found = linkage(&x, 0.11).unwrap();
/// assert_eq!(found.sizes, [3, 1]); // a chain is one cluster
/// assert!((found.centres.masses()[0] - 0.75).abs() < 1e-15);
/// ```
pub fn linkage(x: &Tokens, radius: f64) -> Result<Linkage> {
    crate::error::in_range("radius", radius, 0.0, std::f64::consts::PI)?;
    let mut close = ClosePairs::default();
    let mut sets = DisjointSets::default();
    sets.reset(x.n());
    close.find(x, chord_of(radius)).iter().for_each(|&(a, b)| sets.union(a, b));
    let firsts: Vec<usize> = (0..x.n()).filter(|&i| sets.find(i) == i).collect();
    let labels: Vec<usize> =
        (0..x.n()).map(|i| sets.find(i)).map(|r| firsts.partition_point(|f| *f < r)).collect();
    let (k, d) = (firsts.len(), x.d());
    let (mut sizes, mut masses, mut sums) = (vec![0; k], vec![0.0; k], vec![0.0; k * d]);
    for (i, &l) in labels.iter().enumerate() {
        sizes[l] += 1;
        masses[l] += x.masses()[i];
        axpy(x.masses()[i], x.row(i), &mut sums[l * d..(l + 1) * d]);
    }
    for (l, row) in sums.chunks_exact_mut(d).enumerate() {
        let scale = masses[l];
        divide(row, scale);
        // The direction of a mean of rounding size has no meaning.
        if crate::num::sum::dot(row, row) < 1e-24 || !retract(row) {
            row.copy_from_slice(x.row(firsts[l]));
        }
    }
    let centres = Tokens::normalised(d, sums)?.with_masses(&masses)?;
    let mut radii = vec![0.0f64; k];
    for (i, &l) in labels.iter().enumerate() {
        radii[l] = radii[l].max(dist(x.row(i), centres.row(l)));
    }
    Ok(Linkage { radius, labels, sizes, centres, radii })
}
