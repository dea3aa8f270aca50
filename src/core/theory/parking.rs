//! Renyi centres of causal attention: expected numbers of strong centres, and the parking constant
//! (arXiv:2411.04990, section 5).

use crate::error::{Result, in_range};
use statrs::function::beta::beta_reg;

/// Renyi's parking constant: the mean density of Renyi centres on the line.
pub const RENYI: f64 = 0.747_597_920_253_411_4;

/// Fraction of the sphere `S^{d-1}` within geodesic distance `delta` of a point: `delta/pi` at d =
/// 2, `sin^2(delta/2)` at d = 3.
///
/// ```
/// let p = metastable::theory::parking::cap_share(3, 0.7).unwrap();
/// assert!((p - 0.35f64.sin().powi(2)).abs() < 1e-12);
/// ```
pub fn cap_share(d: usize, delta: f64) -> Result<f64> {
    in_range("delta", delta, 0.0, std::f64::consts::PI)?;
    let half = 0.5 * beta_reg((d as f64 - 1.0) / 2.0, 0.5, delta.sin().powi(2).min(1.0));
    Ok(if delta <= std::f64::consts::FRAC_PI_2 { half } else { 1.0 - half })
}

/// Expected number of strong Renyi centres among n uniform tokens, `(1 - (1-p)^n) / p` with the
/// fraction p of a cap of radius `delta`; tends to `1/p`.
pub fn strong_centres(n: usize, d: usize, delta: f64) -> Result<f64> {
    let p = cap_share(d, delta)?;
    Ok(if p == 0.0 { n as f64 } else { -(n as f64 * (-p).ln_1p()).exp_m1() / p })
}
