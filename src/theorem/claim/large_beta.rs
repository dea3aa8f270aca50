//! Single cluster for beta above the sharp threshold of order n^2.

use super::{Case, Claim, Control, Expected, uniform_to_one_cluster};
use crate::theory::threshold::sharp;

/// 2312.10794, Theorem 5.1 with the sharpened chain argument.
pub static ENTRY: Claim = Claim {
    name: "large-beta",
    title: "Single cluster for beta >= C n^2, sharp threshold",
    statement: "If beta > (d-1) cos(pi/(n-1)) / sin^2(pi/(n-1)), almost every start ends in one cluster.",
    hypotheses: "beta above the sharp threshold, uniform start",
    applies: |case| case.beta > sharp(case.n, case.d),
    citation: "arXiv:2312.10794, Theorem 5.1 (threshold sharpened: (n-1) tau* < pi and the hemisphere lemma 6.4)",
    expected: Expected::Holds,
    almost_sure: true,
    cases: &[
        Case::new(5, 2, 1.45, "sa"),
        Case::new(8, 2, 4.9, "sa"),
        Case::new(6, 3, 5.0, "usa"),
        Case::new(12, 2, 12.1, "sa"),
        Case::new(16, 2, 23.0, "sa"),
    ],
    quick: 3,
    trials: (100, 300),
    trial: uniform_to_one_cluster,
    control: Control {
        what: "the repulsive flow (V = -I) at the same beta",
        trial: |ctx| {
            let case = Case::new(5, 2, 2.0, "repulsive-usa");
            let x = ctx.tokens(&case, "uniform")?;
            super::circle_any_beta::stays_apart(&case, &x, ctx)
        },
    },
};
