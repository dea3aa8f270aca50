//! "A recurrent network loses the order in its state."

use super::rnn_order::change_by_order;
use crate::theorem::prelude::*;

/// This is false: exchanged inputs give another state.
pub static ENTRY: Claim = Claim {
    name: "rnn-order-printed",
    title: "RNN: the order of the inputs is lost in the state (as printed)",
    lets: "h+ = tanh(W x + U h) with normal W and U of variance 1/d and n normal inputs",
    then: "Exchanging the last two inputs changes h_n by at most 1e-9.",
    domain: Domain { n: Sizes::Range(2, 12), d: Sizes::Range(2, 8), ..Domain::MAPS },
    source: "a tutorial on attention",
    status: Status::Misprinted,
    trials: (6, 40),
    trial: |case, ctx| Ok(Finding::at_most(change_by_order(ctx, case.n, case.d, false)?, 1e-9)),
    control: Control {
        what: "the sum of the inputs",
        trial: |ctx| Ok(Finding::at_most(change_by_order(ctx, 6, 4, true)?, 1e-9)),
    },
    ..Claim::INEQUALITY
};
