//! A gated recurrent unit (GRU) with the reset gate before the matrix.

use crate::recurrent::cell::{CellLayer, Gate, RecurrentCell};
use crate::recurrent::trace::{Trace, Var};
use crate::recurrent::{NamedMap, ReceptiveField, one_layer};

/// The reset gate multiplies the state, then the matrix acts.
pub static ENTRY: NamedMap = NamedMap {
    name: "gru-v1",
    summary: "R, Z = sig(W x + U h + b); H~ = tanh(W x + U (R*h) + b); h+ = Z*h + (1-Z)*H~",
    citation: "arXiv:1406.1078 (v1)",
    receptive_field: ReceptiveField::Before,
    unit: one_layer,
    build: |spec| Box::new(CellLayer(Gru::normal(spec.seed, spec.d, spec.gain, false))),
};

/// The cell.
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
            let (own, bias) = (trace.matrix(&self.candidate.state, state), trace.constant(&self.candidate.bias));
            let own = trace.sum(own, 1.0, bias);
            let own = trace.product(reset, own);
            let read = trace.matrix(&self.candidate.input, input);
            trace.sum(read, 1.0, own)
        } else {
            let own = trace.product(reset, state);
            self.candidate.record(trace, input, own)
        };
        let candidate = trace.tanh(before);
        let (kept, rest) = (trace.product(update, state), trace.one_minus(update));
        let new = trace.product(rest, candidate);
        trace.sum(kept, 1.0, new)
    }
}
