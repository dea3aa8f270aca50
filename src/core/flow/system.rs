//! Systems of ordinary differential equations.

use crate::error::Result;

/// A system `y' = f(t, y)` on a manifold embedded in R^N.
pub trait OdeSystem {
    /// Writes `f(t, y)` into `dy`, which has the length of `y`.
    ///
    /// **Errors** end the integration. Non-finite rates do not: the step is attempted again with a
    /// tenth of its length, up to eight times in a row.
    fn rates(&mut self, t: f64, y: &[f64], dy: &mut [f64]) -> Result<()>;

    /// Retracts a stage or the end of a step to the manifold (tokens to the sphere); does nothing
    /// by default.
    fn retract(&self, y: &mut [f64]) {
        let _ = y;
    }

    /// Length of the block of numbers that starts at index `start`. The error of a step is the
    /// largest Euclidean norm of the error of a block (a token, a coefficient). By default all
    /// numbers are one block.
    fn block(&self, start: usize) -> usize {
        let _ = start;
        usize::MAX
    }
}
