//! Recurrent cells: parts, and the maps made of them.

pub use super::token_map::RecurrentCell;
use super::token_map::{TokenMap, normal_matrix};
use super::trace::{Trace, Var};
use crate::num::stream::Stream;

/// `W x + U h + b`.
#[derive(Clone, Debug)]
pub struct Gate {
    /// W, row-major.
    pub input: Vec<f64>,
    /// U, row-major.
    pub state: Vec<f64>,
    /// b.
    pub bias: Vec<f64>,
}

impl Gate {
    /// Normal matrices of variance `1/d` and `gain^2/d`, no bias.
    pub fn normal(seed: u64, name: &str, d: usize, gain: f64) -> Self {
        let input = normal_matrix(seed, &format!("{name} input"), (d, d), 1.0);
        Self {
            input,
            state: normal_matrix(seed, &format!("{name} state"), (d, d), gain),
            bias: vec![0.0; d],
        }
    }

    /// Records the value.
    pub fn record<'a>(&'a self, trace: &mut Trace<'a>, x: Var, h: Var) -> Var {
        let (a, b, c) = (
            trace.matrix(&self.input, x),
            trace.matrix(&self.state, h),
            trace.constant(&self.bias),
        );
        let sum = trace.sum(a, 1.0, b);
        trace.sum(sum, 1.0, c)
    }
}

/// The layer of a cell: row t of the result is the output of the cell after rows 1 to t, from the
/// state 0.
pub struct CellLayer<C>(pub C);

impl<C: RecurrentCell> TokenMap for CellLayer<C> {
    fn record<'a>(&'a self, _: usize, trace: &mut Trace<'a>, rows: &[Var]) -> Vec<Var> {
        let mut state = trace.constant(&vec![0.0; self.0.width()]);
        let mut out = Vec::with_capacity(rows.len());
        for row in rows {
            state = self.0.next(trace, *row, state);
            out.push(trace.part(state, 0, self.0.input_width()));
        }
        out
    }

    fn cell(&self) -> Option<&dyn RecurrentCell> {
        Some(&self.0)
    }
}

/// The evolution of the state of a cell in time, as a map of one row of `width()` numbers. Each
/// step reads a normally distributed input of its own.
pub struct CellInTime<'c> {
    /// The cell.
    pub cell: &'c dyn RecurrentCell,
    /// Standard deviation of the inputs.
    pub size: f64,
    /// Seed of the inputs.
    pub seed: u64,
}

impl TokenMap for CellInTime<'_> {
    fn record<'a>(&'a self, step: usize, trace: &mut Trace<'a>, rows: &[Var]) -> Vec<Var> {
        let mut input = vec![0.0; self.cell.input_width()];
        Stream::new(self.seed, &["input", &step.to_string()]).normals(&mut input);
        input.iter_mut().for_each(|v| *v *= self.size);
        let input = trace.constant(&input);
        rows.iter().map(|state| self.cell.next(trace, input, *state)).collect()
    }
}
