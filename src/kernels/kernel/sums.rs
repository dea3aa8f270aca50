//! The two sums per token of plain attention, with error bounds.

use super::bounds::Bounds;
use super::problem::KernelProblem;
use super::weight::Weight;

/// Masses `z_i = sum_j m_j w_ij` with `w_ij = e^{beta G_ij - |beta|}` or `phi(G_ij)` in its unit,
/// and error bounds of the drifts `sum_j m_j w_ij x_j - sigma z_i x_i` (for two-sided problems up
/// to multiples of `x_i`). The drifts themselves are in the output buffer.
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
