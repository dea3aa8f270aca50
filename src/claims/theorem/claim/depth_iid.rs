//! Residual networks with independent weights.

use crate::num::linearised::Linearised;
use crate::recurrent::{
    at,
    residual::{Bend, InDepth, ResidualNet},
};
use crate::theorem::prelude::*;

/// Steps L^{-b}: an identity map for b > 1/2, a stochastic equation at b = 1/2, explosion for b < 1/2.
///
/// # Derivation
///
/// Given x, the vector V y with independent entries of mean 0 and variance 1/d has mean 0 and E|V y|^2 = |y|^2. So E|x+|^2 = |x|^2 +
/// L^{-2b} E|y|^2, with y = x (c = 1), or y = relu(W x), where every coordinate of W x is symmetric with variance |x|^2/d and relu
/// keeps half of the square (c = 1/2). So `E |x+|^2 = |x|^2 + 2 E <x, x+ - x> + E |x+ - x|^2` is a multiple of |x|^2. Layers are independent: the factors multiply. The
/// two means are held and not the product of 64 of them, whose mean rests on rare draws. (1 + c L^{-2b})^L tends to infinity, e^c, 1.
pub static ENTRY: Claim = Claim {
    name: "depth-iid",
    title: "ResNet, independent weights, step L^{-b}: E|x_L|^2 = (1 + c L^{-2b})^L |x_0|^2",
    statement: "x+ = x + L^{-b} V_k x (c = 1) or x + L^{-b} V_k relu(W_k x) (c = 1/2), V_k, W_k new in every layer with entries of variance 1/d, d = 32, L = 64, b in {1/4, 1/2, 1}: given x a layer has E |x+ - x|^2 = c L^{-2b} |x|^2 (within 15 %) and E <x, x+ - x> = 0 (within L^{-b} |x|^2/20), in the mean over all layers of 16 runs; so E |x_L|^2 = (1 + c L^{-2b})^L |x_0|^2, and the limit is infinite for b < 1/2, e^c at b = 1/2, 1 for b > 1/2.",
    domain: Domain { n: Sizes::Fixed(1), d: Sizes::Fixed(32), ..Domain::MAPS },
    narrower: "d = 32, L = 64",
    citation: "arXiv:2206.06929 (abstract: the only non-trivial scaling is 1/sqrt L); the formula derived",
    trials: (6, 40),
    trial: |_, ctx| {
        let power = [0.25, 0.5, 1.0][ctx.index(3)];
        moment(ctx, power, power)
    },
    perturbed: "the constant c",
    control: Control { what: "b = 1/2 held against b = 1", trial: |ctx| moment(ctx, 0.5, 1.0) },
    ..Claim::LAW
};

fn moment(ctx: &mut Context, power: f64, held_against: f64) -> Result<Finding> {
    const D: usize = 32;
    const DEPTH: usize = 64;
    let (bend, c) = [(Bend::Linear, 1.0), (Bend::Relu, 0.5)][ctx.index(2)];
    let start = ctx.normals(D);
    let step = (DEPTH as f64).powf(-held_against);
    let (mut squares, mut along) = (Vec::new(), Vec::new());
    for _ in 0..16 {
        let net = ResidualNet { d: D, depth: DEPTH, power, gain: 1.0, weights: InDepth::Fresh, bend, seed: ctx.chance().next_u64() };
        let mut x = start.clone();
        for layer in 0..DEPTH {
            let next = at(&net, layer, D, &x).value().to_vec();
            let moved: Vec<f64> = next.iter().zip(&x).map(|(a, b)| a - b).collect();
            let size = dot(&x, &x);
            squares.push(dot(&moved, &moved) / (step * step * size));
            along.push(dot(&moved, &x) / (step * size));
            x = next;
        }
    }
    let ((mean, error), (drift, drift_error)) = (mean_and_error(&squares), mean_and_error(&along));
    let stated = ctx.stated(c);
    Ok(Finding::law(mean, stated, 0.15 * c, error).and(Finding::law(drift, 0.0, 0.05, drift_error)))
}
