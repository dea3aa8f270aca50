//! Statistics of a point cloud, n rows of d numbers: cosines, spectrum, distance from equal rows.

use super::dense::{symmetric_eigenvalues, transpose_mul};
use super::sum::dot;

/// The rows divided by their norms; a zero row stays zero.
pub fn directions(x: &[f64], d: usize) -> Vec<f64> {
    let mut out = x.to_vec();
    for row in out.chunks_exact_mut(d) {
        let length = dot(row, row).sqrt();
        if length > 0.0 {
            row.iter_mut().for_each(|v| *v /= length);
        }
    }
    out
}

/// Mean inner product of two different rows, `(|sum|^2 - squares) / (n (n - 1))`, from the sum of
/// the n rows and the sum of their squared norms; 1 for a single row.
pub fn mean_inner(sum: &[f64], squares: f64, n: usize) -> f64 {
    let n = n as f64;
    if n > 1.0 { (dot(sum, sum) - squares) / (n * (n - 1.0)) } else { 1.0 }
}

/// Mean cosine of two different rows; 1 for a single row.
///
/// ```
/// use metastable::num::cloud::mean_cosine;
/// assert!((mean_cosine(&[2.0, 0.0, 0.0, 3.0, 1.0, 0.0], 2) - 1.0 / 3.0).abs() < 1e-15);
/// ```
///
/// **Accuracy** a few u. **Cost** `4 n d` operations.
pub fn mean_cosine(x: &[f64], d: usize) -> f64 {
    let units = directions(x, d);
    let mut sum = vec![0.0; d];
    units.chunks_exact(d).for_each(|row| sum.iter_mut().zip(row).for_each(|(s, v)| *s += v));
    mean_inner(&sum, dot(&units, &units), x.len() / d)
}

/// Bins of `[-1, 1]` in tables of cosines.
pub const COSINE_BINS: usize = 40;

/// Index of the bin of a cosine, for equal bins of `[-1, 1]`; values outside belong to the first or
/// last bin.
pub fn cosine_bin(cosine: f64, bins: usize) -> usize {
    (((cosine + 1.0) * 0.5 * bins as f64) as usize).min(bins - 1)
}

/// The positive eigenvalues of a positive semidefinite n x n matrix, divided by the trace. A single
/// NaN if the eigenvalues cannot be computed.
pub fn spectral_shares(matrix: &[f64], n: usize) -> Vec<f64> {
    let Some(values) = symmetric_eigenvalues(matrix, n) else { return vec![f64::NAN] };
    let total: f64 = values.iter().map(|v| v.max(0.0)).sum();
    values.iter().map(|v| v.max(0.0) / total).filter(|p| *p > 0.0).collect()
}

/// `e^H` with the entropy H of the shares: their effective number.
pub fn perplexity(shares: &[f64]) -> f64 {
    shares.iter().map(|p| -p * p.ln()).sum::<f64>().exp()
}

/// Effective rank: `e^H` of the shares of the squared singular values of X, n x d.
///
/// ```
/// use metastable::num::cloud::effective_rank;
/// assert!((effective_rank(&[1.0, 0.0, 0.0, 1.0], 2) - 2.0).abs() < 1e-14);
/// ```
///
/// **Cost** `n d min(n, d)` operations, and the eigenvalues of a matrix of size min(n, d).
pub fn effective_rank(x: &[f64], d: usize) -> f64 {
    let n = x.len() / d;
    // X X^T and X^T X have the same nonzero eigenvalues.
    if n > d {
        return perplexity(&spectral_shares(&transpose_mul(x, x, n), d));
    }
    let row = |i: usize| &x[i * d..][..d];
    let gram: Vec<f64> = (0..n * n)
        .map(|k| if k % n <= k / n { dot(row(k / n), row(k % n)) } else { 0.0 })
        .collect();
    perplexity(&spectral_shares(&gram, n))
}

/// `|X - 1 m^T| / |X|` in the Frobenius norm, where m is the mean row: the distance from equal
/// rows. 0 if X = 0.
pub fn equal_rows_residual(x: &[f64], d: usize) -> f64 {
    let n = (x.len() / d) as f64;
    let mut mean = vec![0.0; d];
    x.chunks_exact(d).for_each(|row| mean.iter_mut().zip(row).for_each(|(m, v)| *m += v / n));
    let rest: f64 = x
        .chunks_exact(d)
        .flat_map(|row| row.iter().zip(&mean).map(|(v, m)| (v - m) * (v - m)))
        .sum();
    (rest / dot(x, x).max(f64::MIN_POSITIVE)).sqrt()
}
