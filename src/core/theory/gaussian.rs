//! Self-attention of a Gaussian law in `R^d`, which stays Gaussian (arXiv:2501.18322).

use crate::error::{Error, Result, in_range};
use crate::num::{dd::Dd, dense::mul, ode::advance};

/// The covariance eigenvalue `s(t) = s / (1 - 2 v b s t)` for `V = v I` and scores `b <x, y>`;
/// `None` from the time of [`blow_up`] on.
///
/// ```
/// // A variance of 1, V = -I, b = 1/2: 1/3 after two units of time.
/// assert!((metastable::theory::gaussian::variance(1.0, 0.5, -1.0, 2.0).unwrap() - 1.0 / 3.0).abs() < 1e-15);
/// ```
pub fn variance(s: f64, b: f64, v: f64, t: f64) -> Option<f64> {
    let denominator = denominator(s, b, v, t);
    (denominator > 0.0).then_some(s / denominator)
}

/// `1 - 2 v b s t`, with all digits also near the blow-up.
fn denominator(s: f64, b: f64, v: f64, t: f64) -> f64 {
    let product = [v, b, s, t].into_iter().fold(Dd::from(2.0), |p, x| p * Dd::from(x));
    (Dd::from(1.0) - product).to_f64()
}

/// The factor of a mean along an eigenvector of the covariance: `e^{vt} / sqrt(1 - 2 v b s t)`.
pub fn mean_factor(s: f64, b: f64, v: f64, t: f64) -> Option<f64> {
    let denominator = denominator(s, b, v, t);
    (denominator > 0.0).then(|| (v * t).exp() / denominator.sqrt())
}

/// The time `1/(2 v b s)` at which the largest eigenvalue s becomes infinite; `None` if it never
/// does. With finitely many tokens there is no blow-up.
pub fn blow_up(s: f64, b: f64, v: f64) -> Option<f64> {
    let rate = 2.0 * v * b * s;
    (rate > 0.0).then(|| 1.0 / rate)
}

/// Mean and covariance.
#[derive(Clone, Debug, PartialEq)]
pub struct GaussianMoments {
    /// The mean.
    pub mean: Vec<f64>,
    /// The covariance, row-major.
    pub covariance: Vec<f64>,
}

/// Mean and covariance after time t for scores `<A^T x, y>` and values `V y`:
/// `m' = V (m + S A^T m)`, `S' = V S A^T S + S A S V^T`: the weight `e^{<A^T x, y>}` shifts the
/// mean of a Gaussian by `S A^T x`.
///
/// **Accuracy** 1e-12 of the growth. **Errors** matrices that are not d x d; a covariance that
/// exceeds `f64` before t.
pub fn evolve(start: &GaussianMoments, a: &[f64], v: &[f64], t: f64) -> Result<GaussianMoments> {
    let d = start.mean.len();
    for (name, m) in [("A", a), ("V", v), ("covariance", &start.covariance[..])] {
        if m.len() != d * d || m.iter().any(|x| !x.is_finite()) {
            return Err(Error::parameter(
                name,
                format!("{} numbers", m.len()),
                format!("a finite {d} x {d} matrix"),
            ));
        }
    }
    in_range("t", t, 0.0, 1e6)?;
    let transposed: Vec<f64> = (0..d * d).map(|k| a[(k % d) * d + k / d]).collect();
    let field = |y: &[f64], dy: &mut [f64]| {
        let (m, s) = y.split_at(d);
        // V S A^T S; the other term is its transpose.
        let half = mul(v, &mul(s, &mul(&transposed, s, d), d), d);
        let shift = mul(s, &mul(&transposed, m, 1), 1);
        let shifted_mean: Vec<f64> = m.iter().zip(&shift).map(|(m, s)| m + s).collect();
        dy[..d].copy_from_slice(&mul(v, &shifted_mean, 1));
        (0..d * d).for_each(|k| dy[d + k] = half[k] + half[(k % d) * d + k / d]);
    };
    let y0: Vec<f64> = start.mean.iter().chain(&start.covariance).copied().collect();
    let end = advance(field, &y0, t, (1e-13, 1e-13), 100_000);
    match end {
        Ok(y) if y.iter().all(|v| v.is_finite()) => {
            Ok(GaussianMoments { mean: y[..d].to_vec(), covariance: y[d..].to_vec() })
        }
        _ => Err(Error::Numerical {
            what: format!("the covariance of the Gaussian closure becomes infinite before t = {t}"),
        }),
    }
}
