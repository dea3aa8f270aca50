//! Thresholds of noisy USA, `dX = v dt + sqrt(2/kappa) dW` in U1 (Mun, Rosenzweig,
//! arXiv:2606.05140, converted to this normalisation).

use crate::error::{Error, Result, in_range};
use crate::num::{bessel::bessel_ratios, gegenbauer::scaled_funk_hecke, roots::bracketed_root};

/// `kappa_k = beta / lambda_k`: above it the mode of degree k of the uniform measure grows. The
/// lowest threshold is that of k = 1.
///
/// **Errors** `d < 2`, `k = 0`, beta outside (0, 700], a threshold that exceeds f64.
///
/// ```
/// // beta -> 0 is the Kuramoto model: kappa_c = d.
/// assert!((metastable::theory::noise::threshold(2, 1, 1e-9).unwrap() - 2.0).abs() < 1e-8);
/// ```
pub fn threshold(d: usize, k: usize, beta: f64) -> Result<f64> {
    in_range("beta", beta, 1e-300, 700.0)?;
    if d < 2 || k == 0 {
        return Err(Error::parameter("k", k, "a degree of at least 1, d at least 2"));
    }
    let kappa = beta / (scaled_funk_hecke(d, k, beta)[k] * beta.exp());
    if kappa.is_finite() {
        return Ok(kappa);
    }
    Err(Error::Beyond {
        quantity: format!("the threshold of mode {k} at beta = {beta}"),
        hint: "use fewer modes or a larger beta".into(),
    })
}

/// The inverse temperature `beta_*` above which the transition is discontinuous:
/// `I_{d/2+1}(beta) / I_{d/2}(beta) = 1/d`.
///
/// **Accuracy** 1e-14 relative. **Errors** `d < 2`.
///
/// ```
/// assert!((metastable::theory::noise::beta_star(2).unwrap() - 2.44692).abs() < 1e-5);
/// ```
pub fn beta_star(d: usize) -> Result<f64> {
    let ratio = |beta: f64| bessel_ratios(0.5 * d as f64, beta, 1)[0] - 1.0 / d as f64;
    (2..=1_000_000)
        .contains(&d)
        .then(|| bracketed_root(ratio, 1e-3, 10.0, 0.0))
        .flatten()
        .ok_or_else(|| Error::parameter("d", d, "an ambient dimension in [2, 1000000]"))
}
