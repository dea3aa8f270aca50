//! Growth rates as the published code plots them.

use super::{Case, Claim, Control, Expected, mode_growth::deviation};

/// 2410.23228, figure code: the rate divided by pi.
pub static ENTRY: Claim = Claim {
    name: "mode-growth-printed",
    title: "Modes grow at k^2 I_k(beta) / (pi beta) (as plotted)",
    statement: "USA on the circle: the k-th Fourier mode of the uniform measure grows at k^2 I_k(beta)/(pi beta).",
    hypotheses: "d = 2, beta > 0",
    applies: |case| case.d == 2 && case.beta > 0.0,
    citation: "code of arXiv:2410.23228 (a factor pi below the rate of the dynamics it simulates)",
    expected: Expected::Violated,
    almost_sure: false,
    cases: &[Case::new(1, 2, 5.0, "usa"), Case::new(1, 2, 7.0, "usa")],
    quick: 2,
    trials: (2, 6),
    trial: |case, ctx| deviation(case, ctx, 1.0 / std::f64::consts::PI),
    control: Control { what: "a tenth of the rate", trial: |ctx| deviation(&Case::new(1, 2, 5.0, "usa"), ctx, 0.1) },
};
