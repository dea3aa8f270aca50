//! Rescaled tokens on the line, `V = 1`, scores `a x_i x_j` (arXiv:2305.05465): the exact limit of
//! two opposite tokens.

use crate::error::{Error, Result, in_range};
use crate::num::quadrature::integrate;

/// Relative accuracy of the quadratures.
const QUADRATURE_TOLERANCE: f64 = 1e-15;

/// `log F(eps)`, `F(eps) = lim e^{-t} x(t)` of the tokens `x` and `-x` from `x(0) = eps`: `u = x^2`
/// obeys `u' = 2 u tanh u`, so `F = eps exp(-int_{eps^2}^inf du / (u (e^{2u} - 1)))`. For u up to 1
/// the pole is split off: `1/(e^{2u} - 1) = 1/(2u) - 1/2 + (coth u - 1/u)/2`, and
/// `log F = 1/2 - 1/(2 eps^2) - int_{eps^2}^1 (coth u - 1/u)/(2u) du - T(1)` with the tail
/// `T(v) = int_v^inf du / (u (e^{2u} - 1))`.
///
/// The hypercube of tokens `(+-eps_1, ..., +-eps_d)` converges to `(+-F(eps_1), ..., +-F(eps_d))`,
/// because softmax factorises. **Accuracy** `1e-15 (1 + |log F|)`. **Errors** a number that is not
/// positive, below 1e-100 or above 1e100.
///
/// ```
/// use metastable::theory::boolean::log_limit;
/// for (eps, limit) in [(0.5, 0.187376767908), (0.7, 0.519226930622), (1.0, 0.948301957871)] {
///     assert!((log_limit(eps).unwrap().exp() - limit).abs() < 1e-12);
/// }
/// ```
pub fn log_limit(eps: f64) -> Result<f64> {
    in_range("eps", eps, 1e-100, 1e100)?;
    let u = eps * eps;
    let tail = |from: f64| {
        if from > 40.0 {
            0.0
        } else {
            integrate(|u| 1.0 / (u * (2.0 * u).exp_m1()), from, 40.0, QUADRATURE_TOLERANCE).value
        }
    };
    if u > 1.0 {
        return Ok(eps.ln() - tail(u));
    }
    let rest = integrate(regular_part, u, 1.0, QUADRATURE_TOLERANCE).value;
    Ok(0.5 - 0.5 / u - rest - tail(1.0))
}

/// `(coth u - 1/u) / (2u)`, 1/6 at 0.
fn regular_part(u: f64) -> f64 {
    if u < 0.3 {
        // coth u - 1/u = u/3 - u^3/45 + 2u^5/945 - ...: the Bernoulli series, truncated below
        // 1e-17.
        const SERIES: [f64; 9] = [
            1.0 / 3.0,
            -1.0 / 45.0,
            2.0 / 945.0,
            -1.0 / 4725.0,
            2.0 / 93_555.0,
            -1382.0 / 638_512_875.0,
            4.0 / 18_243_225.0,
            -3617.0 / 162_820_783_125.0,
            87_734.0 / 38_979_295_480_125.0,
        ];
        return 0.5 * SERIES.iter().rev().fold(0.0, |sum, c| sum * u * u + c);
    }
    (1.0 / u.tanh() - 1.0 / u) / (2.0 * u)
}

/// The limit of tokens `+-eps` with scores `a x_i x_j`: `F(sqrt(a) eps) / sqrt(a)`; 0 if it
/// underflows.
///
/// **Errors** as [`log_limit`]; `a` not positive.
pub fn limit(eps: f64, a: f64) -> Result<f64> {
    if !(a > 0.0 && a.is_finite()) {
        return Err(Error::parameter("a", a, "a positive finite number"));
    }
    Ok((log_limit(a.sqrt() * eps)? - 0.5 * a.ln()).exp())
}
