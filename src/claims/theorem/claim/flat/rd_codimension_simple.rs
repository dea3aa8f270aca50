//! Tokens in R^d: the codimension conjecture for simple spectra.

use super::rd_codimension_printed::count_distinct;
use super::rd_rescaling::{attention, evolve};
use crate::theorem::prelude::*;

/// A corrected version of `rd-codimension-printed`. If the eigenvalues are simple, the coordinate
/// along the first eigenvector dominates in the end, and all tokens with the same sign of it follow
/// one leader.
///
/// Near `V = I` this takes long: tokens `(1, 1)` and `(1 - a, -1)` of `V = diag(1, 1 - s)` attend
/// to themselves until `a e^{2 s t} = 2`. So at any fixed time the limits look like those of
/// `V = I`, one for each corner of the hull.
pub static ENTRY: Claim = Claim {
    name: "rd-codimension-simple",
    title: "R^2: at most three limits if the eigenvalues of V are simple (conjecture, repaired)",
    lets: "V = diag(1, 1 - s) with 0.1 <= s <= 0.5, Q = K = I, and n normal tokens",
    then: "The rescaled tokens have at most three limits.",
    tested: "at t = 40/s, where limits count as different if they are farther than 0.1 from each \
             other",
    domain: Domain {
        n: Sizes::Range(4, 10),
        d: Sizes::Fixed(2),
        beta: Betas::List(&[1.0]),
        masses: Masses::Equal,
        ..Domain::FLAT
    },
    narrower: "d = 2, Q = K = I, t = 40/s",
    source: "arXiv:2305.05465, Section 7 (conjecture on codimension), with simple positive \
               eigenvalues added",
    status: Status::Open,
    trials: (4, 100),
    trial: |case, ctx| {
        let (s, x) = (ctx.uniform_in(0.1, 0.5), ctx.normals(2 * case.n));
        at_most_three_limits(ctx, case.n, s, x, 40.0 / s)
    },
    control: Control {
        what: "a nearly simple spectrum, s = 0.01, at t = 8: tokens near the corners of a square \
               still have four limits",
        trial: |ctx| {
            at_most_three_limits(
                ctx,
                Case::new(4, 2, 1.0, "sa").n,
                0.01,
                vec![1.0, 1.0, -1.1, 1.05, -0.95, -1.0, 1.05, -1.1],
                8.0,
            )
        },
    },
    ..Claim::INEQUALITY
};

fn at_most_three_limits(
    ctx: &mut Context,
    n: usize,
    s: f64,
    x: Vec<f64>,
    t: f64,
) -> Result<Finding> {
    let dynamics = attention(1.0, n, 2, None, Some((2, vec![1.0, 0.0, 0.0, 1.0 - s])), true)?;
    // Limits are distinguished at 0.1, so a thousand times the usual tolerance suffices. At the
    // usual tolerance some runs find no small enough step.
    let end = evolve(ctx, &dynamics, &Tokens::flat(2, x)?, t, 1e3)?;
    Ok(Finding::nonnegative(3.5 - count_distinct(&end, &[0, 1]) as f64, 1.0))
}
