//! Benign landscapes on the circle, proved box by box.

use super::setting::{CIRCLE, are_benign, is_benign};
use crate::theorem::prelude::*;

/// The theorem for every beta >= -0.16, and the interval below it.
///
/// # Derivation
///
/// `proofs::landscape` covers all configurations by boxes. In each, a force is not 0, or moving an
/// arc or a vector increases the energy at second order. This is a proof for the drawn n and beta.
pub static ENTRY: Claim = Claim {
    name: "benign-circle",
    title: "On the circle every critical point but consensus has a direction of ascent, \
            beta >= -0.16",
    then: "For d = 2, equal masses and beta >= -0.16, every critical point of E_beta other than \
           consensus has a direction in which E_beta increases at second order.",
    tested: "by a proof with boxes that cover all configurations at the drawn beta, which the \
             verifier accepts",
    domain: Domain {
        n: Sizes::Range(3, 7),
        beta: Betas::Signed(0.01, 50.0),
        condition: Some(Condition { text: "beta >= -0.16", holds: |c| c.beta >= -0.16 }),
        corners: &[(5, 2, 0.0), (6, 2, -0.16)],
        ..CIRCLE
    },
    narrower: "n <= 7, at single values of beta",
    source: "Polyanskiy, Rigollet, Yao, arXiv:2507.22857",
    trials: (8, 100),
    trial: |case, _| is_benign(case.n, (case.beta, case.beta)),
    no_constant: "the sign of an eigenvalue decides",
    control: Control {
        what: "beta = -0.7 < -2/3: the regular triangle is a local maximum",
        trial: |_| is_benign(3, (-0.7, -0.7)),
    },
    proof: Some(Proof {
        what: "n = 3, 4, 5 and all beta in [0.1, 50]",
        whole: false,
        holds: || are_benign(&[3, 4, 5], (0.1, 50.0)),
    }),
    ..Claim::EXACT
};
