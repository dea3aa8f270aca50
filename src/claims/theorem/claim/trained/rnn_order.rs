//! A recurrent network does not need positions.

use crate::num::linearised::Linearised;
use crate::recurrent::{
    cell::{CellLayer, Gate},
    linearise_layer,
    map::rnn::Rnn,
};
use crate::theorem::prelude::*;

/// The state depends on the order of the inputs; a sum does not.
///
/// # Derivation
///
/// h_n = tanh(W x_n + U tanh(W x_{n-1} + U h)) is not symmetric in its two inputs: the difference
/// is an analytic function of the draws that is not identically zero, so it vanishes with
/// probability zero. A sum is symmetric.
pub static ENTRY: Claim = Claim {
    name: "rnn-order",
    title: "RNN: exchanging two inputs changes the state",
    lets: "h+ = tanh(W x + U h) with normal W and U of variance 1/d and n normal inputs",
    then: "Exchanging the last two inputs changes h_n.",
    tested: "as: by at least 1e-6, in at least 90 % of draws",
    domain: Domain { n: Sizes::Range(2, 12), d: Sizes::Range(2, 8), ..Domain::MAPS },
    narrower: "the state changes almost surely; the size of the change is observed",
    source: "structure of the cell",
    kind: Kind::Share(0.9),
    trials: (100, 400),
    trial: |case, ctx| Ok(Finding::answer(change_by_order(ctx, case.n, case.d, false)? >= 1e-6)),
    control: Control {
        what: "the sum of the inputs, which does not depend on the order",
        trial: |ctx| Ok(Finding::answer(change_by_order(ctx, 6, 4, true)? >= 1e-6)),
    },
    ..Claim::INEQUALITY
};

/// The distance by which the last state changes if the last two inputs are exchanged; with `adds`,
/// of a cell that only adds.
pub(crate) fn change_by_order(ctx: &mut Context, n: usize, d: usize, adds: bool) -> Result<f64> {
    let x = ctx.normals(n * d);
    let cell = CellLayer(Rnn { gate: Gate::normal(ctx.seed(), "order", d, 1.0) });
    let mut y = x.clone();
    y[(n - 2) * d..].rotate_left(d);
    let end = |x: &[f64]| {
        if adds {
            return (0..d).map(|c| x.iter().skip(c).step_by(d).sum()).collect::<Vec<f64>>();
        }
        linearise_layer(&cell, 0, d, x).value()[(n - 1) * d..].to_vec()
    };
    Ok(end(&x).iter().zip(&end(&y)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt())
}
