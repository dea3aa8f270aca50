//! Mean inner product of pairs of different initial tokens, by number (the statistic of arXiv:2510.22026).

use super::Observable;

/// Mean inner product of pairs of different initial tokens, by number.
pub static ENTRY: Observable = Observable {
    name: "mean-cosine",
    summary: "Mean inner product of pairs i != j of initial tokens; 1 for a single token.",
    needs_unit: true,
    columns: |_| vec!["mean_cosine".into()],
    measure: |_, frame, row| {
        // The sum over all pairs is the square of the sum of tokens.
        let (n, d) = (frame.labels.len() as f64, frame.tokens.d());
        let mut total = vec![0.0; d];
        frame.labels.iter().for_each(|l| total.iter_mut().zip(frame.tokens.row(*l)).for_each(|(s, x)| *s += x));
        let square: f64 = total.iter().map(|s| s * s).sum();
        row.push(if n > 1.0 { (square - n) / (n * (n - 1.0)) } else { 1.0 });
    },
    batch: None,
};
