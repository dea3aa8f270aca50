//! Error bounds of sums, and their unit.

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
