//! Distance of doubles in units in the last place (ulp).

/// The number of steps between adjacent doubles from a to b: 0 for equal numbers (also for 0 and
/// -0, and for two NaN), 1 for neighbours; `None` if exactly one is NaN.
///
/// ```
/// use metastable::num::ulps::ulp_distance;
/// assert_eq!((ulp_distance(1.0, 1.0 + f64::EPSILON), ulp_distance(0.0, -0.0), ulp_distance(1.0, f64::NAN)), (Some(1), Some(0), None));
/// assert_eq!(ulp_distance(-5e-324, 5e-324), Some(2));
/// ```
pub fn ulp_distance(a: f64, b: f64) -> Option<u64> {
    if a.is_nan() || b.is_nan() {
        return (a.is_nan() && b.is_nan()).then_some(0);
    }
    // Doubles of one sign are ordered like their bits; below zero the order is reversed.
    let ordinal = |x: f64| {
        if x.is_sign_negative() {
            -i128::from(x.to_bits() & (u64::MAX >> 1))
        } else {
            i128::from(x.to_bits())
        }
    };
    Some((ordinal(a) - ordinal(b)).unsigned_abs() as u64)
}
