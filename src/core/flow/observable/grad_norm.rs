//! Norm of the gradient of the energy, on a scale that does not overflow.

use super::Observable;
use crate::attention::{Energy, EnergyScale};

/// log10 of the gradient norm of the energy times `e^{-beta}` ([`EnergyScale::Shifted`]).
pub static ENTRY: Observable = Observable {
    name: "grad-norm",
    summary: "The log10 of the gradient norm of the shifted energy (factor e^{-beta}). With an interaction: of its energy over max |phi|.",
    needs_unit_vectors: true,
    columns: |_| vec!["log10_grad_norm".into()],
    measure: |s, frame, row| {
        let log = match frame.dynamics.pair_energy() {
            Some(energy) => energy.log_grad_norm(frame.tokens),
            None => Energy::new(s.beta, EnergyScale::Shifted).log_grad_norm(frame.tokens),
        };
        row.push(log / std::f64::consts::LN_10)
    },
    batch: None,
};
