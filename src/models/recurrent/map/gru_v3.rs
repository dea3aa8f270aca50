//! A gated recurrent unit (GRU) with the reset gate after the matrix.

use super::gru_v1::Gru;
use crate::recurrent::cell::CellLayer;
use crate::recurrent::{NamedMap, ReceptiveField, one_layer};

/// The reset gate multiplies the image of the state, after matrix and bias, as in common libraries.
pub static ENTRY: NamedMap = NamedMap {
    name: "gru-v3",
    summary: "R, Z = sig(W x + U h + b); H~ = tanh(W x + R*(U h + b)); h+ = Z*h + (1-Z)*H~",
    citation: "arXiv:1406.1078 (v3)",
    receptive_field: ReceptiveField::Before,
    unit: one_layer,
    build: |spec| Box::new(CellLayer(Gru::normal(spec.seed, spec.d, spec.gain, true))),
};
