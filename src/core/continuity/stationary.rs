//! Stationary measures of noisy USA on the circle: `rho = exp((kappa/beta) W[rho]) / Z`, even about
//! 0.

use super::{MeasureDynamics, circle::Circle, series::kernel};
use crate::attention::RowWeights;
use crate::error::{Error, Result, in_range};
use crate::num::roots::bracketed_root;
use std::f64::consts::PI;

/// A stationary measure on the branch.
#[derive(Clone, Debug)]
pub struct StationaryMeasure {
    /// Parameter of the branch: `integral cos theta d mu`.
    pub mean: f64,
    /// The `kappa` at which this measure is stationary.
    pub kappa: f64,
    /// Free energy `H/kappa - E` relative to the uniform measure: negative if this measure has the
    /// lower one.
    pub free_energy: f64,
    /// The density.
    pub density: Circle,
}

/// Grid points of the circle.
const POINTS: usize = 512;
const MODES: usize = 96;

/// Values of the Gibbs density for potentials `kappa a_k` of `cos k theta`.
fn gibbs(kappa: f64, potential: &[f64]) -> Vec<f64> {
    let log: Vec<f64> = potential.iter().map(|w| kappa * w).collect();
    let top = log.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
    let values: Vec<f64> = log.iter().map(|l| (l - top).exp()).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|v| v / mean).collect()
}

/// `cos(2 pi j / POINTS)`.
fn cosines() -> Vec<f64> {
    (0..POINTS).map(|j| (2.0 * PI * j as f64 / POINTS as f64).cos()).collect()
}

fn cosine_mean(cosines: &[f64], values: &[f64], k: usize) -> f64 {
    values.iter().enumerate().map(|(j, v)| v * cosines[(k * j) % POINTS]).sum::<f64>()
        / POINTS as f64
}

/// The stationary measure of noisy USA with `integral cos theta d mu = mean`, on the branch that
/// bifurcates from the uniform measure with mode 1. `kappa` is computed, not given, so the branch
/// may have folds.
///
/// **Accuracy** fixed point to 1e-13. **Errors** mean outside (0, 0.95], beta outside (0, 50], no
/// convergence.
///
/// ```
/// use metastable::{continuity::stationary::branch, theory::noise::threshold};
/// // Near the uniform measure kappa is the threshold of the first mode.
/// assert!((branch(1.0, 1e-3).unwrap().kappa / threshold(2, 1, 1.0).unwrap() - 1.0).abs() < 1e-5);
/// ```
pub fn branch(beta: f64, mean: f64) -> Result<StationaryMeasure> {
    in_range("mean", mean, 1e-6, 0.95)?;
    in_range("beta", beta, 1e-6, 50.0)?;
    // W / beta of the kernel `e^{beta s}`, as coefficients of cos k theta.
    let pull: Vec<f64> =
        kernel(2, beta, MODES).iter().map(|w| 2.0 * w * beta.exp() / beta).collect();
    let mut moments: Vec<f64> = (0..=MODES).map(|k| mean.powi((k * k) as i32)).collect();
    let mut kappa = 1.0 / (0.5 * pull[1]);
    let cosines = cosines();
    for _ in 0..2000 {
        let potential: Vec<f64> = (0..POINTS)
            .map(|j| {
                let wave = |k: usize| cosines[(k * j) % POINTS];
                (1..=MODES)
                    .filter(|k| pull[*k] * moments[*k].abs() > 1e-18)
                    .map(|k| pull[k] * moments[k] * wave(k))
                    .sum()
            })
            .collect();
        let excess = |kappa: f64| cosine_mean(&cosines, &gibbs(kappa, &potential), 1) - mean;
        let not_found = || Error::Numerical {
            what: format!(
                "no kappa was found for the stationary measure at beta = {beta}, mean {mean}"
            ),
        };
        kappa = bracketed_root(excess, 0.05 * kappa, 20.0 * kappa, 1e-16 * kappa)
            .ok_or_else(not_found)?;
        let values = gibbs(kappa, &potential);
        let next: Vec<f64> = (0..=MODES)
            .map(|k| if k == 1 { mean } else { cosine_mean(&cosines, &values, k) })
            .collect();
        let change = next.iter().zip(&moments).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        moments = next;
        if change < 1e-14 {
            let density = Circle::from_values_truncated(&values, MODES)?;
            let free_energy = density.negentropy() / kappa
                - density.energy(&MeasureDynamics {
                    weights: RowWeights::Exponential,
                    beta,
                    diffusion: 0.0,
                    interaction: None,
                });
            return Ok(StationaryMeasure { mean, kappa, free_energy, density });
        }
    }
    Err(Error::Numerical {
        what: format!("the stationary measure at beta = {beta}, mean {mean} did not converge"),
    })
}
