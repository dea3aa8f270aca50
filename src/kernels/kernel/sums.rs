//! The two sums per token of plain attention, with error bounds.

use super::problem::KernelProblem;
use super::weight::Weight;

/// A smaller mass may have lost its largest weights to underflow.
pub const MASS_FLOOR: f64 = 1e-200;

/// The unit of sums, their error bounds, and the least mass.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// What a weight of 1 in the sums stands for.
    pub unit: f64,
    /// Absolute error of a drift row, in units of its mass (in addition to its relative rounding).
    pub per_mass: f64,
    /// Absolute error of a drift row and of a mass, in units of the total mass.
    pub absolute: f64,
    /// Rows with a smaller mass are flagged: underflow may have removed their largest weights, or
    /// its error is too large to divide by it.
    pub floor: f64,
}

impl Default for Bounds {
    /// Exact sums of `e^{beta s - |beta|}`.
    fn default() -> Self {
        Self { unit: 1.0, per_mass: 0.0, absolute: 0.0, floor: MASS_FLOOR }
    }
}

/// Masses `z_i = sum_j m_j w_ij` with `w_ij = e^{beta G_ij - |beta|}` or `phi(G_ij)` in its unit,
/// and error bounds of the drifts `sum_j m_j w_ij x_j - sigma z_i x_i` (for two-sided problems up to
/// multiples of `x_i`). The drifts themselves are in the output buffer.
#[derive(Default)]
pub struct Sums {
    /// `z_i`.
    pub mass: Vec<f64>,
    /// `<x_i, drift_i>` if the kernel has computed it, else empty.
    pub radial: Vec<f64>,
    /// The factor of `z_i x_i` in the drift.
    pub sigma: f64,
    /// Unit and error bounds.
    pub bounds: Bounds,
}

impl Sums {
    /// Resizes for the tokens of a problem and sets the bounds of exact differences.
    pub fn reset(&mut self, problem: &KernelProblem) {
        self.mass.resize(problem.tokens.n(), 0.0);
        self.radial.clear();
        self.sigma = if problem.beta() < 0.0 { -1.0 } else { 1.0 };
        self.bounds = match problem.weight {
            Weight::Exponential { .. } => Bounds::default(),
            Weight::Series { series, .. } => {
                Bounds { unit: series.factor, floor: f64::NEG_INFINITY, ..Bounds::default() }
            }
        };
    }

    /// [`Sums::reset`] for sums without the term of `x_i`, with these bounds.
    pub fn reset_to_sums(&mut self, problem: &KernelProblem, bounds: Bounds) {
        self.reset(problem);
        (self.sigma, self.bounds) = (0.0, bounds);
    }
}
