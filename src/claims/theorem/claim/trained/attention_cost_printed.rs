//! "Attention reduces the amount of computation."

use super::attention_cost::added;
use crate::theorem::prelude::*;

/// This is false: attention adds n (2 d + 1) multiplications per output.
pub static ENTRY: Claim = Claim {
    name: "attention-cost-printed",
    title: "Attention reduces the work of a decoder (as printed)",
    then: "An encoder and a decoder with n inputs, n outputs and scores s^T h need fewer \
           multiplications than with a fixed context.",
    domain: Domain { n: Sizes::Range(2, 20), d: Sizes::Range(2, 16), ..Domain::MAPS },
    source: "a survey of sequence models",
    status: Status::Misprinted,
    trials: (4, 30),
    trial: |case, ctx| Ok(Finding::nonnegative(-added(ctx, case), 1.0)),
    control: Control {
        what: "the opposite inequality",
        trial: |ctx| {
            Ok(Finding::nonnegative(added(ctx, &Case::new(6, 4, 0.0, "maps of rows")), 1.0))
        },
    },
    ..Claim::INEQUALITY
};
