//! Single cluster for d >= 3 and every beta.

use super::{Case, Claim, Control, Expected, uniform_to_one_cluster};

/// 2312.10794, Theorem 6.1.
pub static ENTRY: Claim = Claim {
    name: "sphere-any-beta",
    title: "Single cluster for d >= 3 and every beta >= 0",
    statement: "For d >= 3, every beta >= 0 and almost every start all tokens converge to one point, SA and USA.",
    hypotheses: "d >= 3, beta >= 0, uniform start",
    applies: |case| case.d >= 3 && case.beta >= 0.0,
    citation: "arXiv:2312.10794, Theorem 6.1 (Markdahl, Thunberg, Goncalves 2018; arXiv:2405.18273)",
    expected: Expected::Holds,
    almost_sure: true,
    cases: &[
        Case::new(8, 3, 1.0, "sa"),
        Case::new(12, 3, 9.0, "sa"),
        Case::new(8, 5, 4.0, "usa"),
        Case::new(32, 3, 16.0, "sa"),
        Case::new(16, 4, 40.0, "sa"),
        Case::new(16, 32, 9.0, "usa"),
    ],
    quick: 3,
    trials: (100, 300),
    trial: uniform_to_one_cluster,
    control: Control {
        what: "the repulsive flow (V = -I) keeps tokens apart",
        trial: |ctx| {
            let case = Case::new(4, 3, 1.0, "repulsive-usa");
            let x = ctx.tokens(&case, "uniform")?;
            super::circle_any_beta::stays_apart(&case, &x, ctx)
        },
    },
};
