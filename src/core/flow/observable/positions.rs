//! Positions of the tokens.

use super::Observable;

/// Coordinate c of initial token i in column `x_i_c`; tokens that merged have the same coordinates.
pub static ENTRY: Observable = Observable {
    name: "positions",
    summary: "Coordinates of every initial token.",
    needs_unit_vectors: false,
    columns: |s| (0..s.n).flat_map(|i| (0..s.d).map(move |c| format!("x_{i}_{c}"))).collect(),
    measure: |_, frame, row| {
        frame.labels.iter().for_each(|&l| row.extend_from_slice(frame.tokens.row(l)))
    },
    batch: None,
};
