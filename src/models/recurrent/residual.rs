//! Residual networks `x + L^{-b} V_k act(W_k x)`, which map every row separately.

use super::trace::{Trace, Var};
use super::{TokenMap, normal_matrix};
use std::f64::consts::TAU;

/// How weights change from layer to layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WeightSchedule {
    /// Smooth in depth, `W(s) = A cos(2 pi s) + B sin(2 pi s)` at `s = k/L`: layers are Euler's
    /// method.
    Smooth,
    /// Independent in every layer.
    Independent,
}

/// The function between the two matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Nonlinearity {
    /// The identity, without an inner matrix: `x + L^{-b} V_k x`.
    Linear,
    /// `max(0, x)`.
    Relu,
    /// `tanh`.
    Tanh,
}

/// A residual network of `depth` layers.
#[derive(Clone, Copy, Debug)]
pub struct ResidualNet {
    /// Length of a row.
    pub d: usize,
    /// Number of layers, L.
    pub depth: usize,
    /// Exponent b of the step `L^{-b}`.
    pub power: f64,
    /// Entries have the variance `gain^2 / d`.
    pub gain: f64,
    /// How the weights change with depth.
    pub weights: WeightSchedule,
    /// The function between the matrices.
    pub nonlinearity: Nonlinearity,
    /// Seed of the weights.
    pub seed: u64,
}

impl ResidualNet {
    /// A matrix of layer k.
    fn matrix(&self, name: &str, layer: usize) -> Vec<f64> {
        let normal = |name: &str| normal_matrix(self.seed, name, (self.d, self.d), self.gain);
        match self.weights {
            WeightSchedule::Independent => normal(&format!("{name} {layer}")),
            WeightSchedule::Smooth => {
                let (sin, cos) = (TAU * layer as f64 / self.depth as f64).sin_cos();
                let (a, b) = (normal(&format!("{name} cos")), normal(&format!("{name} sin")));
                a.iter().zip(&b).map(|(a, b)| a * cos + b * sin).collect()
            }
        }
    }
}

impl TokenMap for ResidualNet {
    fn record<'a>(&'a self, layer: usize, trace: &mut Trace<'a>, rows: &[Var]) -> Vec<Var> {
        let step = (self.depth as f64).powf(-self.power);
        let outer = self.matrix("outer", layer);
        let inner = if self.nonlinearity == Nonlinearity::Linear {
            Vec::new()
        } else {
            self.matrix("inner", layer)
        };
        let mut one = |x: &Var| {
            let activated = match self.nonlinearity {
                Nonlinearity::Linear => *x,
                Nonlinearity::Relu => {
                    let a = trace.matrix(inner.clone(), *x);
                    trace.relu(a)
                }
                Nonlinearity::Tanh => {
                    let a = trace.matrix(inner.clone(), *x);
                    trace.tanh(a)
                }
            };
            let change = trace.matrix(outer.clone(), activated);
            trace.sum(*x, step, change)
        };
        rows.iter().map(&mut one).collect()
    }
}
