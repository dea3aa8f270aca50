//! The problem of one evaluation.

use super::bounds::{Bounds, MASS_FLOOR};
use super::limits::{MIN_PARALLEL_WORK, MIN_SPINNING_WORK};
use super::weight::Weight;
use crate::Head;
use crate::num::simd::Isa;
use crate::num::threads::{parallel_allowed, workers_spinning};
use crate::sphere::Tokens;
pub use crate::weights::Weights;

/// The form of an output. The forms by differences keep drifts of 1e-57 accurate, where sums would
/// lose them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputForm {
    /// `a_i = sum_j A_ij V x_j`: the update of a layer.
    Sum,
    /// `sum_j A_ij V (x_j - x_i)`.
    Difference,
    /// The part of `a_i` tangent to the sphere at `x_i`: a velocity.
    Tangent,
}

impl OutputForm {
    /// Brings rows of sums `a_i` with unit mass into this form: unchanged, minus `x_i`, or
    /// projected to the tangent space.
    pub fn of_sums(self, tokens: &Tokens, out: &mut [f64]) {
        match self {
            Self::Sum => {}
            Self::Difference => out.iter_mut().zip(tokens.coordinates()).for_each(|(o, x)| *o -= x),
            Self::Tangent => tokens.space().project(tokens.d(), tokens.coordinates(), out),
        }
    }
}

/// Velocities or fields of all tokens, to be computed.
pub struct KernelProblem<'a> {
    /// The tokens.
    pub tokens: &'a Tokens,
    /// Form of the output.
    pub form: OutputForm,
    /// The heads. An identity head if the value matrix of a single head is applied after the
    /// kernel.
    pub heads: &'a [Head],
    /// The weight of a pair.
    pub weight: Weight<'a>,
    /// Token i sees the tokens `j <= i` only.
    pub causal: bool,
    /// Row normalisation.
    pub weights: Weights,
    /// +1 attracts, -1 repels.
    pub sign: f64,
    /// For far tokens, the drift uses differences to `-sigma x_i`: accurate in the tangent
    /// directions, meaningless in the radial one.
    pub two_sided: bool,
    /// Instruction set.
    pub isa: Isa,
    /// Required relative accuracy of a row.
    pub accuracy: f64,
}

impl KernelProblem<'_> {
    /// beta of an exponential weight, 0 for any other weight.
    pub fn beta(&self) -> f64 {
        match self.weight {
            Weight::Exponential { beta } => beta,
            Weight::Series { .. } => 0.0,
        }
    }

    /// True for one identity head on unit vectors with weights within f64. The kernels on tiles
    /// require this.
    pub fn is_plain(&self) -> bool {
        let identity = self.heads.len() == 1 && self.heads[0].is_identity();
        let weights = match self.weight {
            Weight::Exponential { beta } => {
                self.form != OutputForm::Difference && self.weights.log_scale(beta) <= 600.0
            }
            Weight::Series { .. } => true,
        };
        self.tokens.space().is_unit() && identity && weights
    }

    /// Why a kernel for exponential weights does not serve this one.
    pub(super) fn not_exponential(&self) -> Option<&'static str> {
        matches!(self.weight, Weight::Series { .. }).then_some("weights e^{beta s}")
    }

    /// Why sums that are not of differences do not serve this weight.
    pub(super) fn needs_differences(&self) -> Option<&'static str> {
        let Weight::Series { profile, .. } = self.weight else { return None };
        // The norm of a field may be far below its mass if weights have both signs.
        let field = profile.signed && self.form != OutputForm::Tangent;
        (field || self.form == OutputForm::Difference)
            .then_some("velocities, or fields of a positive weight")
    }

    /// The bounds of sums of weights that are computed from inner products; `error` is that of a
    /// drift in units of its largest possible value.
    pub(super) fn bounds_of_products(&self, error: f64) -> Bounds {
        let relative = |unit| Bounds { unit, per_mass: error, absolute: 0.0, floor: MASS_FLOOR };
        match self.weight {
            Weight::Exponential { .. } => relative(1.0),
            Weight::Series { series, profile } if profile.relative => relative(series.factor),
            Weight::Series { series, profile } => {
                self.absolute_bounds(series.factor, error * profile.size / series.factor)
            }
        }
    }

    /// The bounds of sums of a series on the circle or on S^2; `error` is that of a drift in units
    /// of the total mass.
    pub(super) fn bounds_of_series(&self, error: f64) -> Bounds {
        match self.weight {
            Weight::Exponential { .. } => {
                Bounds { unit: 1.0, per_mass: 0.0, absolute: error, floor: MASS_FLOOR }
            }
            Weight::Series { profile, .. } => self.absolute_bounds(profile.size, error),
        }
    }

    fn absolute_bounds(&self, unit: f64, absolute: f64) -> Bounds {
        // Where rows are divided by their mass, its error counts too.
        let divided = self.weights == Weights::Softmax;
        let floor = if divided { absolute / self.accuracy } else { f64::NEG_INFINITY };
        Bounds { unit, per_mass: 0.0, absolute, floor }
    }

    /// True if the work is large enough for threads and threads are free.
    pub fn parallel(&self) -> bool {
        let (n, d) = (self.tokens.n(), self.tokens.d());
        let least = if workers_spinning() { MIN_SPINNING_WORK } else { MIN_PARALLEL_WORK };
        n * n * d >= least && parallel_allowed()
    }

    /// Parameters of the epilogue.
    pub fn epilogue(&self) -> Epilogue {
        // Two halves of the factor: no product with a tiny sum overflows or underflows before the
        // end.
        let half = (0.5 * self.weights.log_scale(self.beta())).exp();
        let (project, softmax) =
            (self.form == OutputForm::Tangent, self.weights == Weights::Softmax);
        Epilogue { project, softmax, factors: [self.sign * half, half], accuracy: self.accuracy }
    }
}

/// Parameters of the epilogue, which turns sums into velocities or fields.
pub struct Epilogue {
    /// True: project (velocities). False: add `sigma z_i x_i` back (fields).
    pub project: bool,
    /// True: divide by the mass (SA).
    pub softmax: bool,
    /// The common factor, split into two so that neither overflows.
    pub factors: [f64; 2],
    /// Required relative accuracy of a row.
    pub accuracy: f64,
}
