//! Residual networks with independent weights.

use crate::num::linearised::Linearised;
use crate::recurrent::{
    linearise_layer,
    residual::{Nonlinearity, ResidualNet, WeightSchedule},
};
use crate::theorem::prelude::*;

/// With steps L^{-b}: the identity map for b > 1/2, a stochastic equation at b = 1/2, explosion for
/// b < 1/2.
///
/// # Derivation
///
/// Given x, the vector V y with independent entries of mean 0 and variance 1/d has mean 0 and E|V
/// y|^2 = |y|^2. So E|x+|^2 = |x|^2 + L^{-2b} E|y|^2, with y = x (c = 1), or y = relu(W x), where
/// every coordinate of W x is symmetric with variance |x|^2/d and relu keeps half of the square (c
/// = 1/2). So `E |x+|^2 = |x|^2 + 2 E <x, x+ - x> + E |x+ - x|^2` is a multiple of |x|^2. Layers
/// are independent, so the factors multiply. The trial measures the two means, not the product of
/// 64 factors, whose mean depends on rare draws. (1 + c L^{-2b})^L tends to infinity, e^c or 1.
pub static ENTRY: Claim = Claim {
    name: "depth-iid",
    title: "ResNet, independent weights, step L^{-b}: E|x_L|^2 = (1 + c L^{-2b})^L |x_0|^2",
    lets: "x+ = x + L^{-b} V_k x (c = 1) or x + L^{-b} V_k relu(W_k x) (c = 1/2), where V_k and \
           W_k are drawn anew in every layer with entries of variance 1/d",
    then: "Given x, a layer has E |x+ - x|^2 = c L^{-2b} |x|^2 and E <x, x+ - x> = 0. So E \
           |x_L|^2 = (1 + c L^{-2b})^L |x_0|^2, whose limit is infinite for b < 1/2, e^c at b = \
           1/2, and 1 for b > 1/2.",
    tested: "with d = 32, L = 64, b in {1/4, 1/2, 1}: the two means, over all layers of 16 runs, \
             to 15 % and to L^{-b} |x|^2/20",
    domain: Domain { n: Sizes::Fixed(1), d: Sizes::Fixed(32), ..Domain::MAPS },
    narrower: "d = 32, L = 64",
    source: "arXiv:2206.06929 (abstract: the only non-trivial scaling is 1/sqrt L); the formula \
               derived",
    trials: (6, 40),
    trial: |_, ctx| {
        let power = [0.25, 0.5, 1.0][ctx.index(3)];
        moment(ctx, power, power)
    },
    constant: "the constant c",
    control: Control {
        what: "b = 1/2 compared with the formula for b = 1",
        trial: |ctx| moment(ctx, 0.5, 1.0),
    },
    ..Claim::LAW
};

fn moment(ctx: &mut Context, power: f64, held_against: f64) -> Result<Finding> {
    /// Dimension of the tokens, and number of layers.
    const D: usize = 32;
    const DEPTH: usize = 64;
    let (nonlinearity, c) = [(Nonlinearity::Linear, 1.0), (Nonlinearity::Relu, 0.5)][ctx.index(2)];
    let start = ctx.normals(D);
    let step = (DEPTH as f64).powf(-held_against);
    let (mut squares, mut along) = (Vec::new(), Vec::new());
    for _ in 0..16 {
        let net = ResidualNet {
            d: D,
            depth: DEPTH,
            power,
            gain: 1.0,
            weights: WeightSchedule::Independent,
            nonlinearity,
            seed: ctx.method_rng().next_u64(),
        };
        let mut x = start.clone();
        for layer in 0..DEPTH {
            let next = linearise_layer(&net, layer, D, &x).value().to_vec();
            let moved: Vec<f64> = next.iter().zip(&x).map(|(a, b)| a - b).collect();
            let size = dot(&x, &x);
            squares.push(dot(&moved, &moved) / (step * step * size));
            along.push(dot(&moved, &x) / (step * size));
            x = next;
        }
    }
    let ((mean, error), (drift, drift_error)) = (mean_and_error(&squares), mean_and_error(&along));
    let stated = ctx.claimed_constant(c);
    Ok(Finding::law(mean, stated, 0.15 * c, error).and(Finding::law(drift, 0.0, 0.05, drift_error)))
}
