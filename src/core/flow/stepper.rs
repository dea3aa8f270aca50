//! What moves tokens by a step: the trait of all methods, and of one's own.

use super::rows::{largest_row, rows};
use super::tableau::Tableau;
use crate::attention::Dynamics;
use crate::sphere::Tokens;

/// A method on its way: it knows where the step starts, and after an attempt where it would end.
///
/// The loop asks for attempts, judges them by [`order`](Stepper::order) and the tolerance, and takes the good ones. Everything after the first five methods has a default.
///
/// ```
/// use metastable::{attention::{Dynamics, dynamics, kernel::Workspace, Spec}, flow::{Integrator, Options, Stepper, solve}, sphere::Tokens};
/// /// Heun's method of order 2, its error estimated by Euler's.
/// struct Heun { t: f64, x: Tokens, end: Tokens, k: [Vec<f64>; 2], work: Workspace }
/// impl Stepper for Heun {
///     fn order(&self) -> Option<u32> { Some(2) }
///     fn restart(&mut self, f: &Dynamics, t: f64, x: &Tokens) {
///         (self.t, self.x, self.end) = (t, x.clone(), x.clone());
///         self.k = [vec![0.0; x.numbers().len()], vec![0.0; x.numbers().len()]];
///         f.rates(t, x, &mut self.work, &mut self.k[0]);
///     }
///     fn attempt(&mut self, f: &Dynamics, h: f64) -> f64 {
///         let Self { t, x, end, k: [first, last], work } = self;
///         if end.place(x.numbers().iter().zip(&*first).map(|(x, k)| x + h * k)).is_err() { return f64::NAN }
///         f.rates(*t + h, end, work, last);
///         let mean = first.iter().zip(&*last).map(|(a, b)| 0.5 * (a + b));
///         if end.place(x.numbers().iter().zip(mean).map(|(x, k)| x + h * k)).is_err() { return f64::NAN }
///         first.iter().zip(last).map(|(a, b)| 0.5 * h * (*b - a).abs()).fold(0.0, f64::max)
///     }
///     fn end(&self) -> &[f64] { self.end.numbers() }
///     fn velocity(&self) -> &[f64] { &self.k[0] }
/// }
/// struct HeunMethod;
/// impl Integrator for HeunMethod {
///     fn name(&self) -> &'static str { "heun" }
///     fn begin<'a>(&self, f: &'a Dynamics, t: f64, x: &Tokens) -> Box<dyn Stepper + 'a> {
///         let mut heun = Heun { t, x: x.clone(), end: x.clone(), k: [Vec::new(), Vec::new()], work: Workspace::default() };
///         heun.restart(f, t, x);
///         Box::new(heun)
///     }
/// }
/// let sa = dynamics::build("sa", false, &Spec::new(2.0, 3)).unwrap();
/// let x = Tokens::from_angles(&[0.0, 1.0, 2.5]).unwrap();
/// let own = solve(&sa, &x, 1.0, &Options { integrator: &HeunMethod, rtol: 1e-5, ..Options::default() }, &mut []).unwrap();
/// let fine = solve(&sa, &x, 1.0, &Options::default(), &mut []).unwrap();
/// assert!(own.clusters.angles().iter().zip(fine.clusters.angles()).all(|(a, b)| (a - b).abs() < 1e-4));
/// ```
pub trait Stepper {
    /// Order by which the next step is chosen; `None`: there is no estimate of the error, steps have the length that is asked for and are taken as they are.
    fn order(&self) -> Option<u32>;

    /// Moves the start to `x` (perhaps of another number of tokens) at time `t`.
    fn restart(&mut self, dynamics: &Dynamics, t: f64, x: &Tokens);

    /// Tries a step of length `h`: the largest row of the error estimate (0 without one), NaN when something is not finite.
    fn attempt(&mut self, dynamics: &Dynamics, h: f64) -> f64;

    /// The numbers at the end of the last attempt, on their space.
    fn end(&self) -> &[f64];

    /// The rates at the start; empty where nobody needs them.
    fn velocity(&self) -> &[f64];

    /// Makes the end of the last attempt, `x`, the start at time `t`.
    fn advance(&mut self, dynamics: &Dynamics, t: f64, x: &Tokens) {
        self.restart(dynamics, t, x);
    }

    /// True when the points inside a step are known, not only its ends: then samples, mergers and events are located there.
    fn is_dense(&self) -> bool {
        false
    }

    /// Puts the point at fraction `theta` of the last attempt into `x`, if that is known.
    fn interpolate(&mut self, dynamics: &Dynamics, theta: f64, x: &mut Tokens) {
        let _ = (dynamics, theta, x);
    }

    /// Weights are asked at no later time than this: just before they jump.
    fn until(&mut self, t: f64) {
        let _ = t;
    }

    /// The largest way of a token in the last attempt, from `x`.
    fn displacement(&self, x: &Tokens) -> f64 {
        largest_row(self.end().len(), rows(x), |c| self.end()[c] - x.numbers()[c])
    }

    /// Largest speed of a token at the start `x`.
    fn max_speed(&self, x: &Tokens) -> f64 {
        largest_row(self.velocity().len(), rows(x), |c| self.velocity()[c])
    }

    /// The first of the tokens `x` whose numbers were not finite in the last attempt.
    fn broken_token(&self, x: &Tokens) -> Option<usize> {
        // Rows of coordinates, then those of the space's own numbers.
        rows(x).position(|row| self.end()[row].iter().any(|v| !v.is_finite())).map(|row| row % x.n())
    }

    /// Velocities evaluated so far.
    fn evaluations(&self) -> u64 {
        0
    }

    /// What it must know to go on from the tokens of a pause, beside them.
    fn memory(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Goes on with this memory from the tokens `x` at time `t`.
    fn recall(&mut self, memory: &[f64], dynamics: &Dynamics, t: f64, x: &Tokens) {
        let _ = memory;
        self.restart(dynamics, t, x);
    }

    /// True while steps are implicit.
    fn is_implicit(&self) -> bool {
        false
    }

    /// Changes the kind of steps, if that is due, at the tokens reached by a step that moved them by `displacement`; the length `h` planned for the next one, or a
    /// shorter one.
    fn reconsider(&mut self, dynamics: &Dynamics, t: f64, x: &Tokens, h: f64, displacement: f64) -> f64 {
        let _ = (dynamics, t, x, displacement);
        h
    }

    /// Leaves a kind of steps that no length makes acceptable; false when there is nothing to leave.
    fn give_up(&mut self, dynamics: &Dynamics, t: f64, x: &Tokens) -> bool {
        let _ = (dynamics, t, x);
        false
    }
}

/// A method by which runs step.
pub trait Integrator: Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Steps of tokens from `x` at time `t`.
    fn begin<'a>(&self, dynamics: &'a Dynamics, t: f64, x: &Tokens) -> Box<dyn Stepper + 'a>;

    /// The explicit method behind it, when it is nothing else: many small systems then go in lanes, and stiff ones by implicit steps.
    fn tableau(&self) -> Option<&Tableau> {
        None
    }
}
