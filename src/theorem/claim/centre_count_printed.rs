//! The number of strong centres on S^2 as printed.

use super::{Case, Claim, Control, Expected, centre_count::mean};

/// 2411.04990, Lemma C.1 with its factor 3.
pub static ENTRY: Claim = Claim {
    name: "centre-count-printed",
    title: "Expected number of strong Renyi centres on S^2 (as printed)",
    statement: "d = 3: the expected number of strong centres tends to 1/(3 sin^2(delta/2)).",
    hypotheses: "uniform tokens on S^2",
    applies: |case| case.d == 3,
    citation: "arXiv:2411.04990, Lemma C.1 (the cap of radius pi would have mass 3)",
    expected: Expected::Violated,
    almost_sure: false,
    cases: &[Case::new(300, 3, 0.0, "causal-sa")],
    quick: 1,
    trials: (1, 3),
    trial: |case, ctx| mean(case, ctx, 1.0 / 3.0),
    control: Control { what: "a tenth of the formula", trial: |ctx| mean(&Case::new(300, 3, 0.0, "causal-sa"), ctx, 0.1) },
};
