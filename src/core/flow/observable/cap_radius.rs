//! Radius of the smallest cap that encloses all tokens.

use super::Observable;
use crate::sphere::cap::cap_radius;

/// In radians; pi when no open hemisphere contains all tokens.
pub static ENTRY: Observable = Observable {
    name: "cap-radius",
    summary: "Radius of the smallest enclosing cap in radians; pi when the tokens are in no open hemisphere.",
    needs_unit_vectors: true,
    columns: |_| vec!["cap_radius".into()],
    measure: |_, frame, row| row.push(cap_radius(frame.tokens).unwrap_or(std::f64::consts::PI)),
    batch: None,
};
