//! Residual networks with independent weights.

use crate::num::linearised::Linearised;
use crate::recurrent::{
    linearise_layer,
    residual::{Nonlinearity, ResidualNet, WeightSchedule},
};
use crate::theorem::prelude::*;

/// Number of layers.
const DEPTH: usize = 64;
const ERRORS: f64 = 5.0;
const NETWORKS: usize = 4;
/// Dimension of the tokens of [`layers`].
const WIDTH: usize = 32;
const SAMPLES: usize = 1000;
/// Dimension of the tokens of [`factor`]: the number of bits that decide which coordinates relu
/// keeps.
const BITS: u32 = 128;

/// With steps L^{-b}: the identity map for b > 1/2, a stochastic equation at b = 1/2, explosion for
/// b < 1/2.
///
/// # Derivation
///
/// Given `x`, the vector `V y` with independent entries of mean 0 and variance `1/d` has mean 0 and
/// `E |V y|^2 = |y|^2`. So `E |x+|^2 = |x|^2 + L^{-2b} E |y|^2`, with `y = x` `(c = 1)`, or `y =
/// relu(W x)`, where every coordinate of `W x` is symmetric with variance `|x|^2/d` and relu keeps
/// half of the square `(c = 1/2)`. Layers are independent, so the factors multiply, and `(1 + c
/// L^{-2b})^L = e^{c L^{1-2b} + O(L^{1-4b})}` tends to `infinity`, `e^c` or 1.
///
/// The law of `|x+|/|x|` does not depend on `x`: `|x + s V y|^2` is `(|x| + s |y| g/sqrt d)^2 + s^2
/// |y|^2 chi^2_{d-1}/d`, and for relu the square of `|y|/|x|` is `chi^2_k/d` with `k` binomial. So
/// the product over all layers is sampled without matrices. Its logarithm has a variance of about
/// `4 c L^{1-2b}/d`; `d = 128` keeps this small, since otherwise the mean depends on rare draws.
pub static ENTRY: Claim = Claim {
    name: "depth-iid",
    title: "ResNet, independent weights, step `L^{-b}`: `E|x_L|^2 = (1 + c L^{-2b})^L |x_0|^2`",
    lets: "`x+ = x + L^{-b} V_k x` `(c = 1)` or `x + L^{-b} V_k relu(W_k x)` `(c = 1/2)`, where \
           `V_k` and `W_k` are drawn anew in every layer with entries of variance `1/d`",
    then: "Given `x`, a layer has `E |x+ - x|^2 = c L^{-2b} |x|^2` and `E <x, x+ - x> = 0`. So `E \
           |x_L|^2 = (1 + c L^{-2b})^L |x_0|^2`. For `L` to `infinity` this tends to `infinity` if \
           `b < 1/2`, to `e^c |x_0|^2` if `b = 1/2`, and to `|x_0|^2` if `b > 1/2`.",
    tested: "with `b` in {1/4, 1/2, 1} and `L = {DEPTH}`, each mean to {ERRORS} standard errors: \
             of a layer, over {NETWORKS} networks with `d = {WIDTH}`; and of `|x_L|^2`, over \
             {SAMPLES} networks with `d = {BITS}`",
    numbers: &[
        ("DEPTH", DEPTH as f64),
        ("ERRORS", ERRORS),
        ("NETWORKS", NETWORKS as f64),
        ("WIDTH", WIDTH as f64),
        ("SAMPLES", SAMPLES as f64),
        ("BITS", BITS as f64),
    ],
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::Unused,
        draws: "`b`, one of the two networks, and new weights in every layer",
        ..Domain::FREE
    },
    narrower: "`L = {DEPTH}`",
    source: "arXiv:2206.06929 (abstract: the only non-trivial scaling is 1/sqrt L); the formula \
               derived",
    trials: (6, 40),
    trial: |_, ctx| {
        let power = [0.25, 0.5, 1.0][ctx.index(3)];
        growth(ctx, power, power)
    },
    constant: "the constant `c`",
    control: Control {
        what: "`b = 1/2` compared with the formula for `b = 1`",
        trial: |ctx| growth(ctx, 0.5, 1.0),
    },
    ..Claim::LAW
};

fn growth(ctx: &mut Context, power: f64, stated_power: f64) -> Result<Finding> {
    let (nonlinearity, c) = [(Nonlinearity::Linear, 1.0), (Nonlinearity::Relu, 0.5)][ctx.index(2)];
    let stated = ctx.claimed_constant(c);
    let step = |power: f64| (DEPTH as f64).powf(-power);
    let (squares, along) = layers(ctx, nonlinearity, power, step(stated_power));
    let law = |values: &[f64], stated: f64| {
        let (mean, error) = mean_and_error(values);
        Finding::law(mean, stated, ERRORS * error, 0.0)
    };
    let whole: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            let rng = ctx.method_rng();
            (0..DEPTH).map(|_| factor(rng, step(power), nonlinearity)).product()
        })
        .collect();
    let product = (1.0 + stated * step(stated_power).powi(2)).powi(DEPTH as i32);
    Ok(law(&squares, stated).and(law(&along, 0.0)).and(law(&whole, product)))
}

/// `|x+ - x|^2/(step |x|)^2` and `<x+ - x, x>/(step |x|^2)` for all layers of the networks.
fn layers(
    ctx: &mut Context,
    nonlinearity: Nonlinearity,
    power: f64,
    step: f64,
) -> (Vec<f64>, Vec<f64>) {
    let start = ctx.normals(WIDTH);
    let (mut squares, mut along) = (Vec::new(), Vec::new());
    for _ in 0..NETWORKS {
        let net = ResidualNet {
            d: WIDTH,
            depth: DEPTH,
            power,
            gain: 1.0,
            weights: WeightSchedule::Independent,
            nonlinearity,
            seed: ctx.method_rng().next_u64(),
        };
        let mut x = start.clone();
        for layer in 0..DEPTH {
            let next = linearise_layer(&net, layer, WIDTH, &x).value().to_vec();
            let moved: Vec<f64> = next.iter().zip(&x).map(|(a, b)| a - b).collect();
            let size = dot(&x, &x);
            squares.push(dot(&moved, &moved) / (step * step * size));
            along.push(dot(&moved, &x) / (step * size));
            x = next;
        }
    }
    (squares, along)
}

/// A sample of `|x+|^2/|x|^2`.
fn factor(rng: &mut Stream, step: f64, nonlinearity: Nonlinearity) -> f64 {
    let size = f64::from(BITS);
    let inner = if nonlinearity == Nonlinearity::Linear {
        1.0
    } else {
        let kept = rng.next_u64().count_ones() + rng.next_u64().count_ones();
        chi_square(rng, kept) / size
    };
    let s = step * inner.sqrt() / size.sqrt();
    (1.0 + s * rng.normal()).powi(2) + s * s * chi_square(rng, BITS - 1)
}

/// A chi-square variable: two degrees of freedom for each uniform factor. The product of 64 of
/// them does not underflow.
fn chi_square(rng: &mut Stream, degrees: u32) -> f64 {
    let product: f64 = (0..degrees / 2).map(|_| 1.0 - rng.uniform()).product();
    let odd = if degrees % 2 == 1 { rng.normal().powi(2) } else { 0.0 };
    odd - 2.0 * product.ln()
}
