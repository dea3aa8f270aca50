//! Mean inner product of pairs of tokens (the statistic of arXiv:2510.22026).

use super::Observable;
use crate::num::cloud::mean_inner;

/// Over pairs of different initial tokens, unweighted; 1 for a single token.
pub static ENTRY: Observable = Observable {
    name: "mean-cosine",
    summary: "Mean inner product of pairs i != j of initial tokens; 1 for a single token.",
    needs_unit_vectors: true,
    columns: |_| vec!["mean_cosine".into()],
    measure: |_, frame, row| {
        // The sum over all pairs is the squared length of the sum of tokens.
        let (n, mut total) = (frame.labels.len(), vec![0.0; frame.tokens.d()]);
        frame
            .labels
            .iter()
            .for_each(|l| total.iter_mut().zip(frame.tokens.row(*l)).for_each(|(s, x)| *s += x));
        row.push(mean_inner(&total, n as f64, n));
    },
    batch: None,
};
