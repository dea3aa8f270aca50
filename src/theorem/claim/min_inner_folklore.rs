//! The folklore version of the rising minimum.

use super::{Case, Claim, Control, Expected, min_inner};

/// "In a hemisphere min_ij G_ij is nondecreasing": false.
pub static ENTRY: Claim = Claim {
    name: "min-inner-folklore",
    title: "min <x_i, x_j> rises in every hemisphere (folklore)",
    statement: "If the tokens lie in an open hemisphere, min_ij <x_i, x_j> is nondecreasing. Counterexample: beta = 0, inner products -0.5, -0.4, -0.4, masses \
                1/5, 1/5, 3/5.",
    hypotheses: "tokens in an open hemisphere",
    applies: super::always,
    citation: "folklore; corrected by the claim min-inner",
    expected: Expected::Violated,
    almost_sure: false,
    cases: &[Case::new(3, 3, 0.0, "sa")],
    quick: 1,
    trials: (1, 1),
    trial: min_inner::folklore_trial,
    control: Control {
        what: "the negation of the corrected claim on pairwise acute tokens (it holds there)",
        trial: |_| min_inner::acute().map(crate::theorem::Finding::negated),
    },
};
