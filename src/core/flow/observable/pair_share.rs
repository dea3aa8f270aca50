//! Fraction of pairs of tokens that nearly coincide: the statistic of the published phase diagram.

use super::Observable;
use crate::attention::kernel::{Workspace, pairs_above};

/// Of pairs i != j of initial tokens, those with inner product at least 0.999.
pub static ENTRY: Observable = Observable {
    name: "pair-share",
    summary: "Fraction of pairs i != j of initial tokens with inner product at least 0.999 (the statistic of the published phase diagram).",
    needs_unit_vectors: true,
    columns: |_| vec!["pair_share".into()],
    measure: |_, frame, row| {
        row.push(share(frame.tokens, frame.labels, 0.999, &mut frame.work.borrow_mut()))
    },
    batch: Some(|batch, out| batch.pair_share(0.999, out)),
};

/// Fraction of pairs of different initial tokens with `<x_i, x_j> >= level`; 1 for a single token.
pub fn share(x: &crate::sphere::Tokens, labels: &[usize], level: f64, work: &mut Workspace) -> f64 {
    if labels.len() == x.n() {
        let pairs = (x.n() * x.n().saturating_sub(1) / 2) as f64;
        return if pairs > 0.0 { pairs_above(x, level, work) as f64 / pairs } else { 1.0 };
    }
    let mut sizes = vec![0.0; x.n()];
    labels.iter().for_each(|&l| sizes[l] += 1.0);
    let n = labels.len() as f64;
    let mut close: f64 = sizes.iter().map(|s| s * (s - 1.0)).sum();
    for i in 0..x.n() {
        for j in 0..i {
            if x.inner(i, j) >= level {
                close += 2.0 * sizes[i] * sizes[j];
            }
        }
    }
    if n > 1.0 { close / (n * (n - 1.0)) } else { 1.0 }
}
