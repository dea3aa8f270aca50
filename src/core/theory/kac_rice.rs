//! Expected number of modes of a kernel density estimate by the Kac-Rice formula, with the estimate
//! replaced by a Gaussian field (Gaussian proxy; arXiv:2412.09080).

use crate::error::{Error, Result, format_number, in_range};
use crate::num::{bessel::bessel_ratios, quadrature::integrate};
use statrs::distribution::{ContinuousCDF, Normal};

/// The default half width `T* = sqrt(2 log n - log beta)`: beyond it too few samples contribute for
/// the Gaussian proxy.
///
/// **Errors** `n^2 <= beta`.
pub fn default_interval(n: f64, beta: f64) -> Result<f64> {
    let square = 2.0 * n.ln() - beta.ln();
    if square > 0.0 {
        Ok(square.sqrt())
    } else {
        Err(Error::parameter("beta", beta, "below n^2, or give an interval"))
    }
}

/// Number of pieces of the line: `2^{-60}` of the interval is narrower than any peak.
const PIECES: i32 = 60;

/// Expected number of modes in `[-t_max, t_max]` of the density estimate of n standard normal
/// samples with kernel `e^{-beta (t - x)^2 / 2}`.
///
/// With `A_j(a) = E[(X - t)^j e^{-a beta (X - t)^2 / 2}]` the field and its slope are Gaussian with
/// means `n m`, covariance `n V`; the density of maxima is `phi(0; n m_1, n V_11) E[(-Y)_+]`.
/// **Accuracy** 1e-10 of the proxy. **Errors** n < 2, beta <= 0, a negative half width, a half
/// width for which the proxy counts more modes than samples.
///
/// ```
/// use metastable::theory::kac_rice::{default_interval, expected_modes};
/// let modes = expected_modes(400.0, 100.0, default_interval(400.0, 100.0).unwrap()).unwrap();
/// assert!((modes - 8.551881214641685).abs() < 1e-9);
/// ```
pub fn expected_modes(n: f64, beta: f64, t_max: f64) -> Result<f64> {
    in_range("n", n, 2.0, 1e15)?;
    in_range("beta", beta, 1e-6, 1e12)?;
    in_range("interval", t_max, 0.0, 1e3)?;
    let normal = Normal::standard();
    let density = |t: f64| {
        let moments = |a: f64| {
            let width = 1.0 + a * beta;
            let (m, s2) = (-t / width, 1.0 / width);
            let scale = width.powf(-0.5) * (-a * beta * t * t / (2.0 * width)).exp();
            [
                1.0,
                m,
                m * m + s2,
                m * (m * m + 3.0 * s2),
                m.powi(4) + 6.0 * m * m * s2 + 3.0 * s2 * s2,
            ]
            .map(|v| scale * v)
        };
        let (one, two) = (moments(1.0), moments(2.0));
        let (m1, m2) = (one[1], beta * one[2] - one[0]);
        let v11 = two[2] - m1 * m1;
        let v12 = beta * two[3] - two[1] - m1 * m2;
        let v22 = beta * beta * two[4] - 2.0 * beta * two[2] + two[0] - m2 * m2;
        let mean = n * m2 - v12 / v11 * n * m1;
        let deviation = (n * (v22 - v12 * v12 / v11)).sqrt();
        let phi = |z: f64| (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
        let ratio = mean / deviation;
        phi(n * m1 / (n * v11).sqrt()) / (n * v11).sqrt()
            * (deviation * phi(ratio) - mean * normal.cdf(-ratio))
    };
    // Symmetric in t.
    // The peak at 0 may be narrow: pieces that halve towards it, the last one far inside.
    let ends = (0..=PIECES).map(|k| if k == PIECES { 0.0 } else { t_max * 0.5f64.powi(k) });
    let ends: Vec<f64> = ends.collect();
    let pieces = ends.windows(2).map(|w| integrate(density, w[1], w[0], 1e-12).value);
    let modes = 2.0 * pieces.sum::<f64>();
    if modes <= n {
        return Ok(modes.max(0.0));
    }
    // An estimate of n samples with one bandwidth has at most n modes. Far out, where samples are
    // rare, the field is not Gaussian.
    let expected = "a smaller half width (the default, sqrt(2 log n - log beta), ends where samples are few): the proxy counts more modes than samples";
    Err(Error::parameter("interval", format_number(t_max), expected))
}

/// The leading order
/// `(1/pi) sqrt(3 beta/2) (sqrt(2 log n - log beta) - sqrt((2 log n - 3 log beta)_+))` of the
/// expected number of modes of n normal samples. Divided by `sqrt(beta log beta)` it is the
/// effective constant of the theorem: at `beta = n^a` it is
/// `(1/pi) sqrt(3/2) (sqrt(2/a - 1) - sqrt((2/a - 3)_+))` for every n.
///
/// ```
/// use metastable::theory::kac_rice::leading_modes;
/// // beta = n: (1/pi) sqrt(3/2) = 0.39.
/// assert!((leading_modes(1e4, 1e4) / (1e4 * 1e4f64.ln()).sqrt() - 0.38985).abs() < 1e-5);
/// ```
pub fn leading_modes(n: f64, beta: f64) -> f64 {
    let edge = |times: f64| (2.0 * n.ln() - times * beta.ln()).max(0.0).sqrt();
    (1.5 * beta).sqrt() / std::f64::consts::PI * (edge(1.0) - edge(3.0))
}

/// Expected number of modes on the circle for many uniform samples and kernel `e^{beta cos}`:
/// `sqrt(1 + (3 beta/2) I_2(2 beta)/I_1(2 beta))`, without a logarithm.
///
/// ```
/// assert!((metastable::theory::kac_rice::expected_modes_circle(50.0).unwrap() - 8.653).abs() < 1e-3);
/// ```
pub fn expected_modes_circle(beta: f64) -> Result<f64> {
    in_range("beta", beta, 0.0, 5e5)?;
    Ok((1.0 + 1.5 * beta * bessel_ratios(1.0, 2.0 * beta, 1)[0]).sqrt())
}

/// Expected number of maxima on S^2 of the estimate with kernel `e^{beta <x, y>}` from many uniform
/// samples, `1 + 2 q / sqrt(3 + 1/q)` with `q = (beta/2) I_{5/2}(2 beta) / I_{3/2}(2 beta)`.
///
/// In the limit of many samples the estimate is an isotropic Gaussian field of covariance
/// `C(<x, y>) = sinh(beta z)/(beta z)`, `z^2 = 2 + 2 <x, y>`. Its gradient has variance `C'(1)` per
/// direction and is independent of the Hessian, half whose trace has variance `2 C''(1) + C'(1)`
/// and whose two traceless entries have variance `C''(1)`; Kac-Rice over these three numbers
/// integrates in closed form with `q = C''(1)/C'(1)`. About `beta / sqrt 3` for large beta.
/// **Accuracy** 10 ulp. **Errors** beta outside (0, 1e6].
///
/// ```
/// // beta -> 0: a single first harmonic, one maximum.
/// assert!((metastable::theory::kac_rice::expected_modes_sphere(1e-6).unwrap() - 1.0).abs() < 1e-6);
/// ```
pub fn expected_modes_sphere(beta: f64) -> Result<f64> {
    in_range("beta", beta, f64::MIN_POSITIVE, 1e6)?;
    let q = 0.5 * beta * crate::num::bessel::bessel_ratios(1.5, 2.0 * beta, 1)[0];
    Ok(1.0 + 2.0 * q / (3.0 + 1.0 / q).sqrt())
}
