//! Layers with new random weights, `x <- N(x + eta sum_h V_h m_h / H)` with entries of `V_h` of
//! variance `sigma^2` (arXiv:2601.21942, 2604.01978; exponents derived).

use crate::error::{Result, in_range};

/// The inverse temperature above which antipodal pairs attract under `Q^T K = beta I` and random
/// values: `cosh 2 beta = d - 2`; 0 for `d <= 3`, where they always attract.
///
/// ```
/// use metastable::theory::random_weights::antipodal_threshold;
/// assert!((antipodal_threshold(8) - 1.238944).abs() < 1e-6 && antipodal_threshold(3) == 0.0);
/// ```
pub fn antipodal_threshold(d: usize) -> f64 {
    let level = d as f64 - 2.0;
    if level <= 1.0 { 0.0 } else { 0.5 * level.acosh() }
}

/// Lyapunov exponents of two tokens in the time `layers eta^2 sigma^2 d / H`:
/// `Lambda_- = ((d-1)/cosh^2 beta - 2)/d` at antipodes and `Lambda_+ = -(d-1)/d` at consensus, for
/// every beta.
pub fn exponents(d: usize, beta: f64) -> (f64, f64) {
    let d = d as f64;
    let sech = 1.0 / beta.cosh();
    (((d - 1.0) * sech * sech - 2.0) / d, -(d - 1.0) / d)
}

/// The mean inner product of all tokens, `|mean|^2`, at beta = 0 and d = infinity: `u' = u (1 - u)`
/// (the claim `random-logistic`). It is a squared length, so it lies in [0, 1]; from a negative
/// value the solution would blow up.
///
/// **Errors** a start outside [0, 1], a negative time.
///
/// ```
/// use metastable::theory::random_weights::logistic;
/// assert_eq!(logistic(0.5, 0.0)?, 0.5);
/// assert!((logistic(0.5, 2.0)? - 1.0 / (1.0 + (-2f64).exp())).abs() < 1e-15);
/// assert!(logistic(-0.2, 1.9).is_err());
/// # Ok::<(), metastable::error::Error>(())
/// ```
pub fn logistic(u0: f64, t: f64) -> Result<f64> {
    let (u0, t) = (in_range("u0", u0, 0.0, 1.0)?, in_range("times", t, 0.0, f64::MAX)?);
    // 0 is a fixed point; the formula would give 0/0 where e^{-t} underflows.
    Ok(if u0 == 0.0 { 0.0 } else { u0 / (u0 + (1.0 - u0) * (-t).exp()) })
}

/// The probability `1/2 + arcsin(u0)/pi` that two tokens under random linear maps become equal
/// rather than opposite.
///
/// **Errors** an inner product outside [-1, 1].
pub fn consensus_probability(u0: f64) -> Result<f64> {
    Ok(0.5 + in_range("u0", u0, -1.0, 1.0)?.asin() / std::f64::consts::PI)
}
