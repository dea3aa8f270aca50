//! "R = 0 makes the last state nearly ineffective."

use crate::num::linearised::Linearised;
use crate::recurrent::{
    cell::RecurrentCell,
    map::gru_v1::Gru,
    trace::{LinearisedTrace, Trace},
};
use crate::theorem::prelude::*;

/// This is false: the reset gate closes only the path through the candidate; H+ = Z*H + (1-Z)*H~
/// still contains H.
pub static ENTRY: Claim = Claim {
    name: "gru-reset-printed",
    title: "GRU: with R = 0 the last state has nearly no effect (as printed)",
    lets: "a GRU (v1) have the reset bias -800, so that R = 0, with normal weights and one normal \
           input",
    then: "Then |dH+/dH| <= 1/100 in the Frobenius norm.",
    domain: Domain { n: Sizes::Fixed(1), d: Sizes::Range(2, 8), ..Domain::MAPS },
    source: "a survey of sequence models; against arXiv:1406.1078",
    status: Status::Misprinted,
    correct: "The reset gate closes the way through the candidate only. H+ is a mean of H and the \
               candidate, and keeps H with the weight of the update gate.",
    trials: (6, 40),
    trial: |case, ctx| effect(ctx, case.d, 0.0),
    control: Control {
        what: "Z = 0 as well, where the state is forgotten",
        trial: |ctx| effect(ctx, 4, -800.0),
    },
    ..Claim::INEQUALITY
};

fn effect(ctx: &mut Context, d: usize, update: f64) -> Result<Finding> {
    let mut cell = Gru::normal(ctx.seed(), d, 1.0, false);
    cell.reset.bias.fill(-800.0);
    cell.update.bias.fill(update);
    let mut trace = Trace::default();
    let (x, h) = (ctx.normals(d), ctx.normals(d));
    let (x, h) = (trace.constant(&x), trace.input(&h));
    let next = cell.next(&mut trace, x, h);
    let jacobian = LinearisedTrace::new(trace, vec![next]).jacobian();
    Ok(Finding::at_most(norm(&jacobian), 0.01))
}
