//! Negentropy from samples on the sphere.

use crate::error::{Error, Result};
use crate::sphere::{Tokens, geometry::dist};
use statrs::function::beta::beta_reg;
use statrs::function::gamma::digamma;

/// Nearest-neighbour estimate of `integral rho log rho d sigma` (Kozachenko and Leonenko 1987, with the exact measure of caps):
/// `-(1/n) sum_i [log((n - 1) sigma(cap of radius r_i))] + digamma(k)`, `r_i` the distance to the k-th neighbour.
///
/// **Bias** of order `(k/n)^{2/(d-1)}` for smooth densities, positive or negative with the curvature of rho; none for the uniform law up to `O(1/n)`. Samples
/// that coincide make it infinite. **Cost** `n^2 d`. **Errors** `n <= k`.
pub fn nearest_neighbour(x: &Tokens, k: usize) -> Result<f64> {
    let n = x.n();
    if k == 0 || n <= k {
        return Err(Error::parameter("k", k, format!("a neighbour in 1..{n}")));
    }
    let mut sum = 0.0;
    for i in 0..n {
        let mut distances: Vec<f64> = (0..n).filter(|j| *j != i).map(|j| dist(x.row(i), x.row(j))).collect();
        let (_, r, _) = distances.select_nth_unstable_by(k - 1, f64::total_cmp);
        sum += ((n - 1) as f64 * cap(x.d(), *r)).ln();
    }
    Ok(digamma(k as f64) - sum / n as f64)
}

/// Share of `S^{d-1}` within geodesic distance r.
fn cap(d: usize, r: f64) -> f64 {
    let half = 0.5 * beta_reg(0.5 * (d as f64 - 1.0), 0.5, r.sin().powi(2).min(1.0));
    if r <= std::f64::consts::FRAC_PI_2 { half } else { 1.0 - half }
}
