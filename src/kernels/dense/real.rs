//! The precision of dense layers.

use crate::num::simd::Float;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub};

/// The precision of a forward pass: `f64` or `f32`.
pub trait Real:
    Float
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + MulAssign
    + Neg<Output = Self>
{
}

impl Real for f64 {}
impl Real for f32 {}
