//! The energy of pairs of tokens that belongs to a sublayer other than exponential attention.

use crate::sphere::Tokens;

/// An energy of all pairs of tokens, as observables and runs need it. Exponential attention has
/// none here: its energy is [`Energy`](super::Energy).
pub trait PairEnergy {
    /// The energy.
    fn value(&self, x: &Tokens) -> f64;

    /// `log(E / E_1)` with the energy `E_1 = W(1)/2` of one cluster, as
    /// [`Energy::log_unit`](super::Energy::log_unit); NaN if the quotient is not positive.
    fn log_unit(&self, x: &Tokens) -> f64;

    /// The natural logarithm of the gradient's norm, in units of the largest force of a pair.
    fn log_grad_norm(&self, x: &Tokens) -> f64;

    /// The largest norm of a force on a token, in units of the largest possible one.
    fn relative_gradient_norm(&self, x: &Tokens) -> f64;

    /// Length over which the weights of pairs change by a factor e, at most 1: the width of the
    /// kernel, `beta^{-1/2}` for `e^{beta s}`.
    fn width(&self) -> f64;

    /// The formula of the energy, in words for results.
    fn describe(&self) -> &'static str;
}
