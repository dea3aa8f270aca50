//! One heavy token among equal ones.

use super::MassFamily;

/// `m_1 = share`, the others `(1 - share)/(n - 1)`; a single token has mass 1.
pub static ENTRY: MassFamily = MassFamily {
    name: "one-heavy",
    summary: "token 1 has this share of the mass, the others share the rest equally",
    keys: &[("share", 0.5, 1e-9, 0.999_999_999, "mass of token 1")],
    random: false,
    weights: |values, n, _| {
        let rest = (1.0 - values[0]) / (n.max(2) - 1) as f64;
        (0..n).map(|i| if i == 0 { values[0] } else { rest }).collect()
    },
};
