//! Histogram of the inner products of pairs i < j of initial tokens in 40 bins of [-1, 1], as shares.

use super::Observable;

/// Histogram of the inner products of pairs i < j of initial tokens in 40 bins of [-1, 1], as shares.
pub static ENTRY: Observable = Observable {
    name: "inner-histogram",
    summary: "Histogram of the inner products of pairs i < j of initial tokens in 40 bins of [-1, 1], as shares.",
    needs_unit: true,
    columns: |_| (0..BINS).map(|b| format!("bin_{b}")).collect(),
    measure: |_, frame, row| {
        let mut sizes = vec![0.0; frame.tokens.n()];
        frame.labels.iter().for_each(|&l| sizes[l] += 1.0);
        let mut bins = vec![0.0; BINS];
        for i in 0..frame.tokens.n() {
            bins[BINS - 1] += 0.5 * sizes[i] * (sizes[i] - 1.0);
            for j in 0..i {
                bins[bin(frame.tokens.inner(i, j))] += sizes[i] * sizes[j];
            }
        }
        let total: f64 = bins.iter().sum();
        row.extend(bins.iter().map(|b| if total > 0.0 { b / total } else { 0.0 }));
    },
    batch: None,
};

/// Number of bins of [-1, 1].
pub const BINS: usize = 40;

/// The bin of an inner product.
pub fn bin(g: f64) -> usize {
    (((g + 1.0) * 0.5 * BINS as f64) as usize).min(BINS - 1)
}
