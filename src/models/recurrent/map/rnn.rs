//! The simplest recurrent cell: one affine map and tanh.

use crate::recurrent::cell::{CellLayer, Gate, RecurrentCell};
use crate::recurrent::trace::{Trace, Var};
use crate::recurrent::{NamedMap, ReceptiveField, one_layer};

/// `h+ = tanh(W x + U h + b)`; `dh+/dh = diag(1 - (h+)^2) U`.
pub static ENTRY: NamedMap = NamedMap {
    name: "rnn",
    summary: "h_t = tanh(W x_t + U h_{t-1} + b)",
    citation: "Elman, Finding structure in time, Cognitive Science 14 (1990)",
    receptive_field: ReceptiveField::Before,
    unit: one_layer,
    build: |spec| {
        Box::new(CellLayer(Rnn { gate: Gate::normal(spec.seed, "rnn", spec.d, spec.gain) }))
    },
};

/// The cell.
#[derive(Clone, Debug)]
pub struct Rnn {
    /// The argument of `tanh`.
    pub gate: Gate,
}

impl RecurrentCell for Rnn {
    fn width(&self) -> usize {
        self.gate.bias.len()
    }

    fn input_width(&self) -> usize {
        self.gate.bias.len()
    }

    fn next<'a>(&'a self, trace: &mut Trace<'a>, input: Var, state: Var) -> Var {
        let sum = self.gate.record(trace, input, state);
        trace.tanh(sum)
    }
}
