//! The weight of a pair.

use super::pair_series::PairSeries;
use super::weight_profile::WeightProfile;
use crate::sphere::geometry::{antichord2, chord2};

/// The weight of a pair of tokens as a function of their inner product s.
#[derive(Clone, Copy, Debug)]
pub enum Weight<'a> {
    /// `e^{beta s}`; kernels sum `e^{beta s - |beta|}`.
    Exponential {
        /// Inverse temperature.
        beta: f64,
    },
    /// Any function `phi(s)` on [-1, 1], by its series.
    Series {
        /// phi as a function of half the squared chord.
        series: &'a PairSeries,
        /// What fast sums need to know of phi.
        profile: &'a WeightProfile,
    },
}

/// `beta <x, y> - |beta| <= 0`, from the chord or the antichord. Its relative error is `4u`.
#[inline]
pub fn log_kernel(beta: f64, x: &[f64], y: &[f64]) -> f64 {
    if beta >= 0.0 { -0.5 * beta * chord2(x, y) } else { 0.5 * beta * antichord2(x, y) }
}

/// `e^l e^shift`; no factor overflows, and no representable product underflows.
#[inline]
pub fn exp_shifted(l: f64, shift: f64) -> f64 {
    if l > -600.0 && shift < 600.0 { l.exp() * shift.exp() } else { (l + shift).exp() }
}
