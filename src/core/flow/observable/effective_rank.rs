//! Spectrum of the tokens: effective rank, participation ratio, and distance to the mean.

use super::Observable;
use crate::num::cloud::{perplexity, spectral_shares};
use crate::num::{dense::symmetric_eigenvalues, sum::dot};
use crate::sphere::Tokens;

/// Effective rank `e^H`, with H the entropy of the normalised eigenvalues of
/// `M = sum_i m_i x_i x_i^T`; participation ratio `(tr M)^2 / tr M^2`; and the logarithm of the
/// root mean square distance to the mean.
pub static ENTRY: Observable = Observable {
    name: "effective-rank",
    summary: "Effective rank e^H and participation ratio of the eigenvalues of sum m_i x_i x_i^T (H: entropy of the normalised eigenvalues); log of the root mean square distance to the mean (-inf as -800).",
    needs_unit_vectors: false,
    columns: |_| vec!["effective_rank".into(), "participation".into(), "log_residual".into()],
    measure: |_, frame, row| {
        let x = frame.tokens;
        let shares = spectral_shares(&second_moments(x), x.d());
        let mean = x.mean();
        let spread = |r: &[f64]| r.iter().zip(&mean).map(|(x, m)| (x - m).powi(2)).sum::<f64>();
        let residual: f64 = x.rows().zip(x.masses()).map(|(r, m)| m * spread(r)).sum();
        row.extend([
            perplexity(&shares),
            1.0 / dot(&shares, &shares),
            if residual > 0.0 { 0.5 * residual.ln() } else { -800.0 },
        ]);
    },
    batch: None,
};

/// `sum_i m_i x_i x_i^T`.
fn second_moments(x: &Tokens) -> Vec<f64> {
    let d = x.d();
    let mut moment = vec![0.0; d * d];
    for (r, m) in x.rows().zip(x.masses()) {
        moment.iter_mut().enumerate().for_each(|(k, v)| *v += m * r[k / d] * r[k % d]);
    }
    moment
}

/// Ascending eigenvalues of `sum_i m_i x_i x_i^T`; empty if the iteration fails.
pub(super) fn moment_spectrum(x: &Tokens) -> Vec<f64> {
    symmetric_eigenvalues(&second_moments(x), x.d()).unwrap_or_default()
}
