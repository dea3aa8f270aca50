//! "For small beta I move with my nearest neighbours."

use super::super::heads::temperature_limits::row;
use crate::theorem::prelude::*;

/// This is false: at small beta all tokens have nearly the same weight. At large beta only the
/// nearest ones matter.
pub static ENTRY: Claim = Claim {
    name: "nearest-at-small-beta-printed",
    title: "Small beta: tokens move with their nearest neighbours (as said)",
    then: "For n tokens on the sphere under SA with beta <= 1/10, the nearest token has at least \
           half of the weight that token 1 gives to other tokens.",
    domain: Domain { n: Sizes::Range(4, 32), beta: Betas::Log(1e-4, 0.1), ..Domain::SCORED },
    source: "a talk on 2312.10794, transcript (its next sentence says the opposite)",
    status: Status::Misprinted,
    correct: "At small beta all tokens weigh the same. At large beta the nearest alone counts.",
    trials: (6, 60),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        nearest(&x, case.beta)
    },
    control: Control {
        what: "beta = 100",
        trial: |_| nearest(&Tokens::from_angles(&[0.0, 0.5, 2.0, 4.0])?, 100.0),
    },
    ..Claim::INEQUALITY
};

fn nearest(x: &Tokens, beta: f64) -> Result<Finding> {
    let weights = row(x, 0, beta);
    let others: f64 = weights[1..].iter().sum();
    Ok(Finding::at_least(weights[1..].iter().copied().fold(0.0, f64::max), 0.5 * others))
}
