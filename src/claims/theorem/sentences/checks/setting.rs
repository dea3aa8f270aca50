//! What several checks use: heads of the library without biases, ranks, ranked rows.

use crate::attention::pattern::{FullAttention, Pattern};
use crate::num::softmax::softmax;
use crate::theorem::prelude::*;
use crate::transformer::{AttentionLayer, Grouping, Linear};

/// Uniform tokens of the case.
pub fn uniform(case: &Case, ctx: &mut Context) -> Result<Tokens> {
    ctx.tokens_with_law(case.n, case.d, "uniform")
}

/// A matrix of normal numbers with this many rows of length d, so that images have the size of the
/// vectors.
pub fn normal_rows(ctx: &mut Context, rows: usize, d: usize) -> Vec<f64> {
    normals(ctx, rows * d, (d as f64).sqrt().recip())
}

/// `M x` for all rows x.
pub fn images(x: &[f64], m: &[f64], d: usize) -> Vec<f64> {
    x.chunks_exact(d).flat_map(|x| m.chunks_exact(d).map(|row| dot(row, x))).collect()
}

/// The softmax of a row.
pub fn softmax_row(mut row: Vec<f64>) -> Vec<f64> {
    let masses = vec![1.0; row.len()];
    softmax(&mut row, &masses);
    row
}

/// Trained heads with the scores `<Q_h x, K_h y>` and the output `sum_h O_h sum_j P_ij V_h y_j`.
/// The rows of the heads stand below each other in Q, K, V, the columns beside each other in O.
pub fn layer(d: usize, heads: usize, [q, k, v, o]: [&[f64]; 4]) -> Result<AttentionLayer> {
    // Trained heads divide scores by the root of the number of rows.
    let root = ((q.len() / d / heads) as f64).sqrt();
    let q: Vec<f64> = q.iter().map(|q| root * q).collect();
    let map = |inputs: usize, m: &[f64]| Linear::new("map", inputs, m.to_vec(), Vec::new());
    let maps = [map(d, &q)?, map(d, k)?, map(d, v)?, map(o.len() / d, o)?];
    AttentionLayer::new("heads", maps, Grouping { heads, kv_heads: heads }, everything())
}

/// No mask, no positions.
pub fn everything() -> Arc<dyn Pattern> {
    Arc::new(FullAttention)
}

/// The weights of one head.
pub fn weights(d: usize, q: &[f64], k: &[f64], x: &[f64]) -> Result<Vec<f64>> {
    let one = identity(d);
    Ok(layer(d, 1, [q, k, &one, &one])?.attend(x, x, true)?.weights)
}

/// The weights `softmax_j(beta <x_i, x_j>)`.
pub fn own_weights(d: usize, beta: f64, x: &[f64]) -> Result<Vec<f64>> {
    let mut q = identity(d);
    scale(beta, &mut q);
    weights(d, &q, &identity(d), x)
}

/// The singular value number k (from 0) of a matrix with rows of length d, relative to the largest.
/// It is computed from the eigenvalues of the Gram matrix, so its error is 1e-8.
pub fn singular_ratio(a: &[f64], d: usize, k: usize) -> f64 {
    let n = a.len() / d;
    let gram = images(a, a, d);
    let Some(values) = symmetric_eigenvalues(&gram, n) else { return f64::NAN };
    if k >= n { 0.0 } else { (values[n - 1 - k].max(0.0) / values[n - 1]).sqrt() }
}

/// How near two rows are: larger is nearer.
pub type Nearness = fn(&[f64], &[f64]) -> f64;

/// By inner product.
pub fn by_dot(x: &[f64], y: &[f64]) -> f64 {
    dot(x, y)
}

/// By the square of the distance.
pub fn by_square(x: &[f64], y: &[f64]) -> f64 {
    -chord2(x, y)
}

/// By the distance.
pub fn by_distance(x: &[f64], y: &[f64]) -> f64 {
    -chord2(x, y).sqrt()
}

/// Rows of one number: by inner product the last is nearest to the first, by distance the second.
pub fn line() -> Vec<Vec<f64>> {
    vec![vec![1.0], vec![1.0], vec![3.0]]
}

/// The number of pairs of rows after the first whose order of nearness to the first differs.
pub fn count_exchanges(rows: &[Vec<f64>], f: Nearness, g: Nearness) -> usize {
    let differ = |(j, k): (usize, usize)| {
        let change = |f: Nearness| f(&rows[0], &rows[j]) - f(&rows[0], &rows[k]);
        let (a, b) = (change(f), change(g));
        let product = a * b;
        product.is_nan() || product < 0.0 && a.abs().min(b.abs()) > 1e-12
    };
    pairs(rows.len()).filter(|(_, k)| *k > 0).filter(|p| differ(*p)).count()
}

/// The rows of tokens.
pub fn rows(x: &Tokens) -> Vec<Vec<f64>> {
    x.rows().map(<[f64]>::to_vec).collect()
}
