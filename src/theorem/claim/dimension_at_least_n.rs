//! d >= n: uniform tokens lie in a hemisphere.

use super::{Case, Claim, Control, Expected, Finding};
use crate::error::Result;
use crate::sphere::{
    Tokens,
    cap::{Hemisphere, hemisphere},
};

/// 2312.10794, Theorem 6.3.
pub static ENTRY: Claim = Claim {
    name: "dimension-at-least-n",
    title: "d >= n: almost surely in a hemisphere",
    statement: "If d >= n, iid uniform tokens almost surely lie in an open hemisphere (then cone collapse applies).",
    hypotheses: "d >= n, uniform start",
    applies: |case| case.d >= case.n,
    citation: "arXiv:2312.10794, Theorem 6.3",
    expected: Expected::Holds,
    almost_sure: true,
    cases: &[Case::new(4, 4, 1.0, "sa"), Case::new(8, 8, 1.0, "sa"), Case::new(32, 64, 1.0, "sa"), Case::new(64, 64, 1.0, "sa")],
    quick: 3,
    trials: (100, 400),
    trial: |case, ctx| margin(&ctx.tokens(case, "uniform")?),
    control: Control {
        what: "n = d + 1 at the vertices of the regular simplex",
        trial: |ctx| margin(&ctx.tokens(&Case::new(5, 4, 1.0, "sa"), "simplex")?),
    },
};

/// The best `min_i <x_i, w>`; -1 when the origin lies in the hull of more than d tokens.
fn margin(x: &Tokens) -> Result<Finding> {
    Ok(match hemisphere(x) {
        Hemisphere::Open { margin, .. } => Finding::exact(margin),
        // A margin below the certificate's resolution is no violation.
        Hemisphere::None { .. } if x.n() <= x.d() => Finding::Unfinished("the margin is below 16 d u".into()),
        Hemisphere::None { .. } => Finding::exact(-1.0),
    })
}
