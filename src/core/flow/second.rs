//! The second, independent integrator: `ode_solvers`' Dop853 on ambient coordinates, used to confirm trajectories, and on
//! scalar equations for the reduced models of `theory`.

use crate::attention::{Dynamics, kernel::Workspace};
use crate::error::Result;
use crate::num::ode::advance;
use crate::sphere::Tokens;
use std::cell::RefCell;

/// Final numbers of `dynamics` with weights that do not depend on time from `start` after `t_end`, by the second integrator, without coalescence.
pub fn confirm(dynamics: &Dynamics, start: &Tokens, t_end: f64, rtol: f64) -> Result<Vec<f64>> {
    let (n, d, space) = (start.n(), start.d(), start.space());
    let settled = |y: &[f64]| {
        let mut x = y.to_vec();
        let _ = space.settle(d, n, &mut x);
        x
    };
    let state = RefCell::new((start.clone(), Workspace::default()));
    let field = |y: &[f64], dy: &mut [f64]| {
        let (tokens, work) = &mut *state.borrow_mut();
        tokens.numbers_mut().copy_from_slice(&settled(y));
        dynamics.rates(0.0, tokens, work, dy);
    };
    Ok(settled(&advance(field, start.numbers(), t_end, (rtol, rtol), 1_000_000)?))
}

/// Value at `t` of the solution of `y' = f(y)`, `y(0) = y0`.
///
/// ```
/// let y = metastable::flow::second::scalar(|y| -y, 1.0, 2.0, 1e-12).unwrap();
/// assert!((y - (-2f64).exp()).abs() < 1e-11);
/// ```
pub fn scalar(f: impl Fn(f64) -> f64, y0: f64, t: f64, rtol: f64) -> Result<f64> {
    // Relative accuracy also for solutions that start at 0.
    Ok(advance(|y, dy| dy[0] = f(y[0]), &[y0], t, (rtol, rtol * 1e-6), 1_000_000)?[0])
}
