//! Thresholds of beta in theorems by which every local maximum of the energy is one cluster
//! (arXiv:2312.10794, Theorems 4.3 and 5.1, with constants from the proofs).

use std::f64::consts::PI;

/// The zero `tau*` of the kernel `g(tau) = (( d-1) cos tau - beta sin^2 tau) e^{beta cos tau}` in
/// (0, pi/2): `cos tau* = (-(d-1) + sqrt((d-1)^2 + 4 beta^2)) / (2 beta)`,
/// `tau* ~ sqrt((d-1)/beta)`.
///
/// ```
/// use metastable::theory::threshold::tau_star;
/// let tau = tau_star(2, 6.0);
/// assert!((tau.cos() - 6.0 * tau.sin().powi(2)).abs() < 1e-14);
/// assert!((tau_star(2, 1e16) * 1e8 - 1.0).abs() < 1e-8); // ~ beta^{-1/2}
/// ```
pub fn tau_star(d: usize, beta: f64) -> f64 {
    let m = d as f64 - 1.0;
    // 1 - cos tau* = (m + m^2 / (r + 2 beta)) / (m + r) with r = sqrt(m^2 + 4 beta^2), and
    // tau* = 2 asin(sqrt((1 - cos)/2)): no cancellation.
    let r = m.hypot(2.0 * beta);
    let one_minus_cos = (m + m * m / (r + 2.0 * beta)) / (m + r);
    2.0 * (0.5 * one_minus_cos).sqrt().asin()
}

/// The threshold for small beta. Below it, at every critical point except consensus, moving some
/// single token increases the energy; two antipodal halves attain the threshold: `log(n/(n-2))/2`,
/// a little above `1/n`; infinite for two tokens. The constant of arXiv:2312.10794, Theorem 4.3,
/// derived in the claim `small-beta-blocks`.
///
/// ```
/// use metastable::theory::threshold::small_beta;
/// assert!(small_beta(2).is_infinite() && small_beta(8) > 1.0 / 8.0 && (small_beta(4) - 0.5 * 2f64.ln()).abs() < 1e-15);
/// ```
pub fn small_beta(n: usize) -> f64 {
    let n = n as f64;
    if n <= 2.0 { f64::INFINITY } else { 0.5 * (n / (n - 2.0)).ln() }
}

/// The sharp threshold of the chain argument: `(n-1) tau* < pi`, i.e.
/// `beta > (d-1) cos(pi/(n-1)) / sin^2(pi/(n-1))`; 0 for n <= 3.
///
/// ```
/// use metastable::theory::threshold::sharp;
/// assert!((sharp(5, 2) - 2f64.sqrt()).abs() < 1e-14);
/// ```
pub fn sharp(n: usize, d: usize) -> f64 {
    if n <= 3 {
        return 0.0;
    }
    let angle = PI / (n as f64 - 1.0);
    (d as f64 - 1.0) * angle.cos() / angle.sin().powi(2)
}

/// The threshold of the condition `(n-1) tau* < pi/2`, which the proof of 2312.10794, Theorem 5.1
/// uses.
pub fn paper_proof(n: usize, d: usize) -> f64 {
    if n <= 2 {
        return 0.0;
    }
    let angle = PI / (2.0 * (n as f64 - 1.0));
    (d as f64 - 1.0) * angle.cos() / angle.sin().powi(2)
}

/// The threshold `n^2/pi^2` stated for d = 2 in 2312.10794, section 7 and figure 2.
pub fn paper_circle(n: usize) -> f64 {
    (n as f64 / PI).powi(2)
}
