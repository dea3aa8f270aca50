//! What a map is: a stack of layers on n rows, recorded; and a cell, which passes a state on from row to row.

use super::trace::{LinearisedTrace, Trace, Var};
use crate::error::{Error, Result, in_range};

/// A cell with `width()` numbers of state; the first ones are what it shows.
pub trait RecurrentCell: Send + Sync {
    /// Numbers of the state.
    fn width(&self) -> usize;
    /// Numbers of an input.
    fn reads(&self) -> usize;
    /// Records the next state.
    fn next<'a>(&'a self, trace: &mut Trace<'a>, input: Var, state: Var) -> Var;
}

/// A stack of layers on n rows.
pub trait TokenMap: Send + Sync {
    /// Records one layer: n rows from n rows.
    fn record<'a>(&'a self, layer: usize, trace: &mut Trace<'a>, rows: &[Var]) -> Vec<Var>;

    /// The cell that passes its state on from row to row, where there is one: growth rates are then taken over rows, not over layers.
    fn cell(&self) -> Option<&dyn RecurrentCell> {
        None
    }
}

/// A layer of a map at rows of d numbers.
pub fn at<'a>(map: &'a dyn TokenMap, layer: usize, d: usize, x: &[f64]) -> LinearisedTrace<'a> {
    let mut trace = Trace::default();
    let rows: Vec<Var> = x.chunks_exact(d).map(|row| trace.input(row)).collect();
    let out = map.record(layer, &mut trace, &rows);
    LinearisedTrace::new(trace, out)
}

/// Which row can hear which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hears {
    /// Itself only.
    Itself,
    /// Itself and those before it.
    Before,
    /// Neighbours, one further with every layer.
    Neighbours,
    /// All.
    All,
}

impl Hears {
    /// Whether row i can hear row j after so many layers.
    pub fn allows(self, layers: usize, i: usize, j: usize) -> bool {
        match self {
            Self::Itself => i == j,
            Self::Before => j <= i,
            Self::Neighbours => i.abs_diff(j) <= layers,
            Self::All => true,
        }
    }
}

/// What a map is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapSpec {
    /// Rows.
    pub n: usize,
    /// Numbers of a row.
    pub d: usize,
    /// Layers.
    pub layers: usize,
    /// Size of the weights: their entries have the variance `gain^2 / d`.
    pub gain: f64,
    /// Seed of the weights.
    pub seed: u64,
}

impl MapSpec {
    /// **Errors** numbers that no map is made for.
    pub fn checked(self) -> Result<Self> {
        let count = |name: &str, v: usize, low: usize, high: usize| {
            if (low..=high).contains(&v) { Ok(()) } else { Err(Error::parameter(name, v, format!("a whole number in [{low}, {high}]"))) }
        };
        count("n", self.n, 1, 256)?;
        count("d", self.d, 1, 256)?;
        count("layers", self.layers, 1, 1000)?;
        // A trace holds n^2 weights, a Jacobian n d columns.
        count("n * d", self.n * self.d, 1, 1024)?;
        in_range("gain", self.gain, 0.0, 100.0)?;
        Ok(self)
    }
}

/// A registered map.
pub struct NamedMap {
    /// Name.
    pub name: &'static str,
    /// The formula of a layer.
    pub summary: &'static str,
    /// Where it is from.
    pub citation: &'static str,
    /// Which row can hear which.
    pub hears: Hears,
    /// Layers in a unit of time, of so many.
    pub unit: fn(usize) -> f64,
    /// Makes it, with normal weights.
    pub build: fn(&MapSpec) -> Box<dyn TokenMap>,
}

/// One layer is a unit of time.
pub fn one_layer(_: usize) -> f64 {
    1.0
}

/// Normal numbers of standard deviation `gain / sqrt(d)`.
pub fn normal_matrix(seed: u64, name: &str, (rows, columns): (usize, usize), gain: f64) -> Vec<f64> {
    let mut out = vec![0.0; rows * columns];
    crate::num::stream::Stream::new(seed, &["map", name]).normals(&mut out);
    let size = gain / (columns as f64).sqrt();
    out.iter_mut().for_each(|v| *v *= size);
    out
}
