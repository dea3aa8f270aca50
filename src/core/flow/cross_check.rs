//! An independent integrator (`ode_solvers`' Dop853 on ambient coordinates) that confirms
//! trajectories, and integrates scalar equations for the reduced models of `theory`.

use crate::attention::{Dynamics, kernel::Workspace};
use crate::error::Result;
use crate::num::ode::advance;
use crate::sphere::Tokens;
use std::cell::RefCell;

/// The tokens' numbers at `t_end`, started from `start`, by the independent integrator and without
/// merging. The weights of `dynamics` must not depend on time.
pub fn solve_independently(dynamics: &Dynamics, start: &Tokens, t_end: f64, rtol: f64) -> Result<Vec<f64>> {
    let (n, d, space) = (start.n(), start.d(), start.space());
    let retracted = |y: &[f64]| {
        let mut x = y.to_vec();
        let _ = space.retract_rows(d, n, &mut x);
        x
    };
    let state = RefCell::new((start.clone(), Workspace::default()));
    let field = |y: &[f64], dy: &mut [f64]| {
        let (tokens, work) = &mut *state.borrow_mut();
        tokens.numbers_mut().copy_from_slice(&retracted(y));
        dynamics.rates(0.0, tokens, work, dy);
    };
    Ok(retracted(&advance(field, start.numbers(), t_end, (rtol, rtol), 1_000_000)?))
}

/// Value at `t` of the solution of `y' = f(y)`, `y(0) = y0`.
///
/// ```
/// let y = metastable::flow::cross_check::solve_scalar_ode(|y| -y, 1.0, 2.0, 1e-12).unwrap();
/// assert!((y - (-2f64).exp()).abs() < 1e-11);
/// ```
pub fn solve_scalar_ode(f: impl Fn(f64) -> f64, y0: f64, t: f64, rtol: f64) -> Result<f64> {
    // The tolerances give relative accuracy also for solutions that start at 0.
    Ok(advance(|y, dy| dy[0] = f(y[0]), &[y0], t, (rtol, rtol * 1e-6), 1_000_000)?[0])
}
