//! The coefficients of an explicit Runge-Kutta method.

/// The coefficients of an explicit method.
#[derive(Clone, Copy, Debug)]
pub struct Tableau {
    /// Name on the command line.
    pub name: &'static str,
    /// Order of the propagated solution.
    pub order: u32,
    /// Source.
    pub citation: &'static str,
    /// Stages of one step; stage `stages` is the velocity at the end point.
    pub stages: usize,
    /// Row i holds the coefficients of stage i + 1; row `stages - 1` is the solution; later rows
    /// serve dense output.
    pub a: &'static [&'static [f64]],
    /// Error estimators; the second, if any, damps the first (Hairer's combination of orders 5 and
    /// 3).
    pub estimators: &'static [&'static [f64]],
    /// Coefficients of dense output beyond cubic Hermite interpolation.
    pub dense: &'static [&'static [f64]],
}
