//! Smallest and largest inner product of two different tokens (1 when all have merged).

use super::Observable;
use super::for_pairs;

/// Smallest and largest inner product of two different tokens (1 when all have merged).
pub static ENTRY: Observable = Observable {
    name: "inner-range",
    summary: "Smallest and largest inner product of two different tokens (1 when all have merged).",
    needs_unit: true,
    columns: |_| vec!["inner_min".into(), "inner_max".into()],
    measure: |_, frame, row| {
        let (mut low, mut high) = (1.0f64, -1.0f64);
        for_pairs(frame.tokens, |_, g| {
            low = low.min(g);
            high = high.max(g);
        });
        row.extend([low, if frame.tokens.n() < frame.labels.len() { 1.0 } else { high }]);
    },
    batch: None,
};
