//! Polygons with an odd number of clusters.

use super::polygon_saddles::{POLYGONS, ascent, is_resolved};
use crate::theorem::prelude::*;

/// The statement of `polygon-saddles` for those m for which we know no proof.
///
/// # Derivation
///
/// The curvature is a positive multiple of `Lambda_p`, p = (m-1)/2 (`polygon-saddles`). For small
/// beta its leading term, `(p^2/beta) (beta/2)^p/p!`, is positive; for large beta the neighbours'
/// `g < 0` give the sign; for m = 3, 5, 7 and `1/2 <= beta <= 50` interval arithmetic proves it.
/// For the rest it is observed, not derived.
pub static ENTRY: Claim = Claim {
    name: "polygon-saddles-odd",
    title: "Polygons of an odd number of clusters are not local maxima of the energy",
    lets: "beta > 0 and let equal clusters be at the corners of a regular m-gon with m odd",
    then: "The curvature of E_beta along the pairing mode, which rotates corner q by cos(2 pi \
           floor(m/2) q/m), is positive.",
    domain: Domain {
        n: Sizes::Range(3, 24),
        condition: Some(Condition {
            text: "n has an odd divisor; (beta/n)^{n/2} >= 1e-10, so that the rate exceeds \
                   rounding",
            holds: |c| !c.n.is_power_of_two() && is_resolved(c),
        }),
        ..POLYGONS
    },
    narrower: "m divides n",
    source: "linearisation at the m-gon; arXiv:2312.10794, (B.2)-(B.3)",
    status: Status::Observation,
    trials: (60, 400),
    trial: |case, ctx| ascent(case, ctx, |m| m % 2 == 1),
    control: Control {
        what: "beta = -1: the regular triangle is a strict local maximum modulo rotation",
        trial: |_: &mut Context| super::polygon_saddles::triangle(),
    },
    ..Claim::INEQUALITY
};
