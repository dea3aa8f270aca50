//! The two sums per token of plain attention, with their errors.

use super::job::Job;

/// Masses below this may have lost their largest weights to underflow.
pub const FLOOR: f64 = 1e-200;

/// Per token `z_i = sum_j m_j w_ij` with `w_ij = e^{beta G_ij - |beta|}`, and the errors of the drift
/// `sum_j m_j w_ij x_j - sigma z_i x_i` (up to multiples of `x_i` when the job said `far`), which is written to where velocities will stand.
#[derive(Default)]
pub struct Sums {
    /// `z_i`.
    pub mass: Vec<f64>,
    /// `<x_i, drift>` where it is known already, or nothing.
    pub radial: Vec<f64>,
    /// What multiplies `z_i x_i` in the drift.
    pub sigma: f64,
    /// Absolute error of a drift row (beyond its relative rounding), in units of `z_i`.
    pub per_mass: f64,
    /// Absolute error of a drift row and of a mass, in units of the total mass.
    pub absolute: f64,
    /// A mass below this may have lost its largest weights to underflow: such rows are evaluated again.
    pub floor: f64,
}

impl Sums {
    /// Error per mass, absolute error, floor.
    pub fn bounds(&self) -> [f64; 3] {
        [self.per_mass, self.absolute, self.floor]
    }

    /// Room for the tokens of a job, exact differences until told otherwise.
    pub fn reset(&mut self, job: &Job) {
        self.mass.resize(job.tokens.n(), 0.0);
        self.radial.clear();
        self.sigma = if job.beta < 0.0 { -1.0 } else { 1.0 };
        (self.per_mass, self.absolute, self.floor) = (0.0, 0.0, FLOOR);
    }
}
