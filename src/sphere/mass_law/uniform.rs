//! Equal masses.

use super::MassFamily;

/// `m_i = 1/n`.
pub static ENTRY: MassFamily =
    MassFamily { name: "uniform", summary: "equal masses 1/n", keys: &[], random: false, weights: |_, n, _| vec![1.0; n] };
