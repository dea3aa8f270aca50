//! The printed bound of the overlap of orthogonal caps.

use super::cap_overlap;
use crate::theorem::prelude::*;

/// arXiv:2410.06833, section 4. The bound is false for every eps below `sqrt(2) - 1`; above, it
/// exceeds 1. The right order is `4 sqrt(eps)`.
///
/// # Derivation
///
/// Two points in the plane of the centres, each turned by `r = arccos(1 - 2 eps)` towards the
/// other, have the inner product `sin(2r)`, about `4 sqrt(eps)`, or 1 if the caps intersect (eps >=
/// 0.146).
/// That exceeds `eps^2 + 2 eps` for every eps below `sqrt(2) - 1`.
pub static ENTRY: Claim = Claim {
    name: "cap-overlap-printed",
    title: "Points of two orthogonal caps have inner product at most eps^2 + 2 eps (as printed)",
    lets: "w and w' be orthogonal unit vectors and 0 < eps <= 1/16",
    then: "Then <x, y> <= eps^2 + 2 eps for all unit vectors x, y with <x, w> >= 1 - 2 eps and \
           <y, w'> >= 1 - 2 eps.",
    domain: cap_overlap::DOMAIN,
    source: "arXiv:2410.06833, section 4",
    status: Status::Misprinted,
    trials: (20, 100),
    trial: |case, ctx| cap_overlap::overlap(case, ctx, PRINTED, cap_overlap::Points::Drawn),
    control: Control {
        what: "eps in [0.42, 0.5], where the printed bound exceeds 1",
        trial: |ctx| {
            cap_overlap::overlap(&cap_overlap::EDGE, ctx, PRINTED, cap_overlap::Points::Wide)
        },
    },
    ..Claim::INEQUALITY
};

/// The printed bound.
const PRINTED: fn(f64) -> f64 = |eps| eps * eps + 2.0 * eps;
