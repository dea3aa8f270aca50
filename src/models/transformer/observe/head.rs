//! Statistics of the weights of a head, and the spectrum of its output map.

use crate::num::dense::{eigenvalues, mul, symmetric_eigen, symmetric_eigenvalues};
use crate::num::sum::dot;
use crate::transformer::AttentionLayer;

/// Statistics of the weights of a head.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightStatistics {
    /// Mean over queries of the standard deviation of the logits of visible sources.
    pub spread: f64,
    /// Mean over queries of the entropy of the row, divided by the logarithm of the number of
    /// visible sources: 1 for uniform attention, 0 for attention to one source.
    pub entropy: f64,
    /// The largest fraction of all attention that one token receives.
    pub leader: f64,
}

/// Statistics from the weights of one head, n x n; invisible sources have weight 0.
pub fn weight_statistics(weights: &[f64], n: usize) -> WeightStatistics {
    let (mut spread, mut entropy, mut rows) = (0.0, 0.0, 0usize);
    let mut share = vec![0.0; n];
    for row in weights.chunks_exact(n) {
        row.iter().zip(&mut share).for_each(|(w, s)| *s += w / n as f64);
        let visible: Vec<f64> = row.iter().copied().filter(|w| *w > 0.0).collect();
        if visible.len() < 2 {
            continue;
        }
        rows += 1;
        // Logits are logarithms of weights up to a constant of the row.
        let count = visible.len() as f64;
        let mean = visible.iter().map(|w| w.ln()).sum::<f64>() / count;
        spread += (visible.iter().map(|w| (w.ln() - mean).powi(2)).sum::<f64>() / count).sqrt();
        entropy += visible.iter().map(|w| -w * w.ln()).sum::<f64>() / count.ln();
    }
    let count = rows.max(1) as f64;
    WeightStatistics {
        spread: spread / count,
        entropy: entropy / count,
        leader: share.into_iter().fold(0.0, f64::max),
    }
}

/// The bilinear forms of a head: `A = W_q^T W_k / sqrt r` and `V = W_o W_v`, of rank s at most.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadForm {
    /// Largest singular value of V.
    pub norm: f64,
    /// Real and imaginary parts of the s eigenvalues of V that may differ from 0, ascending in the
    /// real part.
    pub values: Vec<(f64, f64)>,
    /// The 2 s eigenvalues of the symmetric part of V that may differ from 0 (at most d),
    /// ascending.
    pub symmetric: Vec<f64>,
    /// `<V, A> / (|V| |A|)`: 1 in the gradient case V = A.
    pub overlap: f64,
}

impl HeadForm {
    /// Largest real part of an eigenvalue of V, and its least; 0 is an eigenvalue, as V has less
    /// than full rank. NaN if the eigenvalues were not found.
    pub fn real(&self) -> (f64, f64) {
        ends(self.values.iter().map(|z| z.0))
    }

    /// Largest and least eigenvalue of the symmetric part of V, likewise.
    pub fn symmetric_ends(&self) -> (f64, f64) {
        ends(self.symmetric.iter().copied())
    }
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values
        .map(|v| (v, v))
        .reduce(|a, v| (a.0.max(v.0), a.1.min(v.1)))
        .map_or((f64::NAN, f64::NAN), |(a, b)| (a.max(0.0), b.min(0.0)))
}

/// The forms of head h, computed from matrices of its rank. A number that cannot be computed is
/// NaN, and such a list is empty.
pub fn head_form(of: &AttentionLayer, h: usize) -> HeadForm {
    let (r, s) = (of.rank(), of.size());
    let g = of.grouping.source_head(h);
    let (d, source) = (of.query.inputs(), of.value.inputs());
    let [query, key, value, output] =
        [&of.query, &of.key, &of.value, &of.output].map(|map| map.weight());
    let q = &query[h * r * d..(h + 1) * r * d];
    let k = &key[g * r * source..(g + 1) * r * source];
    let v = &value[g * s * source..(g + 1) * s * source];
    let columns = of.output.inputs();
    // The columns of W_o of this head as rows.
    let o: Vec<f64> = (0..s * d).map(|at| output[at % d * columns + h * s + at / d]).collect();
    let (oo, vv, vo) = (products(&o, &o, d), products(v, v, d), products(v, &o, d));
    // Tr((W_q O)^T (W_k V^T)) without d x d matrices.
    let (qo, kv, qq, kk) =
        (products(q, &o, d), products(k, v, d), products(q, q, d), products(k, k, d));
    let size = |a: &[f64], b: &[f64]| dot(a, b).max(0.0).sqrt();
    let mut symmetric = symmetric_part(&oo, &vo, &vv, s);
    symmetric.sort_by(|a, b| b.abs().total_cmp(&a.abs()));
    symmetric.truncate(d);
    symmetric.sort_by(f64::total_cmp);
    HeadForm {
        norm: largest(&oo, &vv, s).sqrt(),
        values: eigenvalues(&vo, s).unwrap_or_default(),
        symmetric,
        overlap: dot(&qo, &kv) / (size(&oo, &vv) * size(&qq, &kk)),
    }
}

/// Inner products of all rows of a with all rows of b.
fn products(a: &[f64], b: &[f64], d: usize) -> Vec<f64> {
    a.chunks_exact(d).flat_map(|a| b.chunks_exact(d).map(move |b| dot(a, b))).collect()
}

/// A square root of a symmetric matrix without negative eigenvalues: `R` with `R^T R = G`.
fn root(g: &[f64], n: usize) -> Option<Vec<f64>> {
    let (values, vectors) = symmetric_eigen(g, n)?;
    Some((0..n * n).map(|k| values[k / n].max(0.0).sqrt() * vectors[k]).collect())
}

/// The largest eigenvalue of a product of two symmetric matrices without negative eigenvalues.
fn largest(a: &[f64], b: &[f64], n: usize) -> f64 {
    let Some(r) = root(a, n) else { return f64::NAN };
    congruent(&r, b, n)
        .and_then(|m| symmetric_eigenvalues(&m, n))
        .and_then(|v| v.last().copied())
        .unwrap_or(f64::NAN)
        .max(0.0)
}

/// `R B R^T`.
fn congruent(r: &[f64], b: &[f64], n: usize) -> Option<Vec<f64>> {
    let transposed: Vec<f64> = (0..n * n).map(|k| r[k % n * n + k / n]).collect();
    Some(mul(&mul(r, b, n), &transposed, n))
}

/// Eigenvalues of `(O V + V^T O^T) / 2 = B S B^T`, `B = [O, V^T]`, from the 2s x 2s matrix of inner
/// products of the columns of B; all others are 0.
fn symmetric_part(oo: &[f64], vo: &[f64], vv: &[f64], s: usize) -> Vec<f64> {
    let n = 2 * s;
    let gram: Vec<f64> = (0..n * n)
        .map(|k| match (k / n < s, k % n < s) {
            (true, true) => oo[k / n * s + k % n],
            (false, true) => vo[(k / n - s) * s + k % n],
            (true, false) => vo[(k % n - s) * s + k / n],
            (false, false) => vv[(k / n - s) * s + k % n - s],
        })
        .collect();
    let swap: Vec<f64> =
        (0..n * n).map(|k| if (k / n + s) % n == k % n { 0.5 } else { 0.0 }).collect();
    root(&gram, n)
        .and_then(|r| congruent(&r, &swap, n))
        .and_then(|m| symmetric_eigenvalues(&m, n))
        .unwrap_or_default()
}
