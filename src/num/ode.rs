//! Ordinary differential equations by `ode_solvers`' Dop853, behind one function: an independent
//! second solver.

use crate::error::{Error, Result};
use ode_solvers::{DVector, Dop853, System, dop_shared::OutputType};

/// A trait object, so that the integrator is compiled once and not for every equation.
struct Field<'a>(&'a dyn Fn(&[f64], &mut [f64]));

impl System<f64, DVector<f64>> for Field<'_> {
    fn system(&self, _t: f64, y: &DVector<f64>, dy: &mut DVector<f64>) {
        (self.0)(y.as_slice(), dy.as_mut_slice());
    }
}

/// The state after time `t` of `y' = f(y)` from `y0` (order 8, error per step
/// `tolerance.0 |y| + tolerance.1`). Uses sparse output and no stiffness test: with the defaults,
/// observers get a stale state and stiffness stops the run.
///
/// **Errors** the step size becomes too small, more than `max_steps` steps.
///
/// ```
/// let y = metastable::num::ode::advance(|y, dy| { dy[0] = y[1]; dy[1] = -y[0]; }, &[0.0, 1.0], 1.0, (1e-12, 1e-12), 1000).unwrap();
/// assert!((y[0] - 1f64.sin()).abs() < 1e-11);
/// ```
pub fn advance(
    f: impl Fn(&[f64], &mut [f64]),
    y0: &[f64],
    t: f64,
    tolerance: (f64, f64),
    max_steps: u32,
) -> Result<Vec<f64>> {
    if t == 0.0 {
        return Ok(y0.to_vec());
    }
    let h0 = (1e-3 * t).min(1e-3);
    let y0 = DVector::from_row_slice(y0);
    let mut stepper = Dop853::from_param(
        Field(&f),
        0.0,
        t,
        0.0,
        y0,
        tolerance.0,
        tolerance.1,
        0.9,
        0.0,
        0.333,
        6.0,
        t,
        h0,
        max_steps,
        u32::MAX,
        OutputType::Sparse,
    );
    stepper
        .integrate()
        .map_err(|e| Error::Numerical { what: format!("the integrator stopped: {e}") })?;
    let end = stepper.y_out().last().map(|y| y.as_slice().to_vec());
    end.ok_or_else(|| Error::Numerical { what: "the integrator returned no state".into() })
}
