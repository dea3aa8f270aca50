//! A residual network whose weights are smooth in depth.

use crate::recurrent::residual::{Bend, InDepth, ResidualNet};
use crate::recurrent::{Hears, NamedMap};

/// Step 1/L: Euler's method for `x' = V(s) tanh(W(s) x)`.
pub static ENTRY: NamedMap = NamedMap {
    name: "resnet",
    summary: "x + (1/L) V_k tanh(W_k x), weights smooth in k/L",
    citation: "He et al., arXiv:1512.03385; E, Commun. Math. Stat. 5 (2017)",
    hears: Hears::Itself,
    unit: |layers| layers as f64,
    build: |spec| {
        let (weights, bend) = (InDepth::Smooth, Bend::Tanh);
        Box::new(ResidualNet { d: spec.d, depth: spec.layers, power: 1.0, gain: spec.gain, weights, bend, seed: spec.seed })
    },
};
