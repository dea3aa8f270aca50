//! Localmax: leaders move.

use super::hm_localmax_hull::leader_displacement;
use crate::theorem::prelude::*;

/// Under hardmax the score of a follower stays below that of its leader. Under localmax it comes
/// within the tolerance, and then the leader moves to the mean.
pub static ENTRY: Claim = Claim {
    name: "hm-localmax-leaders-folklore",
    title: "Localmax layers: leaders do not move, as under hardmax",
    lets: "x_i+ = x_i + (m_i - x_i)/2, where m_i is the mean of the x_j with <x_i, x_j> >= M - T \
           (1 + |M|), M = max_k <x_i, x_k>, T = 1/20, with 12 normal tokens",
    then: "Tokens that are their only leaders at first do not move.",
    tested: "as: they move by at most 1e-6 in 200 layers",
    domain: Domain {
        n: Sizes::Fixed(12),
        d: Sizes::Fixed(2),
        laws: &["normal"],
        ..Domain::HARDMAX
    },
    narrower: "T = 1/20",
    source: "carried over from hardmax (arXiv:2407.01602) to localmax (arXiv:2509.15958)",
    status: Status::Folklore,
    correct: "Leaders are frozen under hardmax. Under localmax a follower comes within the \
               tolerance and its leader moves to the mean; what holds there is that the hull does \
               not grow.",
    trials: (6, 40),
    trial: |case, ctx| frozen(ctx, case.n, 0.05),
    control: Control { what: "tolerance 0", trial: |ctx| frozen(ctx, 12, 1e-12) },
    ..Claim::INEQUALITY
};

fn frozen(ctx: &mut Context, n: usize, tolerance: f64) -> Result<Finding> {
    Ok(leader_displacement(ctx, n, tolerance)?
        .map_or(Finding::HypothesesMissed, |far| Finding::at_most(far, 1e-6)))
}
