//! Histogram of the inner products of tokens.

use super::Observable;
use crate::num::cloud::{COSINE_BINS as BINS, cosine_bin};

/// Fractions of the pairs i < j of initial tokens in 40 equal bins of [-1, 1].
pub static ENTRY: Observable = Observable {
    name: "inner-histogram",
    summary: "Histogram of the inner products of pairs i < j of initial tokens: fractions in 40 bins of [-1, 1].",
    needs_unit_vectors: true,
    columns: |_| (0..BINS).map(|b| format!("bin_{b}")).collect(),
    measure: |_, frame, row| {
        let mut sizes = vec![0.0; frame.tokens.n()];
        frame.labels.iter().for_each(|&l| sizes[l] += 1.0);
        let mut bins = vec![0.0; BINS];
        for i in 0..frame.tokens.n() {
            bins[BINS - 1] += 0.5 * sizes[i] * (sizes[i] - 1.0);
            for j in 0..i {
                bins[cosine_bin(frame.tokens.inner(i, j), BINS)] += sizes[i] * sizes[j];
            }
        }
        let total: f64 = bins.iter().sum();
        row.extend(bins.iter().map(|b| if total > 0.0 { b / total } else { 0.0 }));
    },
    batch: None,
};
