//! The pairing theorem as printed.

use super::pairing_law;
use crate::theorem::prelude::*;

/// It is violated: in the time changed by the initial rho, the pair collapses within
/// `1/(beta c (1 - rho_0^2))`, and unequal masses need the factor c.
///
/// # Derivation
///
/// The speed is proportional to `e^{-beta (1 - rho(t))}`. Relative to the initial value
/// `e^{-beta (1 - rho_0)}` it is larger by `e^{beta (rho - rho_0)}`, which explodes as rho
/// increases by a few 1/beta: the pair collapses within `1/(beta c (1 - rho_0^2))` of the new time.
/// And unequal masses have the factor c, which is 2 only for equal masses.
pub static ENTRY: Claim = Claim {
    name: "pairing-law-printed",
    title: "As printed: in the time s with dt = e^{beta (1 - rho_0)} ds, a pair follows y_i' = P \
            y_j",
    lets: "two clusters have any masses and initial cosine rho_0 in [-0.95, 0.5]",
    then: "In the time s with dt = e^{beta (1 - rho_0)} ds, the cosine follows rho' = 2 (1 - \
           rho^2).",
    tested: "until rho = 0.6, to 1e-3",
    domain: Domain {
        n: Sizes::Fixed(2),
        beta: Betas::Log(10.0, 200.0),
        dynamics: &["sa"],
        laws: &["placed"],
        ..Domain::ATTENTION
    },
    narrower: "large beta is tested as beta >= 10",
    source: "arXiv:2512.01868 (survey), pairing theorem as printed",
    status: Status::Misprinted,
    trials: (8, 60),
    trial: |case, ctx| pairing_law::deviation(case, ctx, pairing_law::PairingLaw::Printed),
    control: Control {
        what: "equal masses, with the time changed by the current rho",
        trial: |ctx| {
            pairing_law::deviation(
                &Case::new(2, 3, 60.0, "sa").with_law("placed"),
                ctx,
                pairing_law::PairingLaw::Equal,
            )
        },
    },
    ..Claim::INEQUALITY
};
