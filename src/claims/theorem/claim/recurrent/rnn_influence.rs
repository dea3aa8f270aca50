//! The influence of an input on a recurrent state.

use crate::num::linearised::Linearised;
use crate::recurrent::{
    cell::{CellInTime, Gate},
    linearise_layer,
    lyapunov::exponents,
    map::rnn::Rnn,
};
use crate::theorem::prelude::*;

const GAINS: (f64, f64) = (0.5, 3.0);
const WIDTH: usize = 8;
const INPUTS: f64 = 0.5;
const AGES: (usize, usize) = (20, 270);
const TOLERANCE: f64 = 0.04;

/// The influence is a product of Jacobians; its logarithm is asymptotically linear with slope
/// lambda_1.
///
/// # Derivation
///
/// `dh_T/dh_s = J_T ... J_{s+1}` with `J_t = diag(1 - h_t^2) U`; an input `x_s` adds one factor,
/// `diag(1 - h_s^2) W`. The norm of the product of the `J` over a window grows like `e^{lambda_1
/// length}` up to a factor that does not grow with the length (the alignment of the leading
/// directions, in the limit: Oseledets). It is observed that over 250 steps this factor changes the
/// slope by less than 0.025 (the largest of 1000 draws). The exponents of these draws are between
/// -2 and 0.13.
pub static ENTRY: Claim = Claim {
    name: "rnn-influence",
    title: "RNN: the influence of a state decays or grows like `e^{lambda_1 age}`",
    lets: "`h+ = tanh(W x + U h)`, `W` and `U` normal with variances `1/d` and `g^2/d`, `g` in \
           [1/{PARTS}, {LARGEST_GAIN}], `d = {WIDTH}`, with normal inputs of size 1/{INPUT_PARTS}",
    then: "The logarithm of `|dh_T/dh_s|` grows by `lambda_1` per step of the age `T - s`, where \
           `lambda_1` is the largest Lyapunov exponent.",
    tested: "between the ages {YOUNG} and {OLD}, to {TOLERANCE} per step, with `lambda_1` measured \
             by QR over the same steps",
    numbers: &[
        ("PARTS", 1.0 / GAINS.0),
        ("LARGEST_GAIN", GAINS.1),
        ("WIDTH", WIDTH as f64),
        ("INPUT_PARTS", 1.0 / INPUTS),
        ("YOUNG", AGES.0 as f64),
        ("OLD", AGES.1 as f64),
        ("TOLERANCE", TOLERANCE),
    ],
    domain: Domain {
        n: Sizes::Fixed(STEPS),
        d: Sizes::Fixed(WIDTH),
        draws: "networks and `n` inputs",
        ..Domain::FREE
    },
    source: "derived (Oseledets); arXiv:1211.5063",
    status: Status::Observation,
    trials: (4, 30),
    trial: |_, ctx| {
        let gain = ctx.uniform_in(GAINS.0, GAINS.1);
        decay_rate(ctx, gain, gain)
    },
    constant: "the factor `e^{lambda_1}` per step",
    control: Control {
        what: "the exponent of a quarter of the matrix",
        trial: |ctx| decay_rate(ctx, 0.9, 0.225),
    },
    ..Claim::LAW
};

/// Steps of the recurrence; the product of Jacobians is over the last `AGES.1`.
const STEPS: usize = 300;

fn decay_rate(ctx: &mut Context, gain: f64, other: f64) -> Result<Finding> {
    let d = WIDTH;
    let seed = ctx.seed();
    let rnn = |gain| Rnn { gate: Gate::normal(seed, "influence", d, gain) };
    let (own, held_against) = (rnn(gain), rnn(other));
    let time = CellInTime { cell: &own, size: INPUTS, seed };
    let (mut h, mut jacobians) = (vec![0.0; d], Vec::new());
    for step in 0..STEPS {
        let here = linearise_layer(&time, step, d, &h);
        jacobians.push(here.jacobian());
        h = here.value().to_vec();
    }
    // dh_T/dh_s = J_T ... J_{s+1}, multiplied from the last factor on.
    let (mut product, mut logs) = (identity(d), Vec::new());
    let mut size = 0.0;
    for jacobian in jacobians.iter().rev().take(AGES.1) {
        product = mul(&product, jacobian, d);
        let norm = norm(&product);
        divide(&mut product, norm);
        size += norm.ln();
        logs.push(size);
    }
    let length = AGES.1 - AGES.0;
    let slope = (logs[AGES.1 - 1] - logs[AGES.0 - 1]) / length as f64;
    let time = CellInTime { cell: &held_against, size: INPUTS, seed };
    let stated = exponents(&time, &vec![0.0; d], d, (STEPS - AGES.1, length), 1)[0];
    let factor = ctx.claimed_constant(stated.exp());
    Ok(Finding::law(slope, factor.ln(), TOLERANCE, 0.0))
}
