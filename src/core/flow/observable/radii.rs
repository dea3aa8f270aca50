//! Smallest, mean and largest radius of the tokens: lengths of points of R^d, 1 on the sphere.

use super::Observable;
use crate::num::sum::dot;
use crate::num::vector::norm;

/// Smallest, mean (by mass) and largest radius of the tokens.
pub static ENTRY: Observable = Observable {
    name: "radii",
    summary: "Smallest, mean (by mass) and largest radius of the tokens: lengths of points of R^d, 1 on the sphere.",
    needs_unit_vectors: false,
    columns: |_| vec!["radius_min".into(), "radius_mean".into(), "radius_max".into()],
    measure: |_, frame, row| {
        let x = frame.tokens;
        let length =
            |(i, r): (usize, &[f64])| x.extra_numbers().get(i).copied().unwrap_or_else(|| norm(r));
        let all: Vec<f64> = x.rows().enumerate().map(length).collect();
        row.extend([
            all.iter().copied().fold(f64::INFINITY, f64::min),
            dot(&all, x.masses()),
            all.iter().copied().fold(0.0, f64::max),
        ]);
    },
    batch: None,
};
