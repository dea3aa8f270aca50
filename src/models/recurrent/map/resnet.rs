//! A residual network whose weights are smooth in depth.

use crate::recurrent::residual::{Nonlinearity, ResidualNet, WeightSchedule};
use crate::recurrent::{NamedMap, ReceptiveField};

/// Step 1/L: Euler's method for `x' = V(s) tanh(W(s) x)`.
pub static ENTRY: NamedMap = NamedMap {
    name: "resnet",
    summary: "x + (1/L) V_k tanh(W_k x), weights smooth in k/L",
    citation: "He et al., arXiv:1512.03385; E, Commun. Math. Stat. 5 (2017)",
    receptive_field: ReceptiveField::Itself,
    unit: |layers| layers as f64,
    build: |spec| {
        let (weights, nonlinearity) = (WeightSchedule::Smooth, Nonlinearity::Tanh);
        Box::new(ResidualNet {
            d: spec.d,
            depth: spec.layers,
            power: 1.0,
            gain: spec.gain,
            weights,
            nonlinearity,
            seed: spec.seed,
        })
    },
};
