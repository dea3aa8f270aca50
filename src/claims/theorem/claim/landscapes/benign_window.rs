//! Benign landscapes on the circle for negative beta.

use super::setting::{CIRCLE, are_benign, is_benign};
use crate::theorem::prelude::*;

const BETAS: (f64, f64) = (-0.6656, -0.16);
const LARGEST_N: usize = 6;
const CONTROL_BETA: f64 = -0.667;

/// The interval that arXiv:2507.22857 leaves open.
///
/// # Derivation
///
/// By the same boxes. `metastable landscape --n 9 --beta -0.6656666..-0.16 --benign` proves it for
/// `n = 9`, likewise for smaller `n`. For `n <= 8` the verifier confirmed the certificate.
pub static ENTRY: Claim = Claim {
    name: "benign-window",
    title: "The landscape on the circle is benign for `-0.6656 <= beta <= -0.16` and `n <= 9`",
    then: "For `d = 2`, equal masses, `3 <= n <= 9` and `{LEAST_BETA} <= beta <= {MOST_BETA}`, \
           every critical point of `E_beta` other than consensus has a direction in which `E_beta` \
           increases at second order.",
    tested: "by a proof with boxes that cover all configurations at the drawn `beta`, which the \
             verifier accepts",
    numbers: &[
        ("LEAST_BETA", BETAS.0),
        ("MOST_BETA", BETAS.1),
        ("LARGEST_N", LARGEST_N as f64),
        ("CONTROL_BETA", CONTROL_BETA),
    ],
    domain: Domain {
        n: Sizes::Range(3, LARGEST_N),
        beta: Betas::Linear(BETAS.0, BETAS.1),
        corners: &[(3, 2, BETAS.0), (6, 2, -0.5)],
        ..CIRCLE
    },
    narrower: "`n <= {LARGEST_N}`, at single values of `beta`; `landscape` proves the rest",
    source: "derived, by computer; the interval between the theorem and the counterexample of \
             arXiv:2507.22857",
    trials: (6, 60),
    trial: |case, _| is_benign(case.n, (case.beta, case.beta)),
    no_constant: "the sign of an eigenvalue decides",
    control: Control {
        what: "`beta = {CONTROL_BETA} < -2/3`: the regular triangle is a local maximum",
        trial: |_| is_benign(3, (CONTROL_BETA, CONTROL_BETA)),
    },
    proof: Some(Proof {
        what: "`n = 3`, 4 and all `beta` in [-0.6656, -0.16]",
        whole: false,
        holds: || are_benign(&[3, 4], BETAS),
    }),
    ..Claim::EXACT
};
