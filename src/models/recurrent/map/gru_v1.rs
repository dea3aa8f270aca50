//! A gated recurrent unit (GRU) with the reset gate before the matrix.

use crate::recurrent::cell::{CellLayer, Gate, RecurrentCell};
use crate::recurrent::trace::{Trace, Var};
use crate::recurrent::{NamedMap, ReceptiveField, one_layer};

/// The candidate is computed from the state times the reset gate.
pub static ENTRY: NamedMap = NamedMap {
    name: "gru-v1",
    summary: "R, Z = sig(W x + U h + b); H~ = tanh(W x + U (R*h) + b); h+ = Z*h + (1-Z)*H~",
    citation: "arXiv:1406.1078 (v1)",
    receptive_field: ReceptiveField::Before,
    unit: one_layer,
    build: |spec| Box::new(CellLayer(Gru::normal(spec.seed, spec.d, spec.gain, false))),
};

/// A GRU cell of either version.
#[derive(Clone, Debug)]
pub struct Gru {
    /// R before `sig`.
    pub reset: Gate,
    /// Z before `sig`.
    pub update: Gate,
    /// `H~` before `tanh`.
    pub candidate: Gate,
    /// Whether the reset gate acts after the matrix: `R * (U h + b)`.
    pub after: bool,
}

impl Gru {
    /// With normally distributed weights.
    pub fn normal(seed: u64, d: usize, gain: f64, after: bool) -> Self {
        let gate = |name: &str| Gate::normal(seed, name, d, gain);
        Self { reset: gate("reset"), update: gate("update"), candidate: gate("candidate"), after }
    }
}

impl RecurrentCell for Gru {
    fn width(&self) -> usize {
        self.reset.bias.len()
    }

    fn input_width(&self) -> usize {
        self.reset.bias.len()
    }

    fn next<'a>(&'a self, trace: &mut Trace<'a>, input: Var, state: Var) -> Var {
        let reset = self.reset.record(trace, input, state);
        let reset = trace.sigmoid(reset);
        let update = self.update.record(trace, input, state);
        let update = trace.sigmoid(update);
        let before = if self.after {
            let (recurrent, bias) =
                (trace.matrix(&self.candidate.state, state), trace.constant(&self.candidate.bias));
            let recurrent = trace.sum(recurrent, 1.0, bias);
            let recurrent = trace.product(reset, recurrent);
            let from_input = trace.matrix(&self.candidate.input, input);
            trace.sum(from_input, 1.0, recurrent)
        } else {
            let state = trace.product(reset, state);
            self.candidate.record(trace, input, state)
        };
        let candidate = trace.tanh(before);
        let (old_part, new_share) = (trace.product(update, state), trace.one_minus(update));
        let new = trace.product(new_share, candidate);
        trace.sum(old_part, 1.0, new)
    }
}
