//! Negentropy from samples on the sphere.

use crate::error::{Error, Result, in_range};
use crate::num::{bessel::log_scaled_sphere_mean, softmax::log_sum_exp};
use crate::sphere::{
    Tokens,
    geometry::{chord2, dist},
};
use statrs::function::beta::{beta_reg, ln_beta};
use statrs::function::gamma::digamma;

/// Nearest-neighbour estimate of `integral rho log rho d sigma` (Kozachenko and Leonenko 1987, with
/// the exact measure of caps): `-(1/n) sum_i [log((n - 1) sigma(cap of radius r_i))] + digamma(k)`,
/// `r_i` the distance to the k-th neighbour.
///
/// **Bias** of order `(k/n)^{2/(d-1)}` for smooth densities, of either sign, depending on the
/// curvature of rho, and never small in high dimension (d = 50, a bump of concentration 400, n =
/// 1000: 47 instead of 53); none for the uniform law up to `O(1/n)`.
/// [`super::bootstrap::estimate_negentropy`] estimates it. Samples that coincide with k others make
/// the estimate infinite, and nothing else does: volumes of caps are added as logarithms. **Cost**
/// `n^2 d`. **Errors** fewer than two samples; `k = 0` or `k >= n`.
///
/// ```
/// use metastable::{entropy::estimate::nearest_neighbour, sphere::Tokens};
/// // On the circle a cap of radius r has the share r / pi: here 1/3, and digamma(1) = -0.5772.
/// let triangle = Tokens::from_angles(&[0.0, 1.0, 2.0].map(|k| k * std::f64::consts::TAU / 3.0))?;
/// let value = nearest_neighbour(&triangle, 1)?;
/// assert!((value - (-0.577_215_664_901_532_9 - (2.0 * 2.0 / 3.0f64).ln())).abs() < 1e-14);
/// # Ok::<(), metastable::Error>(())
/// ```
pub fn nearest_neighbour(x: &Tokens, k: usize) -> Result<f64> {
    let n = x.n();
    if n < 2 {
        return Err(Error::parameter("tokens", format!("{n} token"), "at least two"));
    }
    if k == 0 || n <= k {
        let expected =
            format!("a number from 1 to {}: each of {n} tokens has {} others", n - 1, n - 1);
        return Err(Error::parameter("neighbours", k, expected));
    }
    let mut sum = 0.0;
    for i in 0..n {
        let mut distances: Vec<f64> =
            (0..n).filter(|j| *j != i).map(|j| dist(x.row(i), x.row(j))).collect();
        let (_, r, _) = distances.select_nth_unstable_by(k - 1, f64::total_cmp);
        sum += ((n - 1) as f64).ln() + log_cap(x.d(), *r);
    }
    Ok(digamma(k as f64) - sum / n as f64)
}

/// Number of samples that coincide with at least k others. **Cost** `n^2 d`.
///
/// ```
/// use metastable::{entropy::estimate::coincident, sphere::Tokens};
/// let x = Tokens::from_angles(&[0.0, 0.0, 1.0]).unwrap();
/// assert_eq!((coincident(&x, 1), coincident(&x, 2)), (2, 0));
/// ```
pub fn coincident(x: &Tokens, k: usize) -> usize {
    let n = x.n();
    let meets = |i: usize, j: usize| j != i && dist(x.row(i), x.row(j)) <= 0.0;
    (0..n).filter(|i| (0..n).filter(|j| meets(*i, *j)).take(k).count() >= k).count()
}

/// Kernel estimate `(1/n) sum_i log rho_i(x_i)`, `rho_i` the von Mises-Fisher mixture of
/// concentration kappa over all other samples.
///
/// **Bias** never positive: for independent samples the mean is the negentropy minus the mean
/// Kullback-Leibler divergence of `rho_i` from rho. Every concentration gives a lower bound on
/// average, and the highest estimate over kappa is the best. Smoothing contributes about
/// `(d-1)/kappa`, left-out points about `kappa^{(d-1)/2} / n`. Isolated samples make the estimate
/// very negative, never infinite below `kappa = 300`. **Cost** `n^2 d`. **Errors** fewer than two
/// samples, kappa outside [0, 1e5].
///
/// ```
/// use metastable::{entropy::estimate::kernel, sphere::Tokens};
/// // kappa = 0: every estimate is the uniform density.
/// let x = Tokens::from_angles(&[0.0, 1.0, 2.0]).unwrap();
/// assert!(kernel(&x, 0.0).unwrap().abs() < 1e-15);
/// ```
pub fn kernel(x: &Tokens, kappa: f64) -> Result<f64> {
    let n = x.n();
    if n < 2 {
        return Err(Error::parameter("samples", n, "at least two"));
    }
    in_range("bandwidth", kappa, 0.0, 1e5)?;
    let log_mean = log_scaled_sphere_mean(x.d(), kappa);
    let log_density = |i: usize| {
        let logits: Vec<f64> =
            (0..n).filter(|j| *j != i).map(|j| -0.5 * kappa * chord2(x.row(i), x.row(j))).collect();
        log_sum_exp(&logits) - ((n - 1) as f64).ln() - log_mean
    };
    Ok((0..n).map(log_density).sum::<f64>() / n as f64)
}

/// Below this share a cap is computed by its logarithm.
const SMALL_CAP: f64 = 1e-290;

/// Logarithm of the fraction of `S^{d-1}` within geodesic distance r of a point; minus infinity for
/// r = 0.
///
/// In high dimension the fraction underflows: for d = 768 and r = 0.1 it is `e^{-1772}`. Then the
/// incomplete beta function, with `a = (d-1)/2` and `x = sin^2 r`, is `x^a (1-x)^{1/2} / (a B(a,
/// 1/2))` times the sum of `x^k (a + 1/2)_k / (a + 1)_k`, whose terms are positive (DLMF 8.17.8).
fn log_cap(d: usize, r: f64) -> f64 {
    let (a, sin) = (0.5 * (d as f64 - 1.0), r.sin());
    let x = (sin * sin).min(1.0);
    let half = 0.5 * beta_reg(a, 0.5, x);
    if r > std::f64::consts::FRAC_PI_2 {
        return (1.0 - half).ln();
    }
    if half > SMALL_CAP || sin <= 0.0 {
        return half.ln();
    }
    let (mut term, mut sum, mut k) = (1.0, 1.0, 0.0);
    while term > f64::EPSILON * sum {
        term *= x * (a + 0.5 + k) / (a + 1.0 + k);
        sum += term;
        k += 1.0;
    }
    2.0 * a * sin.ln() + 0.5 * (-x).ln_1p() + f64::ln(sum) - (2.0 * a).ln() - ln_beta(a, 0.5)
}

#[cfg(test)]
mod tests {
    use super::log_cap;

    #[test]
    fn caps_below_the_smallest_double_have_a_logarithm() {
        // The series goes on where the incomplete beta function ends.
        let steps: Vec<f64> = (0..40).map(|k| log_cap(384, 0.05 + 0.005 * f64::from(k))).collect();
        assert!(steps[0] < -1100.0 && steps.iter().all(|v| v.is_finite()));
        let second = steps.windows(3).map(|w| w[0] - 2.0 * w[1] + w[2]);
        assert!(second.into_iter().all(|v| (-4.0..0.0).contains(&v)), "{steps:?}");
        // On S^2 the fraction is (1 - cos r) / 2.
        let exact = (0.5 * (1.0 - 1e-3f64.cos())).ln();
        assert!((log_cap(3, 1e-3) - exact).abs() < 1e-9);
        assert_eq!(log_cap(5, 0.0), f64::NEG_INFINITY);
    }
}
