//! Increasing interactions have no maximum but consensus in three dimensions and more.

use super::setting::{DRAWN, STEEPEST, critical_point, increasing_interaction, is_unstable};
use crate::attention::interaction::{Interaction, InteractionEnergy};
use crate::landscape::interaction::InteractionCriticalPoint;
use crate::theorem::prelude::*;

/// The theorem of arXiv:2405.18273 for the complete graph, under the exact hypothesis of its
/// argument.
///
/// # Derivation
///
/// By `interaction-curvature` the curvatures of the directions `U_v` add up to `sum_ij m_i m_j (1 -
/// G)[(d - 2 - G) phi(G) + (1 - G^2) phi'(G)]`. If the bracket is positive on (-1, 1), the sum is
/// positive unless all inner products are 1 or -1. Tokens at both ends of a line have the bracket
/// `(d - 1) phi(-1)` instead, which is positive for `phi(-1) > 0`. So some direction has a positive
/// curvature, at every configuration other than consensus.
///
/// `phi > 0` and `phi' >= 0` (`W` increasing and convex) suffice for `d >= 3`, as `d - 2 - G > 0`.
/// In general the hypothesis says that `(1+s)^{(d-1)/2} (1-s)^{-(d-3)/2} phi(s)` increases, since
/// the logarithmic derivative of the first two factors is `(d - 2 - s)/(1 - s^2)`. For `e^{-ks}` it
/// means `k < min (d - 2 - s)/(1 - s^2)`. The minimum is at `s^2 - 2 (d-2) s + 1 = 0` and equals
/// `1/(2 s) = (d - 2 + ((d-1)(d-3))^{1/2})/2`. For `d = 2` the function vanishes at both ends and
/// cannot increase: the argument says nothing about the circle.
pub static ENTRY: Claim = Claim {
    name: "increasing-interactions",
    title: "Increasing interactions: every maximum is consensus for `d >= 3`",
    lets: "`d >= 3`, `phi(-1) > 0` and `(d - 2 - s) phi(s) + (1 - s^2) phi'(s) > 0` for `-1 < s < \
           1`; this holds if `phi` is positive and increasing, and for `e^{-k s}` with `k < (d - 2 \
           + ((d-1)(d-3))^{1/2})/2`",
    then: "Every critical point of `E` other than consensus has a direction of positive curvature.",
    tested: "at critical points that Newton's method finds from random clusters",
    domain: Domain {
        n: Sizes::Range(3, 10),
        d: Sizes::Range(3, 5),
        laws: &[],
        draws: "`phi`, clusters",
        ..DRAWN
    },
    narrower: "all tokens see each other; equal masses",
    source: "arXiv:2405.18273 (W increasing and convex); the weaker hypothesis derived",
    trials: (24, 160),
    trial: |case, ctx| {
        let phi = if ctx.index(3) == 0 {
            let below = ctx.uniform_in(0.05, 0.95);
            let k = below * decay_limit(case.d);
            Interaction::parse("exp(-k*s)", &[("k", k)])?
        } else {
            increasing_interaction(STEEPEST, ctx)?
        };
        let energy = InteractionEnergy::new(phi);
        let point = critical_point(&energy, (case.n, case.d), 5, ctx)?;
        Ok(point.as_ref().map_or(Finding::HypothesesMissed, is_unstable))
    },
    no_constant: "the sign of an eigenvalue decides",
    control: Control {
        what: "`e^{-3s}` for `d = 3`, above the limit 1/2: the tetrahedron is a maximum",
        trial: |_: &mut Context| {
            let phi = Interaction::parse("exp(-3*s)", &[])?;
            let rows = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
            let x = Tokens::normalised(3, rows.concat())?;
            let energy = InteractionEnergy::new(phi);
            Ok(is_unstable(&InteractionCriticalPoint::near(&energy, &x, &[1; 4])?))
        },
    },
    ..Claim::EXACT
};

/// `min_s (d - 2 - s)/(1 - s^2)`.
fn decay_limit(d: usize) -> f64 {
    let d = d as f64;
    0.5 * (d - 2.0 + ((d - 1.0) * (d - 3.0)).sqrt())
}
