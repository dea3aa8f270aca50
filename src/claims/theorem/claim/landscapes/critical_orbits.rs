//! Complete lists of critical points on the circle.

use super::setting::{CIRCLE, accepted_landscape, equal_tokens};
use crate::proofs::landscape::complete;
use crate::theorem::prelude::*;

const BETAS: (f64, f64) = (0.205, 50.0);
const CONTROL_BETA: f64 = 0.19;

/// How many critical points few tokens have.
///
/// # Derivation
///
/// `proofs::landscape` covers all configurations by boxes; each has no critical point or lies in a
/// box with exactly one. For `n = 3` and 4 the same boxes cover all `beta` in [0.05, 50], with a
/// derivative that is regular: `metastable landscape --n 4 --beta 0.05..50`. For `n = 5` they cover
/// [0.205, 5.52]: `metastable landscape --n 5 --beta 0.205..0.25` and `--beta 0.25..5.52`. For
/// larger `beta` see `partitions-at-large-beta`, with the constants 0.81, 2.58, 5.52 and these
/// counts.
///
/// For `n = 5` two opposite clusters of 3 and 2 tokens are degenerate at `(1/2) ln(3/2) = 0.2027`,
/// where `M_2 = M_3 e^{-2 beta}`: an orbit of clusters 3 + 1 + 1 begins there. Between this `beta`
/// and 0.205 the count is not proved.
pub static ENTRY: Claim = Claim {
    name: "critical-orbits",
    title: "Critical points on the circle: 3 orbits for `n = 3`, 5 for `n = 4`, 7 for `n = 5`",
    then: "For `d = 2`, equal masses and `beta >= {LEAST_BETA}`, `E_beta` has exactly 3, 5, 7 \
           critical points for `n = 3`, 4, 5, up to rotations, reflections and permutations.",
    tested: "by a proof, which the verifier accepts, that the list is complete at the drawn `beta`",
    numbers: &[("LEAST_BETA", BETAS.0), ("MOST_BETA", BETAS.1), ("CONTROL_BETA", CONTROL_BETA)],
    domain: Domain {
        n: Sizes::Range(3, 5),
        beta: Betas::Log(BETAS.0, BETAS.1),
        corners: &[(5, 2, 0.25), (5, 2, 40.0)],
        ..CIRCLE
    },
    source: "derived, by computer",
    narrower: "`beta <= {MOST_BETA}`, at single values",
    trials: (5, 50),
    trial: |case, _| has_orbits(case.n, case.beta),
    no_constant: "orbits are counted",
    control: Control {
        what: "`n = 5` and `beta = {CONTROL_BETA} < (1/2) ln(3/2)`: six orbits",
        trial: |_| has_orbits(5, CONTROL_BETA),
    },
    proof: Some(Proof {
        what: "`n = 3` and all `beta` in [0.205, 50]",
        whole: false,
        holds: || {
            let found = complete(&equal_tokens(3, BETAS)?, false, &|_, _| true)?;
            Ok(found.complete && found.orbits.len() == 3)
        },
    }),
    ..Claim::EXACT
};

fn has_orbits(n: usize, beta: f64) -> Result<Finding> {
    let found = accepted_landscape(&equal_tokens(n, (beta, beta))?)?;
    Ok(Finding::answer(found.is_some_and(|all| all.orbits.len() == 2 * n - 3)))
}
