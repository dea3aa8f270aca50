//! Polygons with an odd number of clusters.

use super::polygon_saddles::{POLYGONS, ascends, resolved};
use crate::theorem::prelude::*;

/// As `polygon-saddles`, where no proof is known to us.
///
/// # Derivation
///
/// The curvature is a positive multiple of `Lambda_p`, p = (m-1)/2 (`polygon-saddles`). For small beta its leading term, `(p^2/beta)
/// (beta/2)^p/p!`, is positive; for large beta the neighbours' `g < 0` give the sign; for m = 3, 5, 7 and `1/2 <= beta <= 50` intervals
/// decide. Between these it is seen and not derived.
pub static ENTRY: Claim = Claim {
    name: "polygon-saddles-odd",
    title: "Polygons of an odd number of clusters are no local maxima of the energy",
    statement: "beta > 0, equal clusters at a regular m-gon, m odd: the curvature of E_beta along the pairing mode cos(2 pi floor(m/2) q/m) of the polygon is positive.",
    domain: Domain {
        n: Sizes::Range(3, 24),
        also: Some(Also {
            text: "n has an odd divisor; (beta/n)^{n/2} >= 1e-10, so that the rate exceeds rounding",
            holds: |c| !c.n.is_power_of_two() && resolved(c),
        }),
        ..POLYGONS
    },
    narrower: "m divides n",
    citation: "linearisation at the m-gon; arXiv:2312.10794, (B.2)-(B.3)",
    status: Status::Observation,
    trials: (60, 400),
    trial: |case, ctx| ascends(case, ctx, |m| m % 2 == 1),
    control: Control {
        what: "beta = -1: the regular triangle is a strict local maximum modulo rotation",
        trial: |_: &mut Context| super::polygon_saddles::triangle(),
    },
    ..Claim::INEQUALITY
};
