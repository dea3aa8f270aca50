//! An independent integrator (`ode_solvers`' Dop853 on ambient coordinates) that confirms
//! trajectories.

use crate::attention::{Dynamics, kernel::Workspace};
use crate::error::Result;
use crate::num::ode::advance;
use crate::sphere::Tokens;
use std::cell::RefCell;

/// The tokens' numbers at `t_end`, started from `start`, by the independent integrator and without
/// merging. The weights of `dynamics` must not depend on time.
pub fn solve_independently(
    dynamics: &Dynamics,
    start: &Tokens,
    t_end: f64,
    rtol: f64,
) -> Result<Vec<f64>> {
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
