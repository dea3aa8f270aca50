//! The pairing theorem as printed.

use super::pairing_law;
use crate::theorem::prelude::*;

/// Violated: on the clock of the start the pair collapses within `1/(beta c (1 - rho_0^2))`, and unequal masses need the factor c.
///
/// # Derivation
///
/// On the exact clock the weights are `e^{-beta (1 - rho(t))}`. Measured by that of the start, `e^{-beta (1 - rho_0)}`, the speed is
/// larger by `e^{beta (rho - rho_0)}`, which explodes as rho rises by a few 1/beta: the pair collapses within `1/(beta c (1 - rho_0^2))`
/// of that clock. And unequal masses have the factor c, which is 2 for equal ones only.
pub static ENTRY: Claim = Claim {
    name: "pairing-law-printed",
    title: "As printed: on the clock dt = e^{beta (1 - rho_0)} ds a pair follows y_i' = P y_j",
    statement: "Clusters of any masses, cosine rho_0 in [-0.95, 0.5], on the clock dt = e^{beta (1 - rho_0)} ds of their start: the cosine follows rho' = 2 (1 - rho^2), deviation at most 1e-3 until 0.6.",
    domain: Domain { n: Sizes::Fixed(2), beta: Betas::Log(10.0, 200.0), dynamics: &["sa"], laws: &["placed"], ..Domain::ATTENTION },
    narrower: "the limit of large beta is tried at beta >= 10",
    citation: "arXiv:2512.01868 (survey), pairing theorem as printed",
    status: Status::Misprinted,
    trials: (8, 60),
    trial: |case, ctx| pairing_law::deviation(case, ctx, pairing_law::PairingLaw::Printed),
    control: Control {
        what: "equal masses on the clock of the state",
        trial: |ctx| pairing_law::deviation(&Case::new(2, 3, 60.0, "sa").with_law("placed"), ctx, pairing_law::PairingLaw::Equal),
    },
    ..Claim::INEQUALITY
};
