//! The pattern of the critical points on the circle.

use super::setting::{CIRCLE, equal_tokens};
use crate::proofs::landscape::complete;
use crate::theorem::prelude::*;

/// The pattern for large beta.
///
/// # Derivation
///
/// This is open. Known facts: for n <= 8 it is proved at single values of beta >= 1 by complete
/// lists. Two opposite clusters of masses `M > m` have another index below `(1/2) ln(M/m)`, where
/// an orbit with one more cluster begins; so b(n) grows at least like `(1/2) ln(n/2)`. For large
/// beta only neighbours pull, and a critical point balances the pulls of its two neighbours. For
/// each cyclic order the balance has one solution if the pulls of farther clusters are left out;
/// an explicit bound of what is left out is missing.
pub static ENTRY: Claim = Claim {
    name: "one-saddle-per-partition",
    title: "Large beta on the circle: one critical point for every cyclically ordered partition",
    lets: "d = 2, equal masses, and let beta be larger than some b(n)",
    then: "For every partition of the tokens into k clusters in a cyclic order there is exactly \
           one critical point modulo rotations, and it has k - 1 directions of ascent: in all \
           (k-1)! S(n, k) labelled points, S the Stirling numbers of the second kind.",
    tested: "with b(n) = 1, by a proof that the list is complete at the drawn beta",
    domain: Domain {
        n: Sizes::Range(3, 5),
        beta: Betas::Log(1.0, 50.0),
        corners: &[(5, 2, 1.0)],
        ..CIRCLE
    },
    source: "derived: a conjecture from the complete lists",
    status: Status::Open,
    trials: (4, 40),
    trial: |case, _| counts(case.n, case.beta),
    no_constant: "points are counted",
    control: Control {
        what: "n = 5 and beta = 0.19: an orbit with three clusters is missing",
        trial: |_| counts(5, 0.19),
    },
    ..Claim::EXACT
};

fn counts(n: usize, beta: f64) -> Result<Finding> {
    let found = complete(&equal_tokens(n, (beta, beta))?, false, &|_, _| true)?;
    // S(m, k) = k S(m - 1, k) + S(m - 1, k - 1).
    let mut stirling = vec![0u64; n + 1];
    stirling[0] = 1;
    for _ in 0..n {
        for k in (1..=n).rev() {
            stirling[k] = k as u64 * stirling[k] + stirling[k - 1];
        }
        stirling[0] = 0;
    }
    let factorial = |k: usize| (1..=k as u64).product::<u64>();
    let wanted: Vec<u64> = (1..=n).map(|k| factorial(k - 1) * stirling[k]).collect();
    Ok(Finding::answer(found.complete && found.labelled == Some(wanted)))
}
