//! A gated recurrent unit that resets its state after the matrix.

use super::gru_v1::Gru;
use crate::recurrent::cell::Reading;
use crate::recurrent::{Hears, NamedMap, one_layer};

/// The matrix and its bias come first, then the reset gate: what libraries compute.
pub static ENTRY: NamedMap = NamedMap {
    name: "gru-v3",
    summary: "R, Z = sig(W x + U h + b); H~ = tanh(W x + R*(U h + b)); h+ = Z*h + (1-Z)*H~",
    citation: "arXiv:1406.1078 (v3)",
    hears: Hears::Before,
    unit: one_layer,
    build: |spec| Box::new(Reading(Gru::normal(spec.seed, spec.d, spec.gain, true))),
};
