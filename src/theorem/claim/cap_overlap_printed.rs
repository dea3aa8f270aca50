//! The printed bound of the overlap of orthogonal caps.

use super::{Case, Claim, Control, Expected, always, cap_overlap::overlap};

/// 2410.06833, section 4.
pub static ENTRY: Claim = Claim {
    name: "cap-overlap-printed",
    title: "Orthogonal caps overlap by at most eps^2 + 2 eps (as printed)",
    statement: "alpha <= eps^2 + 2 eps for the caps <., w> >= 1 - 2 eps of orthogonal centres.",
    hypotheses: "eps in (0, 1/16)",
    applies: always,
    citation: "arXiv:2410.06833, section 4",
    expected: Expected::Violated,
    almost_sure: false,
    cases: &[Case::new(2, 5, 0.0, "sa")],
    quick: 1,
    trials: (20, 100),
    trial: |_, ctx| overlap(ctx, |eps| eps * eps + 2.0 * eps),
    control: Control { what: "the bound eps^2", trial: |ctx| overlap(ctx, |eps| eps * eps) },
};
