//! The bound on the gamma curve, as printed.

use super::{Case, Claim, Control, Expected, gamma_bound};

/// 2312.10794, (D.8), claimed for all t >= 0: false at t = 0.
pub static ENTRY: Claim = Claim {
    name: "gamma-bound-printed",
    title: "Decay bound of gamma, as printed (all t >= 0)",
    statement: "1 - gamma(t) <= (1/2) exp( n^2 e^beta / (2 (n + e^{beta/2})) - n t / (n + e^{beta/2}) ) for all t >= 0. Counterexample: n = 2, beta = 0, t = 0: \
                1 <= 0.974 fails.",
    hypotheses: "t >= 0",
    applies: super::always,
    citation: "arXiv:2312.10794, (D.8)",
    expected: Expected::Violated,
    almost_sure: false,
    cases: &[Case::new(2, 2, 0.0, "sa")],
    quick: 1,
    trials: (1, 1),
    trial: gamma_bound::printed_trial,
    control: Control {
        what: "the negation of the corrected bound at t = n e^beta / 2 (it holds there)",
        trial: |_| gamma_bound::bound(&Case::new(2, 2, 0.0, "sa"), 1.0).map(crate::theorem::Finding::negated),
    },
};
