//! The printed bound of the overlap of orthogonal caps.

use super::{Claim, Control, Kind, Status, cap_overlap};

/// 2410.06833, section 4: false for every eps below 4/9, where 4 sqrt(eps) is the right order.
pub static ENTRY: Claim = Claim {
    name: "cap-overlap-printed",
    title: "Orthogonal caps overlap by at most eps^2 + 2 eps (as printed)",
    statement: "<x, y> <= eps^2 + 2 eps for x, y in the caps <., w> >= 1 - 2 eps of two orthogonal centres, 0 < eps <= 1/16.",
    domain: cap_overlap::DOMAIN,
    narrower: "",
    citation: "arXiv:2410.06833, section 4",
    status: Status::Misprinted,
    kind: Kind::Inequality,
    trials: (20, 100),
    trial: |case, ctx| cap_overlap::overlap(case, ctx, |eps| eps * eps + 2.0 * eps, cap_overlap::Points::Drawn),
    perturbed: "",
    control: Control {
        what: "the same caps with the bound of the correction, 4 sqrt(eps), holds",
        trial: |ctx| cap_overlap::overlap(&cap_overlap::EDGE, ctx, |eps| 4.0 * eps.sqrt(), cap_overlap::Points::Drawn),
    },
    proof: None,
};
