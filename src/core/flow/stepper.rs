//! Steppers: the trait that every method of integration implements.

use super::block_norms::{blocks, max_block_norm};
use super::integrate::OdeSystem;
use super::tableau::Tableau;
use crate::error::Result;

/// An attempted step.
#[derive(Clone, Copy, Debug)]
pub struct StepAttempt<'y> {
    /// Time at the start.
    pub t: f64,
    /// The state at the start.
    pub start: &'y [f64],
    /// The state at the end.
    pub end: &'y [f64],
}

/// A method of integration. Only [`step`](Stepper::step) is required; all other methods have a
/// default.
///
/// The loop attempts steps, tests them by [`order`](Stepper::order) and the tolerance, and calls
/// [`accept`](Stepper::accept) after every accepted step.
///
/// ```
/// use metastable::{attention::{dynamics, Spec}, error::Result, sphere::Tokens};
/// use metastable::flow::{Integrator, OdeSystem, Options, Stepper, solve};
/// /// Heun's method of order 2, its error estimated by Euler's.
/// struct Heun;
/// impl Stepper for Heun {
///     fn step(
///         &mut self, f: &mut dyn OdeSystem, t: f64, y: &[f64], h: f64, end: &mut [f64],
///     ) -> Result<f64> {
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
/// let options = Options { integrator: &Heun, rtol: 1e-5, ..Options::default() };
/// let heun = solve(&sa, &x, 1.0, &options, &mut [])?;
/// let fine = solve(&sa, &x, 1.0, &Options::default(), &mut [])?;
/// let close = |(a, b): (&f64, f64)| (a - b).abs() < 1e-4;
/// assert!(heun.clusters.angles().iter().zip(fine.clusters.angles()).all(close));
/// # Ok::<(), metastable::error::Error>(())
/// ```
pub trait Stepper {
    /// Attempts a step of length `h` from the state `y` at time `t`. Writes the end of the step,
    /// retracted to the manifold, and returns the largest error estimate of a block (0 without an
    /// estimate; NaN if something is not finite).
    ///
    /// **Errors** those of the rates.
    fn step(
        &mut self,
        system: &mut dyn OdeSystem,
        t: f64,
        y: &[f64],
        h: f64,
        end: &mut [f64],
    ) -> Result<f64>;

    /// Order by which the length of the next step is chosen. `None` for methods without an error
    /// estimate: their steps have a given length and are always accepted.
    fn order(&self) -> Option<u32> {
        None
    }

    /// Prepares a step from `y` (perhaps of another length) at time `t` when the last step did not
    /// end there: at the start, after a merge, at a jump of the weights.
    fn restart(&mut self, system: &mut dyn OdeSystem, t: f64, y: &[f64]) -> Result<()> {
        let _ = (system, t, y);
        Ok(())
    }

    /// Prepares a step from the end `y` of the last step, at time `t`.
    fn accept(&mut self, system: &mut dyn OdeSystem, t: f64, y: &[f64]) -> Result<()> {
        self.restart(system, t, y)
    }

    /// The rates at the start of the step, if the method knows them. They are used to detect steady
    /// states and steps that no longer move anything.
    fn rates(&self) -> &[f64] {
        &[]
    }

    /// Whether states inside a step can be interpolated. Samples, merges and events are then
    /// located there.
    fn is_dense(&self) -> bool {
        false
    }

    /// Writes the state at the fraction `theta` of the last attempted step, if the method can.
    fn interpolate(
        &mut self,
        system: &mut dyn OdeSystem,
        step: StepAttempt,
        theta: f64,
        out: &mut [f64],
    ) -> Result<()> {
        let _ = (system, step, theta, out);
        Ok(())
    }

    /// Largest displacement of a block in the last attempted step.
    fn displacement(&self, system: &dyn OdeSystem, start: &[f64], end: &[f64]) -> f64 {
        max_block_norm(end.len(), blocks(system, end.len()), |c| end[c] - start[c])
    }

    /// Index of the first number that was not finite in the last attempted step.
    fn first_nonfinite(&self, end: &[f64]) -> Option<usize> {
        end.iter().position(|v| !v.is_finite())
    }

    /// Number of evaluations of the rates so far.
    fn evaluations(&self) -> u64 {
        0
    }
}

/// A named method that makes steppers.
pub trait Integrator: Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// A new stepper.
    fn stepper(&self) -> Box<dyn Stepper>;

    /// The explicit Runge-Kutta method, if the stepper is one: ensembles of small systems then use
    /// it in vector lanes.
    fn tableau(&self) -> Option<&Tableau> {
        None
    }
}
