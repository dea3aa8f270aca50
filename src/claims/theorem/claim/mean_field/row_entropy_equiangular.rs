//! The row entropy of equiangular tokens.

use super::row_entropy_folklore::rise;
use crate::theorem::prelude::*;

/// A row is `(a, b, ..., b)` with `b/a = e^{-beta (1-gamma)}`. Its entropy increases with b/a, and
/// gamma increases.
///
/// # Derivation
///
/// A row is (a, b, ..., b) with `b/a = w = e^{-beta (1 - gamma)} < 1` and gamma increasing
/// (`gamma-curve`), so w increases for beta > 0. The derivative of the entropy with respect to log
/// w is minus the covariance of log p and the indicator of the others under p: the others have the
/// smaller weights, so it is positive. The row tends to the uniform one.
pub static ENTRY: Claim = Claim {
    name: "row-entropy-equiangular",
    title: "The row entropy of attention increases along SA from orthonormal tokens",
    lets: "Q = K = V = I and let the tokens be orthonormal",
    then: "Under SA, d/dt of the mean over i of -sum_j A_ij log A_ij is positive at the start.",
    domain: Domain {
        n: Sizes::Range(2, 24),
        d: Sizes::Range(2, 24),
        beta: Betas::Linear(0.1, 8.0),
        dynamics: &["sa"],
        laws: &["orthonormal"],
        condition: Some(Condition { text: "d >= n", holds: |c| c.d >= c.n }),
        ..Domain::EQUAL_MASSES
    },
    narrower: "t = 0 only",
    source: "derived; the claim of arXiv:2605.04279 (abstract) in a case where it holds",
    trials: (20, 100),
    trial: rise,
    control: Control {
        what: "the repulsive flow",
        trial: |ctx| {
            rise(
                &Case {
                    dynamics: "repulsive-sa",
                    ..Case::new(6, 6, 4.0, "sa").with_law("orthonormal")
                },
                ctx,
            )
        },
    },
    ..Claim::INEQUALITY
};
