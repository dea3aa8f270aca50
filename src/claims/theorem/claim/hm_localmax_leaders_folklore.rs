//! Localmax: leaders are not frozen.

use super::hm_localmax_hull::moved;
use crate::theorem::prelude::*;

/// Under hardmax followers approach a leader without ever being as good for it as it is itself; under localmax they come within the tolerance, and the leader moves to the mean.
pub static ENTRY: Claim = Claim {
    name: "hm-localmax-leaders-folklore",
    title: "Localmax layers: leaders stay where they are, as under hardmax",
    statement: "x_i+ = x_i + (mean of x_j with <x_i, x_j> >= max - T (1 + |max|) less x_i)/2, T = 1/20, 12 normal tokens: tokens that see themselves alone at first have not moved by 1e-6 after 200 layers.",
    domain: Domain { n: Sizes::Fixed(12), d: Sizes::Fixed(2), laws: &["normal"], ..Domain::HARDMAX },
    narrower: "T = 1/20",
    citation: "carried over from hardmax (arXiv:2407.01602) to localmax (arXiv:2509.15958)",
    status: Status::Folklore,
    trials: (6, 40),
    trial: |case, ctx| frozen(ctx, case.n, 0.05),
    control: Control { what: "no tolerance", trial: |ctx| frozen(ctx, 12, 1e-12) },
    ..Claim::INEQUALITY
};

fn frozen(ctx: &mut Context, n: usize, tolerance: f64) -> Result<Finding> {
    Ok(moved(ctx, n, tolerance)?.map_or(Finding::Missed, |far| Finding::at_most(far, 1e-6)))
}
