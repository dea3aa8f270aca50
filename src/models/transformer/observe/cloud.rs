//! A cloud of tokens: cosines, clusters, ranks.

use crate::num::dense::symmetric_eigenvalues;
use crate::num::sum::dot;
use crate::transformer::product::{MatrixRows, Panelled};

/// Inner products of all pairs of rows, n x n.
pub(super) fn gram(x: &[f64], d: usize) -> Vec<f64> {
    Panelled::of_columns(&MatrixRows::of(x, d), d).product(x, &[])
}

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
        let mut directions = x.to_vec();
        for row in directions.chunks_exact_mut(d) {
            let length = dot(row, row).sqrt();
            row.iter_mut().for_each(|v| *v = if length > 0.0 { *v / length } else { 0.0 });
        }
        Self { cosines: gram(&directions, d), n: x.len() / d, directions }
    }

    /// The cosines of pairs of different tokens.
    pub fn pairs(&self) -> impl Iterator<Item = f64> {
        (0..self.n).flat_map(move |i| (i + 1..self.n).map(move |j| self.cosines[i * self.n + j]))
    }

    /// Their mean; 1 for one token.
    pub fn mean(&self) -> f64 {
        let count = self.n * (self.n - 1) / 2;
        if count == 0 { 1.0 } else { self.pairs().sum::<f64>() / count as f64 }
    }

    /// How many lie in each of `bins` equal parts of `[-1, 1]`.
    pub fn histogram(&self, bins: usize) -> Vec<usize> {
        let mut counts = vec![0; bins];
        self.pairs().for_each(|c| counts[(((c + 1.0) * 0.5 * bins as f64) as usize).min(bins - 1)] += 1);
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

/// `|x - 1 m^T|_F / |x|_F` with the mean token m: how far the tokens are from all equal.
pub fn rank_one_residual(x: &[f64], d: usize) -> f64 {
    let n = x.len() / d;
    let mut mean = vec![0.0; d];
    x.chunks_exact(d).for_each(|row| mean.iter_mut().zip(row).for_each(|(m, v)| *m += v / n as f64));
    let rest: f64 = x.chunks_exact(d).flat_map(|row| row.iter().zip(&mean).map(|(v, m)| (v - m) * (v - m))).sum();
    (rest / dot(x, x).max(f64::MIN_POSITIVE)).sqrt()
}

/// `e^H` with the entropy H of the squares of the singular values: how many directions the tokens fill.
pub fn entropy_rank(x: &[f64], d: usize) -> f64 {
    let n = x.len() / d;
    let Some(values) = symmetric_eigenvalues(&gram(x, d), n) else { return f64::NAN };
    let total: f64 = values.iter().map(|v| v.max(0.0)).sum();
    values.iter().map(|v| v.max(0.0) / total).filter(|p| *p > 0.0).map(|p| -p * p.ln()).sum::<f64>().exp()
}
