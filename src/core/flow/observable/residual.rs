//! Distances of the matrix of tokens to the nearest matrices of equal rows and of rank one.

use super::{Observable, effective_rank::moment_spectrum};
use crate::num::sum::dot;

/// `|X - 1 x^T|` (x the mean by mass), its logarithm, and the distance of `X` to the nearest matrix
/// of rank one. Rows are weighted by mass.
pub static ENTRY: Observable = Observable {
    name: "residual",
    summary: "Root mean square distance of the tokens to their mean, its log (-inf as -800), and root mean square distance to the nearest line through 0 (rank-one residual), by mass.",
    needs_unit_vectors: false,
    columns: |_| {
        ["mean_residual", "log_mean_residual", "rank_one_residual"].map(String::from).to_vec()
    },
    measure: |_, frame, row| {
        let x = frame.tokens;
        let mean = x.mean();
        let mut spread = 0.0;
        for (r, m) in x.rows().zip(x.masses()) {
            let off: Vec<f64> = r.iter().zip(&mean).map(|(x, c)| x - c).collect();
            spread += m * dot(&off, &off);
        }
        let values = moment_spectrum(x);
        let top = values.iter().copied().fold(0.0, f64::max);
        let rest = (values.iter().sum::<f64>() - top).max(0.0);
        row.extend([
            spread.sqrt(),
            if spread > 0.0 { 0.5 * spread.ln() } else { -800.0 },
            rest.sqrt(),
        ]);
    },
    batch: None,
};
