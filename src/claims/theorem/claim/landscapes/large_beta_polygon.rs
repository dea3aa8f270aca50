//! The range of the chain argument: the regular polygon.

use super::setting::{ENERGY, longest_tree_edge, not_connected, polygon_threshold};
use crate::theorem::prelude::*;
use crate::theory::threshold::tau_star;

const CORNERS: usize = 9;
const SHARE: f64 = 0.98;

/// If this is true, the proof of the clustering theorem by cuts extends to a quarter of its known
/// threshold.
///
/// # Derivation
///
/// This is open for `d >= 3`; `large-beta-polygon-circle` is a theorem for `d = 2`. Known facts:
/// `tau = cos tau*` is the positive root of `beta (1 - tau^2) = (d-1) tau`, and the quotient of the
/// left and the right side decreases with `tau`. So neighbours of the regular n-gon, `cos = cos(2
/// pi/n)`, are farther apart than `tau*` if and only if `beta sin^2(2 pi/n) > (d-1) cos(2 pi/n)`:
/// the threshold, for `n >= 5`. The n-gon is critical, so the statement fails below it. Above
/// `(n-1) tau* < pi` it is a theorem (`large-beta-chains`). Between the two thresholds a connected
/// critical point would have to wind round the sphere with steps of `tau*`, and `n` such steps just
/// close a great circle. None was found.
pub static ENTRY: Claim = Claim {
    name: "large-beta-polygon",
    title: "`d >= 3`, `beta > C n^2/4`: at every critical point but consensus, some cut is wider \
            than `tau*`",
    lets: "`d >= 3`, `tau*` be the angle of `large-beta-chains` and `beta > (d-1) cos(2 \
           pi/n)/sin^2(2 pi/n)`, which is about `(d-1) n^2/(4 pi^2)`",
    then: "At every critical point other than consensus, the tokens are not connected by steps of \
           length at most `tau*`. (The regular n-gon attains the threshold.)",
    tested: "at critical points that are found by a search",
    numbers: &[("CORNERS", CORNERS as f64), ("SHARE", SHARE)],
    domain: Domain {
        n: Sizes::Range(5, 12),
        d: Sizes::Range(3, 4),
        beta: Betas::TimesThreshold {
            lo: 1.02,
            hi: 4.0,
            formula: "(d-1) cos(2 pi/n)/sin^2(2 pi/n)",
            threshold: polygon_threshold,
        },
        ..ENERGY
    },
    source: "derived; between arXiv:2312.10794, Theorem 5.1 and Problem 3",
    status: Status::Open,
    trials: (24, 120),
    trial: not_connected,
    constant: "`tau*`",
    control: Control {
        what: "the regular {CORNERS}-gon at {SHARE} of the \
                              threshold",
        trial: control,
    },
    ..Claim::INEQUALITY
};

fn control(ctx: &mut Context) -> Result<Finding> {
    let case = Case::new(CORNERS, 3, SHARE * polygon_threshold(CORNERS, 3), "usa");
    let x = ctx.tokens_with_law(case.n, case.d, "polygon")?;
    Ok(longest_tree_edge(&x, ctx.claimed_constant(tau_star(case.d, case.beta))))
}
