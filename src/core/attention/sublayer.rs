//! Sublayers, whose outputs move tokens: attention, a feed-forward layer, or a user's vector field.

use super::kernel::{Attention, BatchField, EXACT_ACCURACY, OutputForm, Workspace};
use super::pair_energy::PairEnergy;
use super::triangular::TriangularJacobian;
use crate::error::Result;
use crate::sphere::Tokens;
use std::borrow::Cow;

/// Properties that a dynamics claims to have; the conformance suite tests every one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Properties {
    /// All tokens move in one vector field: the velocity of a token depends on its position and on
    /// the whole configuration, not on its index. Coincident tokens then stay coincident, so
    /// merging them is exact. Without this property tokens never merge, whatever the merge radius
    /// ([`Solution::merging_ignored`](crate::flow::Solution::merging_ignored) reports it).
    pub common_field: bool,
    /// The flow commutes with rotations of the tokens.
    pub rotation_equivariant: bool,
    /// The flow commutes with permutations of the tokens.
    pub permutation_equivariant: bool,
    /// The velocity of token i depends on the tokens `j <= i` only.
    pub causal: bool,
    /// The flow commutes with `X -> -X`.
    pub odd: bool,
    /// The velocity does not depend on time.
    pub autonomous: bool,
    /// `+1` if `E_beta` increases along the flow, `-1` if it decreases, 0 if neither is claimed.
    pub energy_sign: i8,
    /// Hemispheres (and caps inside them) are invariant: V = I and positive weights.
    pub cone_invariant: bool,
    /// Upper bound of `|x_i'|`, if one is claimed.
    pub speed_bound: Option<f64>,
}

impl Default for Properties {
    /// No property is claimed.
    fn default() -> Self {
        Self {
            common_field: false,
            rotation_equivariant: false,
            permutation_equivariant: false,
            causal: false,
            odd: false,
            autonomous: false,
            energy_sign: 0,
            cone_invariant: false,
            speed_bound: None,
        }
    }
}

impl Properties {
    /// The properties of the sum of two vector fields.
    pub fn of_sum(self, other: Self) -> Self {
        Self {
            common_field: self.common_field && other.common_field,
            rotation_equivariant: self.rotation_equivariant && other.rotation_equivariant,
            permutation_equivariant: self.permutation_equivariant && other.permutation_equivariant,
            causal: self.causal && other.causal,
            odd: self.odd && other.odd,
            autonomous: self.autonomous && other.autonomous,
            energy_sign: if self.energy_sign == other.energy_sign { self.energy_sign } else { 0 },
            cone_invariant: self.cone_invariant && other.cone_invariant,
            speed_bound: self.speed_bound.zip(other.speed_bound).map(|(a, b)| a + b),
        }
    }
}

/// The arguments of a sublayer: the time (or depth) and the tokens with their masses.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// Time.
    pub t: f64,
    /// The tokens.
    pub tokens: &'a Tokens,
}

/// A sublayer: a map from the tokens to one vector per token. Implement it for your own vector
/// field.
///
/// ```
/// use metastable::attention::{Input, Dynamics, Properties, OutputForm, Sublayer, kernel::Workspace};
/// use metastable::{flow::{Options, solve}, sphere::Tokens};
/// /// Every token turns about the third axis.
/// struct Turns;
/// impl Sublayer for Turns {
///     fn evaluate(&self, input: &Input, form: OutputForm, _: &mut Workspace, out: &mut [f64]) {
///         for (x, v) in input.tokens.rows().zip(out.chunks_exact_mut(3)) {
///             v.copy_from_slice(&[-x[1], x[0], 0.0]);
///         }
///         form.of_sums(input.tokens, out);
///     }
///     fn properties(&self) -> Properties {
///         Properties { common_field: true, permutation_equivariant: true, ..Properties::default() }
///     }
///     fn length_scale(&self) -> f64 {
///         1.0
///     }
/// }
/// let x = Tokens::new(3, vec![1.0, 0.0, 0.0]).unwrap();
/// let end = solve(&Dynamics::single(Turns), &x, 1.0, &Options::default(), &mut []).unwrap();
/// assert!((end.clusters.row(0)[1] - 1f64.sin()).abs() < 1e-9);
/// ```
pub trait Sublayer: Send + Sync {
    /// Writes the output for all tokens (n x d, row-major) in the given form;
    /// [`OutputForm::of_sums`] converts any vector field. On the sphere the form is the tangent
    /// part: the component along `x_i` has no effect. NaN if [`Sublayer::algorithm`] returns an
    /// error.
    fn evaluate(&self, input: &Input, form: OutputForm, work: &mut Workspace, out: &mut [f64]);

    /// Properties of its flow on the sphere.
    fn properties(&self) -> Properties;

    /// Length over which its output changes by a factor e, at most 1: the unit of the integrators'
    /// tolerance.
    fn length_scale(&self) -> f64;

    /// Largest relative error of a row. Integrators treat smaller differences as noise.
    fn accuracy(&self) -> f64 {
        EXACT_ACCURACY
    }

    /// Bound of the relative errors of the velocities v of these tokens, if the weights have errors
    /// relative to the largest weight only: small velocities then lose digits.
    fn relative_error(&self, _: &Tokens, _v: &[f64]) -> Option<f64> {
        None
    }

    /// Velocities of tokens on the sphere with a bound of their relative errors, by slower
    /// arithmetic that keeps small weights; `None` if there is none, or too many tokens.
    ///
    /// **Errors** weights below the range of doubles that a row is divided by.
    fn resolved_velocities(&self, _: &Tokens) -> Option<Result<(Vec<f64>, f64)>> {
        None
    }

    /// Times at which the output is discontinuous, ascending. No step of an integrator crosses one.
    fn jumps(&self) -> &[f64] {
        &[]
    }

    /// Name of the algorithm that evaluates these tokens in this form.
    ///
    /// **Errors** an algorithm chosen by name that cannot evaluate these tokens or reach the
    /// accuracy.
    fn algorithm(&self, _: &Tokens, _: OutputForm) -> Result<&'static str> {
        Ok("custom")
    }

    /// The output by its definition, evaluated in double-doubles and rounded: the reference of the
    /// conformance suite. `None` if not implemented.
    fn definition(&self, _: &Input, _: OutputForm) -> Option<Vec<f64>> {
        None
    }

    /// The Jacobian of its velocity on the sphere, if token i depends on tokens `j <= i` only and
    /// derivatives are known.
    fn triangular_jacobian(&self) -> Option<Box<dyn TriangularJacobian + '_>> {
        None
    }

    /// The attention, if the sublayer is one at all times.
    fn attention(&self) -> Option<&Attention> {
        None
    }

    /// The attention at time t, if the sublayer is one at that time.
    fn attention_at(&self, _t: f64) -> Option<Cow<'_, Attention>> {
        self.attention().map(Cow::Borrowed)
    }

    /// The velocity field at time t for n tokens of equal masses in d dimensions, if it can be
    /// evaluated with one system per SIMD lane. Ensembles of small systems use it.
    fn batch_field_at(&self, t: f64, shape: (usize, usize)) -> Option<BatchField> {
        self.attention_at(t).and_then(|a| BatchField::new(&a, shape))
    }

    /// The weights `m_j w_ij` of row i of a head, before they are divided, for the tokens that it
    /// sees; `None` if the sublayer has no such weights or the head does not exist.
    fn row_of_weights(&self, x: &Tokens, head: usize, i: usize) -> Option<Vec<f64>> {
        let attention = self.attention().filter(|a| head < a.heads.len())?;
        Some(attention.row_weights(x, head, i))
    }

    /// `log(E_h / E_1)` of head h with `E_h = (1/2) sum_ij m_i m_j W(<Q_h x_i, K_h x_j>)` and
    /// `E_1 = W(1)/2`, if its energy is not that of `e^{beta s}`; NaN if the quotient is not
    /// positive or the head does not exist.
    fn log_head_energy(&self, _x: &Tokens, _head: usize) -> Option<f64> {
        None
    }

    /// The energy of its pairs, if it is not that of `e^{beta s}`: energies of runs and observables
    /// are then this one.
    fn pair_energy(&self) -> Option<Box<dyn PairEnergy + '_>> {
        None
    }
}
