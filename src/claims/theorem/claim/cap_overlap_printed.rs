//! The printed bound of the overlap of orthogonal caps.

use super::cap_overlap;
use crate::theorem::prelude::*;

/// 2410.06833, section 4: false for every eps below `sqrt(2) - 1`, from where on the bound exceeds 1; the right order is `4 sqrt(eps)`.
///
/// # Derivation
///
/// Two points in the plane of the centres, each turned by `r = arccos(1 - 2 eps)` towards the other, have the inner product `sin(2r)`,
/// about `4 sqrt(eps)`, or 1 where the caps meet (from eps = 0.146 on).
/// That exceeds `eps^2 + 2 eps` for every eps below `sqrt(2) - 1`.
pub static ENTRY: Claim = Claim {
    name: "cap-overlap-printed",
    title: "Orthogonal caps overlap by at most eps^2 + 2 eps (as printed)",
    statement: "<x, y> <= eps^2 + 2 eps for x, y in the caps <., w> >= 1 - 2 eps of two orthogonal centres, 0 < eps <= 1/16.",
    domain: cap_overlap::DOMAIN,
    citation: "arXiv:2410.06833, section 4",
    status: Status::Misprinted,
    trials: (20, 100),
    trial: |case, ctx| cap_overlap::overlap(case, ctx, PRINTED, cap_overlap::Points::Drawn),
    control: Control {
        what: "caps that meet, eps in [0.42, 0.5]: the printed bound exceeds 1",
        trial: |ctx| cap_overlap::overlap(&cap_overlap::EDGE, ctx, PRINTED, cap_overlap::Points::Wide),
    },
    ..Claim::INEQUALITY
};

const PRINTED: fn(f64) -> f64 = |eps| eps * eps + 2.0 * eps;
