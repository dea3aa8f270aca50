//! Single cluster for beta <= C/n.

use super::{Case, Claim, Control, Expected, uniform_to_one_cluster};

/// 2312.10794, Theorem 4.3, with C = 1 (d = 2: beta <= 1 by 2405.18273).
pub static ENTRY: Claim = Claim {
    name: "small-beta",
    title: "Single cluster for beta <= C/n",
    statement: "For beta <= C/n (tested with C = 1; on the circle beta <= 1) almost every start ends in one cluster, for SA and USA.",
    hypotheses: "0 <= beta <= 1/n, or d = 2 and beta <= 1; uniform start",
    applies: |case| case.beta >= 0.0 && (case.beta * case.n as f64 <= 1.0 || (case.d == 2 && case.beta <= 1.0)),
    citation: "arXiv:2312.10794, Theorem 4.3; arXiv:2405.18273",
    expected: Expected::Holds,
    almost_sure: true,
    cases: &[
        Case::new(8, 2, 0.125, "sa"),
        Case::new(8, 2, 1.0, "usa"),
        Case::new(8, 4, 0.125, "usa"),
        Case::new(32, 2, 1.0, "sa"),
        Case::new(32, 3, 1.0 / 32.0, "sa"),
        Case::new(64, 8, 1.0 / 64.0, "usa"),
    ],
    quick: 3,
    trials: (100, 300),
    trial: uniform_to_one_cluster,
    control: Control {
        what: "beta = -1 on the circle: three tokens near the regular triangle stay apart",
        trial: |ctx| {
            let case = Case::new(3, 2, -1.0, "sa");
            let x = ctx.tokens(&case, "polygon:noise=0.05")?;
            super::circle_any_beta::stays_apart(&case, &x, ctx)
        },
    },
};
