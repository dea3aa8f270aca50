//! The two sums per token of plain attention, with error bounds.

use super::problem::KernelProblem;

/// A smaller mass may have lost its largest weights to underflow.
pub const MASS_FLOOR: f64 = 1e-200;

/// Masses `z_i = sum_j m_j w_ij` with `w_ij = e^{beta G_ij - |beta|}`, and error bounds of the
/// drifts `sum_j m_j w_ij x_j - sigma z_i x_i` (for two-sided problems up to multiples of `x_i`).
/// The drifts themselves are in the output buffer.
#[derive(Default)]
pub struct Sums {
    /// `z_i`.
    pub mass: Vec<f64>,
    /// `<x_i, drift_i>` if the kernel has computed it, else empty.
    pub radial: Vec<f64>,
    /// The factor of `z_i x_i` in the drift.
    pub sigma: f64,
    /// Absolute error of a drift row, in units of `z_i` (in addition to its relative rounding).
    pub per_mass: f64,
    /// Absolute error of a drift row and of a mass, in units of the total mass.
    pub absolute: f64,
    /// Rows with a smaller mass are flagged: underflow may have removed their largest weights.
    pub floor: f64,
}

impl Sums {
    /// `per_mass`, `absolute`, `floor`.
    pub fn bounds(&self) -> [f64; 3] {
        [self.per_mass, self.absolute, self.floor]
    }

    /// Resizes for the tokens of a problem and sets the bounds of exact differences.
    pub fn reset(&mut self, problem: &KernelProblem) {
        self.mass.resize(problem.tokens.n(), 0.0);
        self.radial.clear();
        self.sigma = if problem.beta < 0.0 { -1.0 } else { 1.0 };
        (self.per_mass, self.absolute, self.floor) = (0.0, 0.0, MASS_FLOOR);
    }
}
