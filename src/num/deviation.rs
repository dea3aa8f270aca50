//! Deviations of results and margins of inequalities, in which NaN counts as infinitely bad.
//!
//! `f64::max` and `f64::min` forget NaN: with them the largest deviation of a result that is NaN
//! everywhere is 0, and a test of it passes. Tests and claims compare with the functions here.

use super::stats::{nan_max, nan_min};
use super::vector::max_abs;

/// The largest deviation: 0 if there is none, infinity if one is NaN.
///
/// ```
/// use metastable::num::deviation::largest;
/// assert_eq!((largest([1e-9, 3e-9, 2e-9]), largest([])), (3e-9, 0.0));
/// assert_eq!(largest([1e-9, f64::NAN, 2e-9]), f64::INFINITY);
/// ```
#[inline]
pub fn largest(deviations: impl IntoIterator<Item = f64>) -> f64 {
    let top = deviations.into_iter().fold(0.0, nan_max);
    if top.is_nan() { f64::INFINITY } else { top }
}

/// The least margin: infinity if there is none, negative infinity if one is NaN.
///
/// ```
/// use metastable::num::deviation::least;
/// assert_eq!((least([0.3, 0.1, 0.2]), least([])), (0.1, f64::INFINITY));
/// assert_eq!(least([0.3, f64::NAN, 0.2]), f64::NEG_INFINITY);
/// ```
#[inline]
pub fn least(margins: impl IntoIterator<Item = f64>) -> f64 {
    let bottom = margins.into_iter().fold(f64::INFINITY, nan_min);
    if bottom.is_nan() { f64::NEG_INFINITY } else { bottom }
}

/// `max_k |x_k - y_k|`: infinity if an entry is NaN, if two infinities meet, or if the lengths
/// differ.
///
/// ```
/// use metastable::num::deviation::max_difference;
/// assert_eq!(max_difference(&[1.0, 2.0], &[1.5, 2.25]), 0.5);
/// assert_eq!(max_difference(&[f64::NAN; 2], &[f64::NAN; 2]), f64::INFINITY);
/// assert_eq!(max_difference(&[], &[1.0]), f64::INFINITY);
/// ```
#[inline]
pub fn max_difference(x: &[f64], y: &[f64]) -> f64 {
    if x.len() != y.len() {
        return f64::INFINITY;
    }
    largest(x.iter().zip(y).map(|(x, y)| (x - y).abs()))
}

/// `max_k |x_k - y_k| / max_k |y_k|`: 0 if all entries are 0, infinity as for [`max_difference`].
///
/// ```
/// use metastable::num::deviation::relative_difference;
/// assert_eq!(relative_difference(&[1.0, 2.5], &[1.0, 2.0]), 0.25);
/// assert_eq!(relative_difference(&[0.0], &[f64::NAN]), f64::INFINITY);
/// ```
#[inline]
pub fn relative_difference(x: &[f64], y: &[f64]) -> f64 {
    // A quotient of infinities is NaN.
    largest([max_difference(x, y) / nan_max(max_abs(y), f64::MIN_POSITIVE)])
}
