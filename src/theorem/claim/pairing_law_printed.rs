//! The pairing theorem as printed.

use super::{Case, Claim, Control, Expected, pairing_law};

/// Violated: on the clock of the start the pair collapses within O(1/beta).
pub static ENTRY: Claim = Claim {
    name: "pairing-law-printed",
    title: "As printed: on the clock dt = e^{beta (1 - rho_0)} ds a pair follows y_i' = P y_j",
    statement: "Clusters on the clock dt = e^{beta (1 - rho_0)} ds of their start: the cosine follows rho' = 2 (1 - rho^2), deviation at most 1e-3 until 0.6.",
    hypotheses: "beta >= 40, positive masses",
    applies: |case| case.beta >= 40.0 && case.n == 2,
    citation: "arXiv:2512.01868 (survey), pairing theorem as printed",
    expected: Expected::Violated,
    almost_sure: false,
    cases: &[Case::new(2, 2, 40.0, "sa"), Case::new(2, 3, 60.0, "sa")],
    quick: 1,
    trials: (2, 6),
    trial: |case, ctx| pairing_law::deviation(case, ctx, pairing_law::Law::Printed),
    control: Control {
        what: "the factor 2 of equal masses for unequal ones, on the corrected clock",
        trial: |ctx| pairing_law::deviation(&Case::new(2, 2, 40.0, "sa"), ctx, pairing_law::Law::EqualMasses),
    },
};
