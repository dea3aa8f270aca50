//! The energy (1/2beta) sum m_i m_j e^{beta G}; infinite when it exceeds f64.

use super::Observable;
use crate::attention::{Energy, EnergyScale};

/// The energy (1/2beta) sum m_i m_j e^{beta G}; infinite when it exceeds f64.
pub static ENTRY: Observable = Observable {
    name: "energy",
    summary: "The energy (1/2beta) sum m_i m_j e^{beta G}; infinite when it exceeds f64.",
    needs_unit_vectors: true,
    columns: |_| vec!["energy".into()],
    measure: |s, frame, row| row.push(Energy::new(s.beta, EnergyScale::Mean).value(frame.tokens).unwrap_or(f64::INFINITY)),
    batch: None,
};
