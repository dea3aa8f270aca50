//! The lemma behind the large-beta theorem.

use super::{Case, Claim, Context, Control, Expected, Finding};
use crate::error::Result;
use crate::sphere::geometry::{dist, exp, project, retract};
use crate::sphere::{
    Tokens,
    cap::{Hemisphere, hemisphere},
};
use crate::theory::threshold::{sharp, tau_star};

/// A connected set of tokens of total chain length below pi lies in an open hemisphere.
pub static ENTRY: Claim = Claim {
    name: "chain-lemma",
    title: "Chains shorter than pi lie in a hemisphere",
    statement: "At a local maximum every token has another within tau*(beta), across every cut; if (n-1) tau* < pi such connected tokens lie in an open hemisphere, \
                hence (cone collapse) they are one cluster. Tested on random trees with edges below tau*.",
    hypotheses: "beta > (d-1) cos(pi/(n-1)) / sin^2(pi/(n-1)), i.e. (n-1) tau* < pi",
    applies: |case| case.beta > sharp(case.n, case.d),
    citation: "arXiv:2312.10794, Theorem 5.1, sharpened: a doubled tree is a closed curve of length below 2 pi",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[
        Case::new(5, 2, 1.45, "usa"),
        Case::new(8, 2, 4.9, "usa"),
        Case::new(6, 3, 5.0, "usa"),
        Case::new(12, 4, 37.0, "usa"),
        Case::new(16, 2, 23.0, "usa"),
    ],
    quick: 4,
    trials: (40, 300),
    trial: |case, ctx| inside(&tree(case, ctx)?, tau_star(case.d, case.beta)),
    control: Control {
        what: "beta = 3, n = 12 on the circle, below the threshold 12.1: the regular 12-gon is connected and in no hemisphere",
        trial: |ctx| inside(&ctx.tokens(&Case::new(12, 2, 3.0, "usa"), "polygon")?, tau_star(2, 3.0)),
    },
};

/// Every new token hangs on a random earlier one, mostly at nearly the full length, so that the extreme chains occur.
fn tree(case: &Case, ctx: &mut Context) -> Result<Tokens> {
    let tau = tau_star(case.d, case.beta);
    let mut x = ctx.tokens(&Case { n: 1, ..*case }, "uniform")?.coordinates().to_vec();
    let mut direction = vec![0.0; case.d];
    ctx.stream.normals(&mut direction);
    let straight = ctx.stream.uniform() < 0.5;
    for i in 1..case.n {
        let parent = if straight { i - 1 } else { ctx.stream.index(i) };
        let from = x[parent * case.d..(parent + 1) * case.d].to_vec();
        if !straight {
            ctx.stream.normals(&mut direction);
        }
        project(&from, &mut direction);
        retract(&mut direction);
        let length = tau * (1.0 - 1e-9 - 0.2 * ctx.stream.uniform().powi(4));
        let next = exp(&from, &direction.iter().map(|v| length * v).collect::<Vec<_>>());
        // The direction is carried along, so that a straight chain follows a great circle.
        direction = direction.iter().zip(&from).map(|(v, f)| v * length.cos() - f * length.sin()).collect();
        x.extend(next);
    }
    Tokens::normalised(case.d, x)
}

/// The hemisphere margin of tokens that are connected below `tau`; a miss when they are not connected.
fn inside(x: &Tokens, tau: f64) -> Result<Finding> {
    let mut reached = vec![false; x.n()];
    let mut stack = vec![0];
    while let Some(i) = stack.pop() {
        if !std::mem::replace(&mut reached[i], true) {
            stack.extend((0..x.n()).filter(|j| dist(x.row(i), x.row(*j)) < tau));
        }
    }
    if reached.contains(&false) {
        return Ok(Finding::Missed);
    }
    Ok(match hemisphere(x) {
        Hemisphere::Open { margin, .. } => Finding::exact(margin),
        Hemisphere::None { .. } => Finding::exact(-1.0),
    })
}
