//! "A recurrent network gives the same weight to every input."

use crate::recurrent::{
    TokenMap,
    cell::{CellLayer, Gate, RecurrentCell},
    lyapunov::mixing,
    map::rnn::Rnn,
    trace::{Trace, Var},
};
use crate::theorem::prelude::*;

/// This is false: the influence of an input is a product of Jacobians, one for each later step.
pub static ENTRY: Claim = Claim {
    name: "rnn-equal-weight-printed",
    title: "RNN: all inputs have the same weight (as printed)",
    lets: "h+ = tanh(W x + U h), normal W and U of variances 1/d and 1/(4d), d = 8, with 30 \
           normal inputs",
    then: "Then |dh_30/dx_1| >= |dh_30/dx_30| / 2.",
    domain: Domain { n: Sizes::Fixed(30), d: Sizes::Fixed(8), ..Domain::MAPS },
    source: "a survey of sequence models",
    status: Status::Misprinted,
    trials: (4, 30),
    trial: |_, ctx| oldest(ctx, false),
    control: Control {
        what: "h+ = h + x, which is linear with U = 1",
        trial: |ctx| oldest(ctx, true),
    },
    ..Claim::INEQUALITY
};

/// `h + x`.
struct Adds(usize);

impl RecurrentCell for Adds {
    fn width(&self) -> usize {
        self.0
    }

    fn input_width(&self) -> usize {
        self.0
    }

    fn next<'a>(&'a self, trace: &mut Trace<'a>, input: Var, state: Var) -> Var {
        trace.sum(state, 1.0, input)
    }
}

fn oldest(ctx: &mut Context, adds: bool) -> Result<Finding> {
    let (n, d) = (30, 8);
    let x = ctx.normals(n * d);
    let rnn = CellLayer(Rnn { gate: Gate::normal(ctx.seed(), "equal weight", d, 0.5) });
    let sum = CellLayer(Adds(d));
    let map: &dyn TokenMap = if adds { &sum } else { &rnn };
    let m = mixing(map, &x, d, 1);
    Ok(Finding::at_least(m[(n - 1) * n], 0.5 * m[n * n - 1]))
}
