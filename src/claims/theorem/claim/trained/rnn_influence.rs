//! The influence of an input on a recurrent state.

use crate::num::linearised::Linearised;
use crate::recurrent::{
    cell::{CellInTime, Gate},
    linearise_layer,
    lyapunov::exponents,
    map::rnn::Rnn,
};
use crate::theorem::prelude::*;

/// The influence is a product of Jacobians; its logarithm is asymptotically linear with slope
/// lambda_1.
///
/// # Derivation
///
/// dh_T/dh_s = J_T ... J_{s+1} with J_t = diag(1 - h_t^2) U; an input x_s adds one factor, diag(1 -
/// h_s^2) W. The norm of the product of the J over a window grows like e^{lambda_1 length} up to a
/// factor that does not grow with the length (the alignment of the leading directions, in the
/// limit: Oseledets); it is observed that over 250 steps this factor changes the slope by less than
/// 0.05.
pub static ENTRY: Claim = Claim {
    name: "rnn-influence",
    title: "RNN: the influence of a state decays (or grows) like e^{lambda_1 age}",
    lets: "h+ = tanh(W x + U h), W and U normal with variances 1/d and g^2/d, g in [1/2, 1.2], d \
           = 8, with normal inputs of size 1/2",
    then: "The logarithm of |dh_T/dh_s| grows by lambda_1 per step of the age T - s, where \
           lambda_1 is the largest Lyapunov exponent.",
    tested: "between the ages 20 and 270, to 0.05 per step, with lambda_1 measured by QR over the \
             same steps",
    domain: Domain { n: Sizes::Fixed(300), d: Sizes::Fixed(8), ..Domain::MAPS },
    source: "derived (Oseledets); arXiv:1211.5063",
    status: Status::Observation,
    trials: (4, 30),
    trial: |_, ctx| {
        let gain = ctx.uniform_in(0.5, 1.2);
        decay_rate(ctx, gain, gain)
    },
    control: Control {
        what: "the exponent of a quarter of the matrix",
        trial: |ctx| decay_rate(ctx, 0.9, 0.225),
    },
    ..Claim::LAW
};

/// Steps of the recurrence; the product of Jacobians is over the last 270.
const STEPS: usize = 300;

fn decay_rate(ctx: &mut Context, gain: f64, other: f64) -> Result<Finding> {
    let d = 8;
    let seed = ctx.seed();
    let rnn = |gain| Rnn { gate: Gate::normal(seed, "influence", d, gain) };
    let (own, held_against) = (rnn(gain), rnn(other));
    let time = CellInTime { cell: &own, size: 0.5, seed };
    let (mut h, mut jacobians) = (vec![0.0; d], Vec::new());
    for step in 0..STEPS {
        let here = linearise_layer(&time, step, d, &h);
        jacobians.push(here.jacobian());
        h = here.value().to_vec();
    }
    // dh_T/dh_s = J_T ... J_{s+1}, multiplied from the last factor on.
    let (mut product, mut logs) = (identity(d), Vec::new());
    let mut size = 0.0;
    for jacobian in jacobians.iter().rev().take(270) {
        product = mul(&product, jacobian, d);
        let norm = norm(&product);
        divide(&mut product, norm);
        size += norm.ln();
        logs.push(size);
    }
    let slope = (logs[269] - logs[19]) / 250.0;
    let time = CellInTime { cell: &held_against, size: 0.5, seed };
    let stated = exponents(&time, &vec![0.0; d], d, (STEPS - 270, 250), 1)[0];
    Ok(Finding::law(slope, stated, 0.05, 0.0))
}
