//! A residual network with new weights in every layer.

use crate::recurrent::residual::{Nonlinearity, ResidualNet, WeightSchedule};
use crate::recurrent::{NamedMap, ReceptiveField};

/// Step `1/sqrt(L)`: a stochastic differential equation in the limit.
pub static ENTRY: NamedMap = NamedMap {
    name: "resnet-root",
    summary: "x + (1/sqrt L) V_k relu(W_k x), independent weights",
    citation: "Marion, Fermanian, Biau, Vert, arXiv:2206.06929",
    receptive_field: ReceptiveField::Itself,
    unit: |layers| layers as f64,
    build: |spec| {
        let (weights, nonlinearity) = (WeightSchedule::Independent, Nonlinearity::Relu);
        Box::new(ResidualNet {
            d: spec.d,
            depth: spec.layers,
            power: 0.5,
            gain: spec.gain,
            weights,
            nonlinearity,
            seed: spec.seed,
        })
    },
};
