//! Production of negentropy by kernel formulas, independent of the spectral formulas.

use crate::attention::RowWeights;
use crate::continuity::{MeasureDynamics, circle::Circle};
use crate::error::{Error, Result};
use std::f64::consts::TAU;

/// Production on the circle, by quadrature of the double integral. USA:
/// `integral integral e^{beta s} [s - beta (1 - s^2)] d mu d mu`. SA:
/// `integral { E_x[s] - beta (E_x[sin^2] - E_x[sin]^2) } d mu(x)` under the attention law of x.
///
/// **Cost** quadratic in `points`; the trapezoidal rule converges spectrally. **Errors** Sinkhorn
/// attention, which has no closed kernel; an interaction of its own.
pub fn on_circle(density: &Circle, dynamics: &MeasureDynamics, points: usize) -> Result<f64> {
    if let Some(own) = &dynamics.interaction {
        return Err(Error::parameter(
            "interaction",
            own.interaction().name(),
            "none: only e^{beta s}",
        ));
    }
    let values = density.values(points);
    let n = values.len();
    let beta = dynamics.beta;
    let angle = |k: usize| TAU * k as f64 / n as f64;
    let kernel: Vec<(f64, f64, f64)> = (0..n)
        .map(|k| (angle(k).cos(), angle(k).sin(), (beta * angle(k).cos() - beta.abs()).exp()))
        .collect();
    let mut total = 0.0;
    for i in 0..n {
        let (mut z, mut cosine, mut sine, mut square) = (0.0, 0.0, 0.0, 0.0);
        for (j, rho) in values.iter().enumerate() {
            let (c, s, w) = kernel[(i + n - j) % n];
            z += rho * w;
            cosine += rho * w * c;
            sine += rho * w * s;
            square += rho * w * s * s;
        }
        total += values[i]
            * match dynamics.weights {
                RowWeights::Exponential => (cosine - beta * square) * beta.abs().exp() / n as f64,
                RowWeights::Softmax => cosine / z - beta * (square / z - (sine / z).powi(2)),
                RowWeights::Sinkhorn => {
                    return Err(Error::parameter("dynamics", "sinkhorn", "sa or usa"));
                }
            };
    }
    Ok(total / n as f64)
}
