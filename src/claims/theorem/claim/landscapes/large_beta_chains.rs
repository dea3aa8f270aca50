//! A step of the proof for large beta: some cut has no pair of near tokens.

use super::setting::{ENERGY, longest_tree_edge, not_connected, polygon_threshold};
use crate::theorem::prelude::*;
use crate::theory::threshold::{sharp, tau_star};

const CORNERS: usize = 8;
const SHARE: f64 = 0.98;

/// The part of the theorem for large beta that is about critical points.
///
/// # Derivation
///
/// If tokens are connected by steps of at most `tau*`, a tree of length at most `(n-1) tau* < pi`
/// joins them; so they lie in an open hemisphere (`chain-lemma`) and, being critical, are
/// consensus. So at any other critical point there is a cut such that all pairs across it are
/// further apart than `tau*`. There the kernel `g` is negative, and rotating one side increases the
/// energy (`block-inequality`).
///
/// The source needs `(n-1) tau* < pi/2`. Below `beta = (d-1) cos(2 pi/n)/sin^2(2 pi/n)`, about a
/// quarter of the threshold, the regular n-gon is a counterexample `(n >= 5)`. For `beta` between
/// the two see `large-beta-polygon`.
pub static ENTRY: Claim = Claim {
    name: "large-beta-chains",
    title: "`beta > C n^2`: at every critical point other than consensus, some cut is wider than \
            `tau*`",
    lets: "`cos tau* = (-(d-1) + sqrt((d-1)^2 + 4 beta^2))/(2 beta)` and `beta > (d-1) \
           cos(pi/(n-1)) / sin^2(pi/(n-1))`, which is equivalent to `(n-1) tau* < pi`",
    then: "At every critical point other than consensus, the tokens are not connected by steps of \
           length at most `tau*`.",
    tested: "at critical points that are found by a search",
    numbers: &[("CORNERS", CORNERS as f64), ("SHARE", SHARE)],
    domain: Domain {
        n: Sizes::Range(4, 14),
        d: Sizes::Range(2, 4),
        beta: Betas::TimesThreshold {
            lo: 1.0001,
            hi: 20.0,
            formula: "(d-1) cos(pi/(n-1))/sin^2(pi/(n-1))",
            threshold: sharp,
        },
        ..ENERGY
    },
    narrower: "critical points found by a search, residual `1e-12`",
    source: "arXiv:2312.10794, Theorem 5.1 and appendix B, with its condition (n-1) tau* < pi/2 \
             weakened to (n-1) tau* < pi",
    trials: (24, 120),
    trial: not_connected,
    constant: "`tau*`",
    control: Control {
        what: "the regular {CORNERS}-gon on the circle at {SHARE} of `cos(2 pi/{CORNERS})/sin^2(2 \
               pi/{CORNERS})`",
        trial: |ctx| {
            let x = ctx.tokens_with_law(CORNERS, 2, "polygon")?;
            let tau = tau_star(2, SHARE * polygon_threshold(CORNERS, 2));
            Ok(longest_tree_edge(&x, ctx.claimed_constant(tau)))
        },
    },
    ..Claim::INEQUALITY
};
