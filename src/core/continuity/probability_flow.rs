//! Deterministic particles for noise on the circle: they move by `v - (1/kappa) (log rho)'`, so
//! their density solves the equation with diffusion.
//!
//! A particle that started at label s carries the mass of its label:
//! `rho(theta(s)) = rho_0(s) / theta'(s)`. Derivatives in s are trigonometric, of spectral
//! accuracy.

use super::circle::Circle;
use super::{MeasureDynamics, reject_interaction, weighted_mean};
use crate::attention::RowWeights;
use crate::error::{Error, Result, in_range};
use crate::flow::{OdeOptions, OdeStep, OdeSystem, StepAction, integrate};
use std::f64::consts::{PI, TAU};

/// Particles, labelled by an equispaced grid.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbabilityFlow {
    /// Angles, not reduced modulo `2 pi`.
    pub theta: Vec<f64>,
    /// Masses, of sum 1.
    pub masses: Vec<f64>,
    /// Logarithm of the initial density at the labels.
    log_start: Vec<f64>,
}

impl ProbabilityFlow {
    /// An even number of equispaced particles. **Errors** an odd number or one outside [8, 1024], a
    /// density that vanishes somewhere (the error names the angle).
    pub fn new(density: &Circle, n: usize) -> Result<Self> {
        in_range("particles", n as f64, 8.0, 1024.0)?;
        let values = density.values(n);
        if values.len() != n || !n.is_multiple_of(2) {
            return Err(Error::parameter(
                "particles",
                n,
                format!("an even number of at least {}", 2 * density.modes() + 2),
            ));
        }
        if let Some(j) = values.iter().position(|v| *v <= 0.0) {
            return Err(Error::parameter(
                "density",
                format!("{} at theta = {}", values[j], TAU * j as f64 / n as f64),
                "positive values",
            ));
        }
        let total: f64 = values.iter().sum();
        Ok(Self {
            theta: (0..n).map(|j| TAU * j as f64 / n as f64).collect(),
            masses: values.iter().map(|v| v / total).collect(),
            log_start: values.iter().map(|v| (v * n as f64 / total).ln()).collect(),
        })
    }

    /// Logarithm of the density at the particles, and `theta'(s)`.
    fn log_density(&self, theta: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let n = theta.len();
        let shift: Vec<f64> =
            theta.iter().enumerate().map(|(j, t)| t - TAU * j as f64 / n as f64).collect();
        let stretch: Vec<f64> = derivative(&shift).into_iter().map(|v| 1.0 + v).collect();
        (self.log_start.iter().zip(&stretch).map(|(l, s)| l - s.ln()).collect(), stretch)
    }

    /// `integral rho log rho d sigma`.
    pub fn negentropy(&self) -> f64 {
        weighted_mean(&self.masses, &self.log_density(&self.theta).0)
    }

    /// Means of `cos k theta` and `sin k theta`.
    pub fn moment(&self, k: usize) -> (f64, f64) {
        let turn = |t: &f64| (k as f64 * t).sin_cos();
        self.theta
            .iter()
            .map(turn)
            .zip(&self.masses)
            .fold((0.0, 0.0), |(c, s), ((sine, cosine), m)| (c + m * cosine, s + m * sine))
    }

    fn velocities(&self, dynamics: &MeasureDynamics, theta: &[f64], out: &mut [f64]) {
        let beta = dynamics.beta;
        let (log, stretch) = self.log_density(theta);
        let slope = derivative(&log);
        for (j, v) in out.iter_mut().enumerate() {
            let (mut drift, mut total) = (0.0, 0.0);
            for (t, m) in theta.iter().zip(&self.masses) {
                let (s, c) = (t - theta[j]).sin_cos();
                let w = m * (beta * c - beta.abs()).exp();
                (drift, total) = (drift + w * s, total + w);
            }
            let attraction = if dynamics.weights == RowWeights::Exponential {
                drift * beta.abs().exp()
            } else {
                drift / total
            };
            *v = attraction - dynamics.diffusion * slope[j] / stretch[j];
        }
    }

    /// Evolves by time `t` (order 8, tolerances 1e-11 and 1e-13). **Cost** `n^2` per evaluation.
    /// **Errors** Sinkhorn attention, those of the integrator.
    pub fn evolve(mut self, dynamics: &MeasureDynamics, t: f64) -> Result<Self> {
        reject_interaction(dynamics)?;
        if dynamics.weights == RowWeights::Sinkhorn {
            return Err(Error::parameter("dynamics", "sinkhorn", "sa or usa with noise"));
        }
        let mut theta = self.theta.clone();
        let go_on = |_: &mut OdeStep| Ok(StepAction::Continue);
        integrate(
            &mut (&self, dynamics),
            0.0,
            &mut theta,
            t,
            &OdeOptions::new(1e-11, 1e-13),
            go_on,
        )?
        .reached()?;
        self.theta = theta;
        Ok(self)
    }
}

impl OdeSystem for (&ProbabilityFlow, &MeasureDynamics) {
    fn rates(&mut self, _: f64, y: &[f64], dy: &mut [f64]) -> Result<()> {
        self.0.velocities(self.1, y, dy);
        Ok(())
    }

    fn block(&self, _: usize) -> usize {
        1
    }
}

/// Derivative of a periodic function from its values on an equispaced grid of even length:
/// `D_jk = (-1)^{j-k} cot((s_j - s_k)/2) / 2`.
fn derivative(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let weights: Vec<f64> = (0..n)
        .map(|k| {
            let sign = if k.is_multiple_of(2) { 0.5 } else { -0.5 };
            if k == 0 { 0.0 } else { sign / (PI * k as f64 / n as f64).tan() }
        })
        .collect();
    (0..n).map(|j| (0..n).map(|k| weights[(j + n - k) % n] * values[k]).sum()).collect()
}
