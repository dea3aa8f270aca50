//! Benign landscapes on the circle, proved box by box.

use super::setting::{CIRCLE, are_benign, is_benign};
use crate::theorem::prelude::*;

const LEAST_BETA: f64 = -0.16;
const LARGEST_N: usize = 7;
const CONTROL_BETA: f64 = -0.7;

/// The theorem for every beta >= -0.16, and the interval below it.
///
/// # Derivation
///
/// `proofs::landscape` covers all configurations by boxes. In each, a force is not 0, or moving an
/// arc or a vector increases the energy at second order. This is a proof for the drawn `n` and
/// `beta`.
pub static ENTRY: Claim = Claim {
    name: "benign-circle",
    title: "On the circle every critical point but consensus has a direction of ascent, `beta >= \
            -0.16`",
    then: "For `d = 2`, equal masses and `beta >= {LEAST_BETA}`, every critical point of `E_beta` \
           other than consensus has a direction in which `E_beta` increases at second order.",
    tested: "by a proof with boxes that cover all configurations at the drawn `beta`, which the \
             verifier accepts",
    numbers: &[
        ("LEAST_BETA", LEAST_BETA),
        ("LARGEST_N", LARGEST_N as f64),
        ("CONTROL_BETA", CONTROL_BETA),
    ],
    domain: Domain {
        n: Sizes::Range(3, LARGEST_N),
        beta: Betas::Signed(0.01, 50.0),
        condition: Some(Condition {
            text: "`beta >= {LEAST_BETA}`",
            holds: |c| c.beta >= LEAST_BETA,
        }),
        corners: &[(5, 2, 0.0), (6, 2, LEAST_BETA)],
        ..CIRCLE
    },
    narrower: "`n <= {LARGEST_N}`, at single values of `beta`",
    source: "Polyanskiy, Rigollet, Yao, arXiv:2507.22857",
    trials: (8, 100),
    trial: |case, _| is_benign(case.n, (case.beta, case.beta)),
    no_constant: "the sign of an eigenvalue decides",
    control: Control {
        what: "`beta = {CONTROL_BETA} < -2/3`: the regular triangle is a local maximum",
        trial: |_| is_benign(3, (CONTROL_BETA, CONTROL_BETA)),
    },
    proof: Some(Proof {
        what: "`n = 3`, 4, 5 and all `beta` in [0.1, 50]",
        whole: false,
        holds: || are_benign(&[3, 4, 5], (0.1, 50.0)),
    }),
    ..Claim::EXACT
};
