//! Noise: continuous or discontinuous transition.

use super::{Case, Claim, Control, Expected, Finding};
use crate::continuity::stationary::branch;
use crate::error::Result;
use crate::theory::noise::{beta_star, threshold};

/// The branch of stationary measures bends one way or the other.
pub static ENTRY: Claim = Claim {
    name: "transition-order",
    title: "Noisy USA on the circle: the transition is continuous iff beta <= beta_* = 2.4469",
    statement: "Stationary measures with mean 0.05 on the branch of mode 1 need kappa > kappa_c when beta < beta_* (supercritical) and kappa < kappa_c when beta > beta_*, where I_2(beta_*)/I_1(beta_*) = 1/2.",
    hypotheses: "beta outside [2.43, 2.46]",
    applies: |case| (case.beta - 2.445).abs() > 0.015,
    citation: "Mun, Rosenzweig, arXiv:2606.05140 (abstract)",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[
        Case::new(1, 2, 1.0, "usa"),
        Case::new(1, 2, 2.4, "usa"),
        Case::new(1, 2, 2.5, "usa"),
        Case::new(1, 2, 4.0, "usa"),
        Case::new(1, 2, 7.0, "usa"),
        Case::new(1, 2, 0.2, "usa"),
    ],
    quick: 4,
    trials: (1, 1),
    trial: |case, _| bend(case.beta, beta_star(2)?),
    control: Control { what: "beta_* = 3", trial: |_| bend(2.7, 3.0) },
};

fn bend(beta: f64, star: f64) -> Result<Finding> {
    let relative = branch(beta, 0.05)?.kappa / threshold(2, 1, beta)? - 1.0;
    // The fixed point is exact to 1e-13.
    Ok(Finding::Margin(super::Margin { value: relative * (star - beta).signum(), evaluation: 1e-11, ..super::Margin::default() }))
}
