//! The weight of a pair.

use crate::sphere::geometry::{antichord2, chord2};

/// `beta <x, y> - |beta| <= 0`, from the chord or the antichord: absolute error `4u` times its own size.
#[inline]
pub fn log_kernel(beta: f64, x: &[f64], y: &[f64]) -> f64 {
    if beta >= 0.0 { -0.5 * beta * chord2(x, y) } else { 0.5 * beta * antichord2(x, y) }
}

/// `e^l e^shift` without overflow of a factor or underflow of a product that is representable.
#[inline]
pub fn exp_shifted(l: f64, shift: f64) -> f64 {
    if l > -600.0 && shift < 600.0 { l.exp() * shift.exp() } else { (l + shift).exp() }
}
