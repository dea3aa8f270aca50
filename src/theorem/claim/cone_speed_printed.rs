//! The explicit speed in the proof of cone collapse, as printed.

use super::{Case, Claim, Control, Expected, cone_speed};

/// 2312.10794, (6.8) with `e^{beta}`: false.
pub static ENTRY: Claim = Claim {
    name: "cone-speed-printed",
    title: "Speed of cone collapse, exponent as printed",
    statement: "While alpha = min_i <x_i, w> >= 1/2: d/dt alpha >= (1 - alpha) / (2 n e^{beta}). Counterexample: n = 2 at +-60 degrees, beta = 5.",
    hypotheses: "cap of radius at most pi/3, Q^T K = I",
    applies: super::always,
    citation: "arXiv:2312.10794, (6.8) (misprint: e^{beta} for e^{2 beta})",
    expected: Expected::Violated,
    almost_sure: false,
    cases: &[Case::new(2, 2, 5.0, "sa")],
    quick: 1,
    trials: (1, 1),
    trial: cone_speed::printed_trial,
    control: Control {
        what: "the negation of the corrected bound at the same tokens (it holds there)",
        trial: |_| cone_speed::corrected().map(crate::theorem::Finding::negated),
    },
};
