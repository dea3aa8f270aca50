//! Masses of the live tokens in descending order, padded with zeros to n columns.

use super::Entry;

/// Masses of the live tokens in descending order, padded with zeros to n columns.
pub static ENTRY: Entry = Entry {
    name: "masses",
    summary: "Masses of the live tokens in descending order, padded with zeros to n columns.",
    columns: |s| (0..s.n).map(|i| format!("mass_{i}")).collect(),
    measure: |s, frame, row| {
        let mut masses = frame.tokens.masses().to_vec();
        masses.sort_by(|a, b| b.total_cmp(a));
        masses.resize(s.n, 0.0);
        row.extend(masses);
    },
    batch: None,
};
