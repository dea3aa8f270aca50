//! Residual networks with weights that are smooth in depth.

use crate::num::linearised::Linearised;
use crate::recurrent::{
    linearise_layer,
    residual::{Nonlinearity, ResidualNet, WeightSchedule},
};
use crate::theorem::prelude::*;

/// Layers of step 1/L are Euler steps of a neural ordinary differential equation.
///
/// # Derivation
///
/// The layers are Euler's method of step 1/L for x' = V(s) tanh(W(s) x) on [0, 1], a field that is
/// smooth in s and x. Its global error is e(1)/L + O(1/L^2) with e smooth, so x_L - x_2L =
/// e(1)/(2L) + O(1/L^2): halved when L doubles.
pub static ENTRY: Claim = Claim {
    name: "depth-smooth",
    title: "ResNet, weights smooth in depth, step 1/L: an equation in the limit, with error of \
            order 1/L",
    lets: "x+ = x + (1/L) V(k/L) tanh(W(k/L) x) with V and W of the form A cos 2 pi s + B sin 2 \
           pi s, A and B normal with variance 1/d, and x normal",
    then: "Then |x_L - x_2L| decreases like 1/L.",
    tested: "as: its slope from L = 256 to 512 is -1 to 0.05, in at least 90 % of draws",
    domain: Domain { n: Sizes::Fixed(1), d: Sizes::Range(4, 8), ..Domain::MAPS },
    narrower: "the order is derived for L to infinity, the tolerance 0.05 is observed; in a few \
               draws e(1) nearly vanishes",
    source: "the limit of E, Commun. Math. Stat. 5 (2017); arXiv:2206.06929 (smooth weights)",
    kind: Kind::Share(0.9),
    trials: (200, 600),
    trial: |case, ctx| slope(ctx, case.d, (WeightSchedule::Smooth, 1.0)),
    control: Control {
        what: "independent weights in every layer and the step 1/sqrt L",
        trial: |ctx| slope(ctx, 32, (WeightSchedule::Independent, 0.5)),
    },
    ..Claim::INEQUALITY
};

fn slope(ctx: &mut Context, d: usize, (weights, power): (WeightSchedule, f64)) -> Result<Finding> {
    let (start, seed) = (ctx.normals(d), ctx.seed());
    let end = |depth: usize| {
        let net = ResidualNet {
            d,
            depth,
            power,
            gain: 1.0,
            weights,
            nonlinearity: Nonlinearity::Tanh,
            seed,
        };
        (0..depth)
            .fold(start.clone(), |x, layer| linearise_layer(&net, layer, d, &x).value().to_vec())
    };
    let ends = [256, 512, 1024].map(end);
    let gap =
        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    let found = (gap(&ends[0], &ends[1]) / gap(&ends[1], &ends[2])).log2();
    // The next order of the error is 1/L of the first, with a ratio of constants of some units.
    Ok(Finding::answer((found - 1.0).abs() <= 0.05))
}
