//! Linear growth of the modes of the uniform measure (linearised with the Funk-Hecke formula).

use crate::attention::{RowWeights, TimeScale};
use crate::error::{Error, Result, in_range};
use crate::num::{bessel::bessel_ratios, gegenbauer::scaled_funk_hecke, roots::bracketed_root};

/// SA rates `r_k = k(k+d-2) I_{k+d/2-1}(beta) / (beta I_{d/2-1}(beta))`, k = 0..=kmax; at beta = 0
/// only `r_1 = (d-1)/d` is not zero.
///
/// **Accuracy** `(10 + k) u` relative. **Errors** `d < 2`, beta outside [0, 1e6].
///
/// ```
/// use metastable::theory::growth::rates_sa;
/// assert!((rates_sa(2, 5.0, 3).unwrap()[3] - 0.68268).abs() < 1e-5);
/// ```
pub fn rates_sa(d: usize, beta: f64, kmax: usize) -> Result<Vec<f64>> {
    check(d, beta, kmax)?;
    // The first ratio is divided by beta in the limit-safe form q_0 / (2 (v + 1)), v + 1 = d/2.
    let ratios = bessel_ratios(d as f64 / 2.0 - 1.0, beta, kmax);
    let mut rates = vec![0.0];
    let mut value = 1.0;
    for k in 1..=kmax {
        value *= if k == 1 && beta < 1e-150 {
            1.0 / d as f64
        } else if k == 1 {
            ratios[0] / beta
        } else {
            ratios[k - 1]
        };
        rates.push(laplacian_eigenvalue(d, k) * value);
    }
    Ok(rates)
}

/// USA rates `r_k = k(k+d-2) lambda_k / beta` in a time scale.
///
/// **Errors** as [`rates_sa`]; a rate that exceeds f64 (use `u2`).
pub fn rates_usa(d: usize, beta: f64, kmax: usize, scale: TimeScale, n: usize) -> Result<Vec<f64>> {
    let lambda0 = check(d, beta, kmax).map(|()| scaled_funk_hecke(d, 0, beta)[0])?;
    let log_factor = beta + scale.log_factor(beta, n);
    let rates: Vec<f64> = rates_sa(d, beta, kmax)?
        .iter()
        .map(|r| crate::attention::kernel::exp_shifted((r * lambda0).ln(), log_factor))
        .collect();
    if rates.iter().any(|r| !r.is_finite()) {
        let quantity =
            format!("a USA growth rate at beta = {beta} in normalisation {}", scale.describe());
        return Err(Error::Beyond { quantity, hint: "use --time-scale u2".into() });
    }
    Ok(rates)
}

/// Sinkhorn rates `(k(k+d-2)/beta) q_k / (1 + q_k)`, `q_k = lambda_k / lambda_0`: between half the
/// SA rates and the SA rates (Sinkhorn attention of arXiv:2110.11773).
///
/// **Errors** as [`rates_sa`].
pub fn rates_sinkhorn(d: usize, beta: f64, kmax: usize) -> Result<Vec<f64>> {
    let rates = rates_sa(d, beta, kmax)?;
    Ok(rates
        .iter()
        .enumerate()
        .map(|(k, r)| if k == 0 { 0.0 } else { r / (1.0 + r * beta / laplacian_eigenvalue(d, k)) })
        .collect())
}

/// The rates for these weights; `scale` and `n` apply to USA.
///
/// **Errors** as [`rates_sa`] and [`rates_usa`].
pub fn rates(
    weights: RowWeights,
    d: usize,
    beta: f64,
    kmax: usize,
    scale: TimeScale,
    n: usize,
) -> Result<Vec<f64>> {
    match weights {
        RowWeights::Softmax => rates_sa(d, beta, kmax),
        RowWeights::Exponential => rates_usa(d, beta, kmax, scale, n),
        RowWeights::Sinkhorn => rates_sinkhorn(d, beta, kmax),
    }
}

/// Degree of the fastest growing mode.
pub fn fastest_mode(rates: &[f64]) -> usize {
    (0..rates.len()).max_by(|&a, &b| rates[a].total_cmp(&rates[b])).unwrap_or(0)
}

/// The `count` inverse temperatures at which the fastest mode becomes k = 2, 3, ..., that is
/// `r_k = r_{k-1}`; equal for SA and USA.
///
/// **Accuracy** 1e-12 relative. **Errors** `d < 2`, no switch below beta = 1e6.
///
/// ```
/// let beta = metastable::theory::growth::switch_points(2, 3).unwrap();
/// assert!((beta[0] - 1.04446).abs() < 1e-5 && (beta[2] - 6.21130).abs() < 1e-5);
/// ```
pub fn switch_points(d: usize, count: usize) -> Result<Vec<f64>> {
    check(d, 1.0, count)?;
    let mut from = 1e-3;
    let mut out = Vec::with_capacity(count);
    for k in 2..count + 2 {
        let gap = |beta: f64| rates_sa(d, beta, k).map_or(f64::NAN, |r| r[k] - r[k - 1]);
        let mut to = 2.0 * from;
        while gap(to) < 0.0 && to < 1e6 {
            to *= 2.0;
        }
        let root = bracketed_root(gap, from, to, 1e-13 * to).ok_or_else(|| Error::Numerical {
            what: format!("mode {k} does not overtake below beta = {to:e}"),
        })?;
        out.push(root);
        from = root;
    }
    Ok(out)
}

/// `k (k + d - 2)`, minus the eigenvalue of the Laplace-Beltrami operator on harmonics of degree k.
pub fn laplacian_eigenvalue(d: usize, k: usize) -> f64 {
    let k = k as f64;
    k * (k + d as f64 - 2.0)
}

fn check(d: usize, beta: f64, kmax: usize) -> Result<()> {
    if !(2..=1_000_000).contains(&d) {
        return Err(Error::parameter("d", d, "an ambient dimension in [2, 1000000]"));
    }
    if kmax > 100_000 {
        return Err(Error::parameter("modes", kmax, "at most 100000 modes"));
    }
    in_range("beta", beta, 0.0, 1e6).map(|_| ())
}

/// Fastest mode and end time of the published experiment on clusters from noise (USA at beta = 5
/// and 7, arXiv:2410.23228 and its code).
pub fn published_fastest_mode(beta: f64) -> (usize, f64) {
    if beta < 6.0 { (3, 0.3) } else { (4, 0.045) }
}
