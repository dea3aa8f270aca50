//! Distance of doubles in units of their last places.

/// The number of doubles between two: 0 for equal ones (also for 0 and -0, and for two NaN), 1 for neighbours; `None` when one of them alone is not a
/// number.
///
/// ```
/// use metastable::num::ulps::apart;
/// assert_eq!((apart(1.0, 1.0 + f64::EPSILON), apart(0.0, -0.0), apart(1.0, f64::NAN)), (Some(1), Some(0), None));
/// assert_eq!(apart(-5e-324, 5e-324), Some(2));
/// ```
pub fn apart(a: f64, b: f64) -> Option<u64> {
    if a.is_nan() || b.is_nan() {
        return (a.is_nan() && b.is_nan()).then_some(0);
    }
    // Doubles of one sign are ordered as their bits are; below zero they go on downwards.
    let place = |x: f64| if x.is_sign_negative() { -i128::from(x.to_bits() & (u64::MAX >> 1)) } else { i128::from(x.to_bits()) };
    Some((place(a) - place(b)).unsigned_abs() as u64)
}
