//! One evaluation, and what an algorithm for it is.

use super::doubtful::Doubtful;
use super::limits::{AWAKE_WORK, PARALLEL_WORK};
use super::workspace::Workspace;
use crate::Head;
use crate::num::simd::Level;
use crate::num::threads::{others_awake, parallel_allowed};
use crate::sphere::Tokens;
pub use crate::weights::Weights;

/// In which form an output is wanted. The forms of differences keep drifts of 1e-57 right, where sums would lose them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `a_i = sum_j A_ij V x_j`: what a layer adds.
    Sum,
    /// `sum_j A_ij V (x_j - x_i)`.
    Difference,
    /// The part of `a_i` that is tangent to the sphere at `x_i`: a velocity there.
    Tangent,
}

impl Form {
    /// Brings rows of sums `a_i` of unit masses into this form: nothing, less `x_i`, or tangent to the sphere.
    pub fn of_sums(self, tokens: &Tokens, out: &mut [f64]) {
        match self {
            Self::Sum => {}
            Self::Difference => out.iter_mut().zip(tokens.coordinates()).for_each(|(o, x)| *o -= x),
            Self::Tangent => tokens.space().project(tokens.d(), tokens.coordinates(), out),
        }
    }
}

/// Velocities or fields of all tokens.
pub struct Job<'a> {
    /// The tokens.
    pub tokens: &'a Tokens,
    /// What is asked.
    pub form: Form,
    /// The heads; one without matrices where the value matrix of a single head is left to the end.
    pub heads: &'a [Head],
    /// Inverse temperature.
    pub beta: f64,
    /// Token i sees the tokens `j <= i` only.
    pub causal: bool,
    /// Row normalisation.
    pub weights: Weights,
    /// +1 attracts, -1 repels.
    pub sign: f64,
    /// Drifts are differences to `-sigma x_i` for far tokens: exact in the tangent direction, useless in the radial one.
    pub far: bool,
    /// Instruction set.
    pub level: Level,
    /// Largest relative error of a row that is wanted.
    pub accuracy: f64,
}

impl Job<'_> {
    /// True for one head without matrices on unit vectors whose weights are within f64: what the tiles are made for.
    pub fn is_plain(&self) -> bool {
        self.tokens.space().is_unit()
            && self.form != Form::Difference
            && self.heads.len() == 1
            && self.heads[0].is_identity()
            && self.weights.log_scale(self.beta) <= 600.0
    }

    /// True when the work is worth threads and they are free.
    pub fn parallel(&self) -> bool {
        let (n, d) = (self.tokens.n(), self.tokens.d());
        let least = if others_awake() { AWAKE_WORK } else { PARALLEL_WORK };
        n * n * d >= least && parallel_allowed()
    }

    /// What is made of sums.
    pub fn ending(&self) -> Ending {
        // The factor in two halves: neither it nor a product with a tiny sum overflows or vanishes before the end.
        let half = (0.5 * self.weights.log_scale(self.beta)).exp();
        let (project, softmax) = (self.form == Form::Tangent, self.weights == Weights::Softmax);
        Ending { project, softmax, factors: [self.sign * half, half], accuracy: self.accuracy }
    }
}

/// What is made of sums.
pub struct Ending {
    /// Velocities are projected; fields get `sigma z_i x_i` back.
    pub project: bool,
    /// Divide by the mass (SA).
    pub softmax: bool,
    /// Two factors, so that neither overflows before the end.
    pub factors: [f64; 2],
    /// Largest relative error of a row.
    pub accuracy: f64,
}

/// An algorithm for a [`Job`].
pub trait Kernel: Sync {
    /// Name on the command line.
    fn name(&self) -> &'static str;
    /// What it does, in one line.
    fn summary(&self) -> &'static str;
    /// Why it cannot do this job, if it cannot. Asked of plain jobs only (see [`Job::is_plain`]) unless [`Kernel::any_heads`].
    fn refuses(&self, job: &Job) -> Option<&'static str>;
    /// True when it does jobs that are not plain.
    fn any_heads(&self) -> bool {
        false
    }
    /// True when it is never chosen for a plain job.
    fn by_name_only(&self) -> bool {
        false
    }
    /// Estimated nanoseconds on one thread, for the choice only.
    fn cost(&self, job: &Job) -> f64;
    /// A priori error of a drift in units of the largest it could be, the mass of its row (of the total mass, where masses err too); 0 for relative
    /// accuracy row by row. Every row in which it exceeds the accuracy wanted is evaluated again, exactly.
    fn error(&self, job: &Job) -> f64;
    /// Writes all rows (n x d) and notes the doubtful ones.
    fn evaluate(&self, job: &Job, work: &mut Workspace, out: &mut [f64], doubtful: &mut Doubtful);
}
