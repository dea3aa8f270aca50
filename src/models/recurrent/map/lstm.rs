//! The recurrent cell of long short-term memory (LSTM).

use crate::recurrent::cell::{CellLayer, Gate, RecurrentCell};
use crate::recurrent::trace::{Trace, Var};
use crate::recurrent::{NamedMap, ReceptiveField, one_layer};

/// The state is h followed by c.
pub static ENTRY: NamedMap = NamedMap {
    name: "lstm",
    summary: "i, f, o = sig(W x + U h + b); g = tanh(W x + U h + b); c+ = f*c + i*g; h+ = o*tanh(c+)",
    citation: "Hochreiter and Schmidhuber, Neural Computation 9 (1997), with the forget gate of Gers, Schmidhuber and Cummins (2000)",
    receptive_field: ReceptiveField::Before,
    unit: one_layer,
    build: |spec| Box::new(CellLayer(Lstm::normal(spec.seed, spec.d, spec.gain))),
};

/// The cell.
#[derive(Clone, Debug)]
pub struct Lstm {
    /// i before `sig`.
    pub input: Gate,
    /// f before `sig`.
    pub forget: Gate,
    /// o before `sig`.
    pub output: Gate,
    /// g before `tanh`.
    pub candidate: Gate,
}

impl Lstm {
    /// With normally distributed weights.
    pub fn normal(seed: u64, d: usize, gain: f64) -> Self {
        let gate = |name: &str| Gate::normal(seed, name, d, gain);
        Self {
            input: gate("input"),
            forget: gate("forget"),
            output: gate("output"),
            candidate: gate("candidate"),
        }
    }
}

impl RecurrentCell for Lstm {
    fn width(&self) -> usize {
        2 * self.input_width()
    }

    fn input_width(&self) -> usize {
        self.input.bias.len()
    }

    fn next<'a>(&'a self, trace: &mut Trace<'a>, input: Var, state: Var) -> Var {
        let d = self.input_width();
        let (h, c) = (trace.part(state, 0, d), trace.part(state, d, d));
        let mut gate = |gate: &'a Gate| {
            let sum = gate.record(trace, input, h);
            trace.sigmoid(sum)
        };
        let (i, f, o) = (gate(&self.input), gate(&self.forget), gate(&self.output));
        let g = self.candidate.record(trace, input, h);
        let g = trace.tanh(g);
        let (old_part, new) = (trace.product(f, c), trace.product(i, g));
        let c = trace.sum(old_part, 1.0, new);
        let shown = trace.tanh(c);
        let h = trace.product(o, shown);
        trace.join(&[h, c])
    }
}
