//! What is added to tokens: attention, a feed-forward layer, a field of one's own.

use super::kernel::{Attention, EXACT, Form, Workspace};
use super::triangular::Triangular;
use crate::error::Result;
use crate::sphere::Tokens;
use std::borrow::Cow;

/// What a dynamics claims about itself; the conformance suite tests every claim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// All tokens move in one common field: the velocity of a token depends on where it stands (and
    /// on all tokens together), not on its index. Coincident tokens then stay coincident and
    /// coalescence is exact. Where this is not claimed tokens never become one, whatever the merge
    /// radius ([`Solution::merging_ignored`](crate::flow::Solution::merging_ignored) says so).
    pub common_field: bool,
    /// The flow commutes with rotations of the tokens.
    pub rotation_equivariant: bool,
    /// The flow commutes with permutations of the tokens.
    pub permutation_equivariant: bool,
    /// Token i is moved by the tokens `j <= i` only.
    pub causal: bool,
    /// The flow commutes with `X -> -X`.
    pub odd: bool,
    /// Its weights do not depend on time.
    pub autonomous: bool,
    /// `+1` when `E_beta` increases along the flow, `-1` when it decreases, 0 when neither is claimed.
    pub energy_sign: i8,
    /// Hemispheres (and caps inside them) are invariant: V = I and positive weights.
    pub cone_invariant: bool,
    /// Upper bound of `|x_i'|`, when one is claimed.
    pub speed_bound: Option<f64>,
}

impl Default for Facts {
    /// Nothing is claimed.
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

impl Facts {
    /// What holds of the sum of two fields.
    pub fn and(self, other: Self) -> Self {
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

/// What a sublayer sees: the time (or depth) and the tokens with their masses.
#[derive(Clone, Copy)]
pub struct At<'a> {
    /// Time.
    pub t: f64,
    /// The tokens.
    pub tokens: &'a Tokens,
}

/// What is added to tokens. One file per sublayer; a field of one's own is one like any other.
///
/// ```
/// use metastable::attention::{At, Dynamics, Facts, Form, Sublayer, kernel::Workspace};
/// use metastable::{flow::{Options, solve}, sphere::Tokens};
/// /// Every token turns about the third axis.
/// struct Turns;
/// impl Sublayer for Turns {
///     fn evaluate(&self, at: &At, form: Form, _: &mut Workspace, out: &mut [f64]) {
///         for (x, v) in at.tokens.rows().zip(out.chunks_exact_mut(3)) {
///             v.copy_from_slice(&[-x[1], x[0], 0.0]);
///         }
///         form.of_sums(at.tokens, out);
///     }
///     fn facts(&self) -> Facts {
///         Facts { common_field: true, permutation_equivariant: true, ..Facts::default() }
///     }
///     fn length_scale(&self) -> f64 {
///         1.0
///     }
/// }
/// let x = Tokens::new(3, vec![1.0, 0.0, 0.0]).unwrap();
/// let end = solve(&Dynamics::of(Turns), &x, 1.0, &Options::default(), &mut []).unwrap();
/// assert!((end.clusters.row(0)[1] - 1f64.sin()).abs() < 1e-9);
/// ```
pub trait Sublayer: Send + Sync {
    /// Writes its output for all tokens (n x d, row-major) in this form; [`Form::of_sums`] brings
    /// any field into it. On the sphere the form is the tangent part: what a field says along `x_i`
    /// moves nothing. Not a number where [`Sublayer::algorithm`] is an error.
    fn evaluate(&self, at: &At, form: Form, work: &mut Workspace, out: &mut [f64]);

    /// What it claims about the flow on the sphere.
    fn facts(&self) -> Facts;

    /// Length over which its output changes by a factor e, at most 1: the unit of the integrators' tolerance.
    fn length_scale(&self) -> f64;

    /// Largest relative error of a row: what lies below it is noise to the integrators.
    fn accuracy(&self) -> f64 {
        EXACT
    }

    /// Times at which it jumps, ascending: no step of an integrator crosses one.
    fn jumps(&self) -> &[f64] {
        &[]
    }

    /// Name of the algorithm that evaluates these tokens in this form.
    ///
    /// **Errors** an algorithm asked for by name that cannot do it, or cannot keep the accuracy.
    fn algorithm(&self, _: &Tokens, _: Form) -> Result<&'static str> {
        Ok("own")
    }

    /// Its definition, evaluated from the same data in double-doubles and rounded: what the conformance suite compares with. `None` where it has none.
    fn definition(&self, _: &At, _: Form) -> Option<Vec<f64>> {
        None
    }

    /// Its velocity on the sphere linearised, where token i depends on tokens `j <= i` only and the derivatives are known.
    fn triangular(&self) -> Option<Box<dyn Triangular + '_>> {
        None
    }

    /// The attention behind it, when it is one at all times: many small systems of attention are moved in lanes.
    fn attention(&self) -> Option<&Attention> {
        None
    }

    /// The attention behind it at time t, when it is one.
    fn attention_at(&self, _t: f64) -> Option<Cow<'_, Attention>> {
        self.attention().map(Cow::Borrowed)
    }
}
