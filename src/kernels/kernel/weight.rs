//! The weight of a pair.

use crate::sphere::geometry::{antichord2, chord2};

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
