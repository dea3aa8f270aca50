//! Logarithm of the energy, normalised to 0 at one cluster.

use super::Observable;
use crate::attention::{Energy, EnergyScale};

/// `log sum_ij m_i m_j e^{beta (<x_i, x_j> - 1)}`, for either sign of beta.
pub static ENTRY: Observable = Observable {
    name: "log-energy",
    summary: "The log of the unit energy sum m_i m_j e^{beta (G - 1)}: 0 at one cluster, negative for beta > 0, positive for beta < 0. With an interaction: the log of the energy over that of one cluster, NaN if the quotient is not positive.",
    needs_unit_vectors: true,
    columns: |_| vec!["log_energy".into()],
    measure: |s, frame, row| {
        row.push(match frame.dynamics.pair_energy() {
            Some(energy) => energy.log_unit(frame.tokens),
            None => Energy::new(s.beta, EnergyScale::Unit).log_unit(frame.tokens),
        })
    },
    batch: None,
};
