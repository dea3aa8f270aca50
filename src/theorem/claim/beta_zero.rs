//! Single cluster at beta = 0.

use super::{Case, Claim, Control, Expected, one_cluster, uniform_to_one_cluster};
use crate::sphere::Tokens;

/// 2312.10794, Theorem 4.1.
pub static ENTRY: Claim = Claim {
    name: "beta-zero",
    title: "Single cluster at beta = 0",
    statement: "At beta = 0, for almost every X(0) all tokens converge to one point.",
    hypotheses: "beta = 0, n >= 2, d >= 2, uniform start",
    applies: |case| case.beta == 0.0,
    citation: "arXiv:2312.10794, Theorem 4.1",
    expected: Expected::Holds,
    almost_sure: true,
    cases: &[
        Case::new(8, 2, 0.0, "sa"),
        Case::new(8, 3, 0.0, "sa"),
        Case::new(8, 5, 0.0, "usa"),
        Case::new(32, 2, 0.0, "sa"),
        Case::new(3, 16, 0.0, "usa"),
    ],
    quick: 3,
    trials: (100, 300),
    trial: uniform_to_one_cluster,
    control: Control {
        what: "the null set: two tokens at one pole, two at the other, are stationary",
        trial: |ctx| one_cluster(&Case::new(4, 2, 0.0, "sa"), &Tokens::new(2, vec![1.0, 0.0, 1.0, 0.0, -1.0, 0.0, -1.0, 0.0])?, ctx),
    },
};
