//! A cloud of tokens: cosines and clusters.

use crate::attention::dense::product::{MatrixRows, Panelled};
use crate::num::cloud::{COSINE_BINS, cosine_bin, directions, mean_cosine};

/// The directions of n tokens and the cosines of all pairs.
#[derive(Clone, Debug)]
pub struct Cloud {
    /// Unit rows; a row of zeros stays one.
    pub directions: Vec<f64>,
    /// n x n.
    pub cosines: Vec<f64>,
    /// Tokens.
    pub n: usize,
}

impl Cloud {
    /// Of rows of dimension d.
    pub fn new(x: &[f64], d: usize) -> Self {
        let directions = directions(x, d);
        let cosines = Panelled::of_columns(&MatrixRows::of(&directions, d), d).product(&directions, &[]);
        Self { cosines, n: x.len() / d, directions }
    }

    /// The cosines of pairs of different tokens.
    pub fn pairs(&self) -> impl Iterator<Item = f64> {
        (0..self.n).flat_map(move |i| (i + 1..self.n).map(move |j| self.cosines[i * self.n + j]))
    }

    /// Their mean; 1 for one token.
    pub fn mean(&self) -> f64 {
        mean_cosine(&self.directions, self.directions.len() / self.n)
    }

    /// How many lie in each of [`COSINE_BINS`] equal parts of `[-1, 1]`.
    pub fn histogram(&self) -> Vec<usize> {
        let mut counts = vec![0; COSINE_BINS];
        self.pairs().for_each(|c| counts[cosine_bin(c, COSINE_BINS)] += 1);
        counts
    }

    /// Classes of tokens linked by chains of cosines above a threshold.
    ///
    /// ```
    /// use metastable::transformer::observe::Cloud;
    /// let cloud = Cloud::new(&[1.0, 0.0, 2.0, 0.1, 0.0, 1.0], 2);
    /// assert_eq!((cloud.clusters(0.9), cloud.clusters(0.9999)), (2, 3));
    /// ```
    pub fn clusters(&self, threshold: f64) -> usize {
        let (mut seen, mut count) = (vec![false; self.n], 0);
        for start in 0..self.n {
            if seen[start] {
                continue;
            }
            count += 1;
            let mut open = vec![start];
            seen[start] = true;
            while let Some(i) = open.pop() {
                for (j, (seen, cosine)) in seen.iter_mut().zip(&self.cosines[i * self.n..]).enumerate() {
                    if !*seen && *cosine > threshold {
                        *seen = true;
                        open.push(j);
                    }
                }
            }
        }
        count
    }
}
