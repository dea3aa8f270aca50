//! Interaction energy of the tokens.

use super::Observable;
use crate::attention::{Energy, EnergyScale};

/// `(1/(2 beta)) sum_ij m_i m_j e^{beta <x_i, x_j>}`; infinite when it exceeds f64.
pub static ENTRY: Observable = Observable {
    name: "energy",
    summary: "The energy (1/(2 beta)) sum m_i m_j e^{beta G}, or (1/2) sum m_i m_j W(G) with an interaction phi = W'; infinite when it exceeds f64.",
    needs_unit_vectors: true,
    columns: |_| vec!["energy".into()],
    measure: |s, frame, row| {
        row.push(match frame.dynamics.pair_energy() {
            Some(energy) => energy.value(frame.tokens),
            None => {
                Energy::new(s.beta, EnergyScale::Mean).value(frame.tokens).unwrap_or(f64::INFINITY)
            }
        })
    },
    batch: None,
};
