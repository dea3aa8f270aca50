//! The second, independent integrator: `ode_solvers`' Dop853 on ambient coordinates, used to confirm trajectories, and on
//! scalar equations for the reduced models of `theory`.

use crate::attention::Dynamics;
use crate::error::{Error, Result};
use crate::sphere::{Tokens, geometry::retract};
use ode_solvers::{DVector, Dop853, System, dop_shared::OutputType};

struct Ambient<'a> {
    dynamics: &'a dyn Dynamics,
    start: &'a Tokens,
}

impl System<f64, DVector<f64>> for Ambient<'_> {
    fn system(&self, _t: f64, y: &DVector<f64>, dy: &mut DVector<f64>) {
        let d = self.start.d();
        let mut x = y.as_slice().to_vec();
        x.chunks_exact_mut(d).for_each(|r| {
            retract(r);
        });
        let tokens = Tokens::from_parts(d, x, self.start.masses().to_vec());
        self.dynamics.velocity(&tokens, dy.as_mut_slice());
    }
}

struct Scalar<F: Fn(f64) -> f64>(F);

impl<F: Fn(f64) -> f64> System<f64, DVector<f64>> for Scalar<F> {
    fn system(&self, _t: f64, y: &DVector<f64>, dy: &mut DVector<f64>) {
        dy[0] = (self.0)(y[0]);
    }
}

/// Integrates with `ode_solvers` and returns the last state. Sparse output and no stiffness test: its defaults hand observers a stale
/// state and stop on stiffness.
fn integrate(system: impl System<f64, DVector<f64>>, y0: DVector<f64>, t_end: f64, rtol: f64, atol: f64) -> Result<Vec<f64>> {
    if t_end == 0.0 {
        return Ok(y0.as_slice().to_vec());
    }
    let h0 = (1e-3 * t_end).min(1e-3);
    let mut stepper = Dop853::from_param(
        system,
        0.0,
        t_end,
        0.0,
        y0,
        rtol,
        atol,
        0.9,
        0.0,
        0.333,
        6.0,
        t_end,
        h0,
        1_000_000,
        u32::MAX,
        OutputType::Sparse,
    );
    stepper.integrate().map_err(|e| Error::Numerical { what: format!("the second integrator stopped: {e}") })?;
    stepper
        .y_out()
        .last()
        .map(|y| y.as_slice().to_vec())
        .ok_or_else(|| Error::Numerical { what: "the second integrator returned no state".into() })
}

/// Final coordinates of `dynamics` from `start` after `t_end`, by the second integrator, without coalescence.
pub fn confirm(dynamics: &dyn Dynamics, start: &Tokens, t_end: f64, rtol: f64) -> Result<Vec<f64>> {
    let y0 = DVector::from_row_slice(start.coordinates());
    let mut y = integrate(Ambient { dynamics, start }, y0, t_end, rtol, rtol)?;
    y.chunks_exact_mut(start.d()).for_each(|r| {
        retract(r);
    });
    Ok(y)
}

/// Value at `t` of the solution of `y' = f(y)`, `y(0) = y0`.
///
/// ```
/// let y = metastable::flow::second::scalar(|y| -y, 1.0, 2.0, 1e-12).unwrap();
/// assert!((y - (-2f64).exp()).abs() < 1e-11);
/// ```
pub fn scalar(f: impl Fn(f64) -> f64, y0: f64, t: f64, rtol: f64) -> Result<f64> {
    // Relative accuracy also for solutions that start at 0.
    Ok(integrate(Scalar(f), DVector::from_element(1, y0), t, rtol, rtol * 1e-6)?[0])
}
