//! The traits of maps (stacks of layers on n rows) and of recurrent cells (which pass a state from
//! row to row).

use super::trace::{LinearisedTrace, Trace, Var};
use crate::error::{Error, Result, in_range};

/// A recurrent cell with a state of `width()` numbers, the first of which are its output.
pub trait RecurrentCell: Send + Sync {
    /// Length of the state.
    fn width(&self) -> usize;
    /// Length of an input.
    fn input_width(&self) -> usize;
    /// Records the next state.
    fn next<'a>(&'a self, trace: &mut Trace<'a>, input: Var, state: Var) -> Var;
}

/// A stack of layers on n rows.
pub trait TokenMap: Send + Sync {
    /// Records one layer, which maps n rows to n rows.
    fn record<'a>(&'a self, layer: usize, trace: &mut Trace<'a>, rows: &[Var]) -> Vec<Var>;

    /// The recurrent cell of the map, if it has one. Growth rates are then measured over rows, not
    /// over layers.
    fn cell(&self) -> Option<&dyn RecurrentCell> {
        None
    }
}

/// A layer of a map, linearised at rows of d numbers.
pub fn linearise_layer<'a>(
    map: &'a dyn TokenMap,
    layer: usize,
    d: usize,
    x: &[f64],
) -> LinearisedTrace<'a> {
    let mut trace = Trace::default();
    let rows: Vec<Var> = x.chunks_exact(d).map(|row| trace.input(row)).collect();
    let out = map.record(layer, &mut trace, &rows);
    LinearisedTrace::new(trace, out)
}

/// The rows on which an output row can depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReceptiveField {
    /// The row itself.
    Itself,
    /// The row itself and earlier rows.
    Before,
    /// Neighbouring rows, one more on each side per layer.
    Neighbours,
    /// All rows.
    All,
}

impl ReceptiveField {
    /// Whether row i can depend on row j after this number of layers.
    pub fn allows(self, layers: usize, i: usize, j: usize) -> bool {
        match self {
            Self::Itself => i == j,
            Self::Before => j <= i,
            Self::Neighbours => i.abs_diff(j) <= layers,
            Self::All => true,
        }
    }
}

/// The sizes of a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapSpec {
    /// Number of rows.
    pub n: usize,
    /// Length of a row.
    pub d: usize,
    /// Number of layers.
    pub layers: usize,
    /// Gain: the entries of the weights have the variance `gain^2 / d`.
    pub gain: f64,
    /// Seed of the weights.
    pub seed: u64,
}

impl MapSpec {
    /// Checks the sizes. **Errors** sizes outside the ranges of the maps.
    pub fn checked(self) -> Result<Self> {
        let count = |name: &str, v: usize, low: usize, high: usize| {
            if (low..=high).contains(&v) {
                Ok(())
            } else {
                Err(Error::parameter(name, v, format!("a whole number in [{low}, {high}]")))
            }
        };
        count("n", self.n, 1, 256)?;
        count("d", self.d, 1, 256)?;
        count("layers", self.layers, 1, 1000)?;
        // A trace stores n^2 weights, a Jacobian n d columns.
        count("n * d", self.n * self.d, 1, 1024)?;
        in_range("gain", self.gain, 0.0, 100.0)?;
        Ok(self)
    }
}

/// A registered map.
pub struct NamedMap {
    /// Name of the map.
    pub name: &'static str,
    /// The formula of a layer.
    pub summary: &'static str,
    /// Its source.
    pub citation: &'static str,
    /// Its receptive field.
    pub receptive_field: ReceptiveField,
    /// Number of layers in a unit of time, for a map with the given number of layers.
    pub unit: fn(usize) -> f64,
    /// Builds the map with normally distributed weights.
    pub build: fn(&MapSpec) -> Box<dyn TokenMap>,
}

/// The unit of time of maps in which one layer is one unit.
pub fn one_layer(_: usize) -> f64 {
    1.0
}

/// A matrix of normally distributed numbers with the standard deviation `gain / sqrt(columns)`.
pub fn normal_matrix(
    seed: u64,
    name: &str,
    (rows, columns): (usize, usize),
    gain: f64,
) -> Vec<f64> {
    let mut out = vec![0.0; rows * columns];
    crate::num::stream::Stream::new(seed, &["map", name]).normals(&mut out);
    let size = gain / (columns as f64).sqrt();
    out.iter_mut().for_each(|v| *v *= size);
    out
}
