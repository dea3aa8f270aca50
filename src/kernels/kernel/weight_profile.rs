//! What fast sums need to know of a weight phi: its size, its slope, and its series on the circle
//! and on S^2 with bounds of their errors.

use super::fast::series::Series;

/// What the fast sums need to know of a weight phi.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightProfile {
    /// The largest absolute value.
    pub size: f64,
    /// The largest slope of phi divided by its size; of `log phi` if `relative`. Infinite for a
    /// function that jumps: then only chords are used.
    pub steepness: f64,
    /// True if small weights have relative errors: phi is held by its logarithm.
    pub relative: bool,
    /// True if phi is negative somewhere.
    pub signed: bool,
    /// Error of one value, divided by the size (or by the value, if `relative`).
    pub rounding: f64,
    /// Nanoseconds of one value on one thread, for the choice only.
    pub cost: f64,
    /// The series on the circle of phi divided by its size.
    pub circle: Option<SeriesProfile>,
    /// The series on S^2 of phi divided by its size.
    pub sphere: Option<SeriesProfile>,
    /// The pieces between kinks on the circle, divided by the size of phi.
    pub arcs: Option<ArcsProfile>,
}

/// A series with its error.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesProfile {
    pub(super) series: Series,
    /// Error of the sums, in units of the total mass.
    pub(super) error: f64,
}

/// A weight by pieces.
#[derive(Clone, Debug, PartialEq)]
pub struct Arcs {
    /// The largest distance (angle) of each piece, ascending; the last one is pi.
    pub ends: Vec<f64>,
    /// The series of each piece on the whole circle.
    pub pieces: Vec<Series>,
}

/// Pieces on the circle with their error.
#[derive(Clone, Debug, PartialEq)]
pub struct ArcsProfile {
    pub(super) arcs: Arcs,
    /// Error of the sums, in units of the total mass.
    pub(super) error: f64,
}

impl ArcsProfile {
    /// From the pieces and the largest distance of each. Moments of arcs are differences of sums of
    /// all tokens, so every piece has its own error.
    pub fn new(arcs: Arcs) -> Self {
        let error = |s: &Series| {
            let terms = s.kernel.iter().enumerate().map(|(k, c)| (8.0 + 10.0 * k as f64) * c.abs());
            0.5 * f64::EPSILON * (16.0 + terms.sum::<f64>()) + 2.0 * s.tail
        };
        let error = arcs.pieces.iter().map(error).sum();
        Self { arcs, error }
    }

    /// Coefficients of all pieces.
    pub(super) fn order(&self) -> f64 {
        self.arcs.pieces.iter().map(|p| p.kernel.len() as f64).sum()
    }
}

/// Largest degree of a series on S^2: the moments of all parts take about 4 kB times its square.
pub const MAX_DEGREE: usize = 190;

impl SeriesProfile {
    /// The series on the circle. Each power of `e^{i theta}` adds a rounding error u, so
    /// coefficient k adds `k |c_k|`, as for the exponential.
    pub fn circle(series: Series) -> Self {
        let spread: f64 = series.kernel.iter().enumerate().map(|(k, c)| k as f64 * c.abs()).sum();
        let error = 0.5 * f64::EPSILON * (16.0 + 10.0 * spread) + 2.0 * series.tail;
        Self { series, error }
    }

    /// The series on S^2. The recurrences lose about one ulp per degree.
    pub fn sphere(series: Series) -> Self {
        let spread = |(l, c): (usize, &f64)| (l * (2 * l + 1)) as f64 * c.abs();
        let spread: f64 = series.kernel.iter().enumerate().map(spread).sum();
        let error = 0.5 * f64::EPSILON * (64.0 + 26.0 * spread) + 2.0 * series.tail;
        Self { series, error }
    }

    /// Number of coefficients.
    pub(super) fn order(&self) -> f64 {
        self.series.kernel.len() as f64
    }
}
