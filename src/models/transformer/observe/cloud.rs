//! The cosines of all pairs of tokens, and clusters by cosine.

use crate::attention::dense::gemm::{MatrixRows, PackedMatrix};
use crate::num::cloud::{COSINE_BINS, cosine_bin, directions, mean_cosine};

/// The directions of n tokens and the cosines of all pairs.
#[derive(Clone, Debug)]
pub struct Cloud {
    /// Unit rows; a row of zeros stays zero.
    pub directions: Vec<f64>,
    /// Cosines of all pairs, n x n.
    pub cosines: Vec<f64>,
    /// Number of tokens.
    pub n: usize,
}

impl Cloud {
    /// From rows of dimension d.
    pub fn new(x: &[f64], d: usize) -> Self {
        let directions = directions(x, d);
        let cosines = PackedMatrix::from_columns(&MatrixRows::new(&directions, d), d)
            .product(&directions, &[]);
        Self { cosines, n: x.len() / d, directions }
    }

    /// The cosines of pairs of different tokens.
    pub fn pairs(&self) -> impl Iterator<Item = f64> {
        (0..self.n).flat_map(move |i| (i + 1..self.n).map(move |j| self.cosines[i * self.n + j]))
    }

    /// The mean cosine of pairs of different tokens; 1 for one token.
    pub fn mean(&self) -> f64 {
        mean_cosine(&self.directions, self.directions.len() / self.n)
    }

    /// Numbers of pairs in each of [`COSINE_BINS`] equal parts of `[-1, 1]`.
    pub fn histogram(&self) -> Vec<usize> {
        let mut counts = vec![0; COSINE_BINS];
        self.pairs().for_each(|c| counts[cosine_bin(c, COSINE_BINS)] += 1);
        counts
    }

    /// Number of clusters: classes of tokens linked by chains of cosines above a threshold.
    ///
    /// ```
    /// use metastable::transformer::observe::Cloud;
    /// let cloud = Cloud::new(&[1.0, 0.0, 2.0, 0.1, 0.0, 1.0], 2);
    /// assert_eq!((cloud.clusters(0.9), cloud.clusters(0.9999)), (2, 3));
    /// ```
    pub fn clusters(&self, threshold: f64) -> usize {
        let (mut visited, mut count) = (vec![false; self.n], 0);
        for start in 0..self.n {
            if visited[start] {
                continue;
            }
            count += 1;
            let mut open = vec![start];
            visited[start] = true;
            while let Some(i) = open.pop() {
                for (j, (visited, cosine)) in
                    visited.iter_mut().zip(&self.cosines[i * self.n..]).enumerate()
                {
                    if !*visited && *cosine > threshold {
                        *visited = true;
                        open.push(j);
                    }
                }
            }
        }
        count
    }
}
