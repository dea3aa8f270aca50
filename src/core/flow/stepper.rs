//! What moves a state by a step: the trait of all methods, and of one's own.

use super::ode_system::OdeSystem;
use super::rows::{blocks, largest_row};
use super::tableau::Tableau;
use crate::error::Result;

/// A step that was tried: from where, when, and to where.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'y> {
    /// Time at the start.
    pub t: f64,
    /// The state at the start.
    pub start: &'y [f64],
    /// The state at the end.
    pub end: &'y [f64],
}

/// A method of integration. Only [`step`](Stepper::step) must be written; everything else has a
/// default.
///
/// The loop asks for steps, judges them by [`order`](Stepper::order) and the tolerance, takes the
/// good ones and then calls [`accept`](Stepper::accept).
///
/// ```
/// use metastable::{attention::{dynamics, Spec}, error::Result, flow::{Integrator, OdeSystem, Options, Stepper, solve}, sphere::Tokens};
/// /// Heun's method of order 2, its error estimated by Euler's.
/// struct Heun;
/// impl Stepper for Heun {
///     fn step(&mut self, f: &mut dyn OdeSystem, t: f64, y: &[f64], h: f64, end: &mut [f64]) -> Result<f64> {
///         let (mut first, mut last) = (vec![0.0; y.len()], vec![0.0; y.len()]);
///         f.rates(t, y, &mut first)?;
///         (0..y.len()).for_each(|c| end[c] = y[c] + h * first[c]);
///         f.retract(end);
///         f.rates(t + h, end, &mut last)?;
///         (0..y.len()).for_each(|c| end[c] = y[c] + 0.5 * h * (first[c] + last[c]));
///         f.retract(end);
///         Ok(first.iter().zip(&last).map(|(a, b)| 0.5 * h * (b - a).abs()).fold(0.0, f64::max))
///     }
///     fn order(&self) -> Option<u32> { Some(2) }
/// }
/// impl Integrator for Heun {
///     fn name(&self) -> &'static str { "heun" }
///     fn stepper(&self) -> Box<dyn Stepper> { Box::new(Heun) }
/// }
/// let sa = dynamics::build("sa", false, &Spec::new(2.0, 3))?;
/// let x = Tokens::from_angles(&[0.0, 1.0, 2.5])?;
/// let own = solve(&sa, &x, 1.0, &Options { integrator: &Heun, rtol: 1e-5, ..Options::default() }, &mut [])?;
/// let fine = solve(&sa, &x, 1.0, &Options::default(), &mut [])?;
/// assert!(own.clusters.angles().iter().zip(fine.clusters.angles()).all(|(a, b)| (a - b).abs() < 1e-4));
/// # Ok::<(), metastable::error::Error>(())
/// ```
pub trait Stepper {
    /// Tries a step of length `h` from the state `y` at time `t`: writes its end, brought back to
    /// the manifold, and returns the largest error estimate of a block (0 without one), NaN when
    /// something is not finite.
    ///
    /// **Errors** those of the rates.
    fn step(&mut self, system: &mut dyn OdeSystem, t: f64, y: &[f64], h: f64, end: &mut [f64]) -> Result<f64>;

    /// Order by which the next step is chosen; `None`: there is no estimate of the error, steps have
    /// the length that is asked for and are taken as they are.
    fn order(&self) -> Option<u32> {
        None
    }

    /// The next step starts from `y` (perhaps of another length) at time `t`, which is not where
    /// the last one ended: at the beginning, after a merger, where weights jump.
    fn restart(&mut self, system: &mut dyn OdeSystem, t: f64, y: &[f64]) -> Result<()> {
        let _ = (system, t, y);
        Ok(())
    }

    /// The next step starts where the last one ended, at `y` and time `t`.
    fn accept(&mut self, system: &mut dyn OdeSystem, t: f64, y: &[f64]) -> Result<()> {
        self.restart(system, t, y)
    }

    /// The rates at the start, where the method knows them: they show states at rest and steps that
    /// no longer move anything.
    fn rates(&self) -> &[f64] {
        &[]
    }

    /// True when the points inside a step are known, not only its ends: then samples, mergers and events are located there.
    fn is_dense(&self) -> bool {
        false
    }

    /// Writes the state at the share `theta` of the last step tried, if that is known.
    fn interpolate(&mut self, system: &mut dyn OdeSystem, step: Segment, theta: f64, out: &mut [f64]) -> Result<()> {
        let _ = (system, step, theta, out);
        Ok(())
    }

    /// The largest way of a block in the last step tried.
    fn displacement(&self, system: &dyn OdeSystem, start: &[f64], end: &[f64]) -> f64 {
        largest_row(end.len(), blocks(system, end.len()), |c| end[c] - start[c])
    }

    /// Index of the first number that was not finite in the last step tried.
    fn first_nonfinite(&self, end: &[f64]) -> Option<usize> {
        end.iter().position(|v| !v.is_finite())
    }

    /// Rates evaluated so far.
    fn evaluations(&self) -> u64 {
        0
    }
}

/// A method by which runs step.
pub trait Integrator: Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// A stepper before its first step.
    fn stepper(&self) -> Box<dyn Stepper>;

    /// The explicit method behind it, when it is nothing else: many small systems then go in lanes.
    fn tableau(&self) -> Option<&Tableau> {
        None
    }
}
