//! A printed table of weights.

use crate::theorem::prelude::*;

/// This is false: the last row sums to 1.20.
pub static ENTRY: Claim = Claim {
    name: "seed-table-printed",
    title: "The last row of a printed table of causal weights sums to 1 (as printed)",
    then: "The printed weights .05, .05, .1, .2, .3, .5 of the last token sum to 1.",
    tested: "to 1e-12",
    domain: Domain { n: Sizes::Fixed(6), d: Sizes::Unused, laws: &["placed"], ..Domain::MAPS },
    source: "a tutorial on attention, table of causal weights",
    status: Status::Misprinted,
    correct: "The last row sums to 1.20.",
    trials: (2, 4),
    trial: |_, _| Ok(sums_to_one(0.5)),
    control: Control { what: "the last entry replaced by .3", trial: |_| Ok(sums_to_one(0.3)) },
    ..Claim::IDENTITY
};

fn sums_to_one(last: f64) -> Finding {
    let row = [0.05, 0.05, 0.1, 0.2, 0.3, last];
    Finding::identity((row.iter().sum::<f64>() - 1.0).abs(), 1e-12)
}
