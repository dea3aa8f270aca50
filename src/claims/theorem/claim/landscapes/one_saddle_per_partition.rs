//! The pattern of the critical points on the circle.

use super::setting::{CIRCLE, accepted_landscape, equal_tokens};
use crate::theorem::prelude::*;

const LEAST_BETA: f64 = 1.0;
const LEAST_BETA_OF_SEVEN: f64 = 1.5;
const CONTROL_BETA: f64 = 0.19;

/// Where the pattern of `partitions-at-large-beta` begins.
///
/// # Derivation
///
/// What is known of the least constant `b(n)`:
///
/// - `b(n) <= B(n)` by `partitions-at-large-beta`, a theorem. `B(6) = 9.47` and `B(8) = 20.5`.
/// - `b(n) <= 0.205` for `n <= 5`, by the boxes of `critical-orbits` and this theorem.
/// - For `n <= 8` the pattern is proved at single values of `beta >= 1` by complete lists.
/// - Two opposite clusters of `M` and `m` tokens, `M > m >= 2`, have another index below `(1/2)
///   ln(M/m)`, where an orbit with one more cluster begins. So `b(n) >= (1/2) ln((n-2)/2)` for `n
///   >= 5`.
///
/// Open is `b(n)` itself for `n >= 6`. The claim is one upper bound.
pub static ENTRY: Claim = Claim {
    name: "one-saddle-per-partition",
    title: "Circle, six to eight tokens: one critical point for every cyclically ordered partition \
            from `beta = 1` on",
    lets: "`d = 2`, equal masses, and let `b(n)` be the least number such that for every `beta > \
           b(n)` and every partition of the tokens into `k` clusters in a cyclic order there is \
           exactly one critical point modulo rotations, with `k - 1` directions of ascent, and \
           there are no others",
    then: "`b(n) < {LEAST_BETA}` for `6 <= n <= 8`. (Proved: `b(n) <= B(n)` for every `n`, by \
           partitions-at-large-beta; `b(n) <= 0.205` for `n <= 5`, by critical-orbits.)",
    tested: "by a proof, which the verifier accepts, that the list is complete at the drawn `beta` \
             below `B(n)`: it has `(k-1)`! `S(n, k)` labelled points with `k - 1` directions of \
             ascent, `S` the Stirling numbers of the second kind",
    numbers: &[
        ("LEAST_BETA", LEAST_BETA),
        ("LEAST_BETA_OF_SEVEN", LEAST_BETA_OF_SEVEN),
        ("CONTROL_BETA", CONTROL_BETA),
    ],
    domain: Domain {
        n: Sizes::Range(6, 7),
        beta: Betas::Log(LEAST_BETA, 9.0),
        // At beta = 1 the list of seven tokens takes six seconds.
        condition: Some(Condition {
            text: "`beta >= {LEAST_BETA_OF_SEVEN}` for seven tokens",
            holds: |c| c.n == 6 || c.beta >= LEAST_BETA_OF_SEVEN,
        }),
        ..CIRCLE
    },
    narrower: "`n = 6` and 7, at single values of `beta`, from {LEAST_BETA_OF_SEVEN} on for `n = \
               7`",
    source: "derived: a conjecture from the complete lists",
    status: Status::Open,
    trials: (2, 40),
    trial: |case, _| counts(case.n, case.beta),
    no_constant: "points are counted",
    control: Control {
        what: "`n = 5` and `beta = {CONTROL_BETA}`: an orbit with three clusters is missing",
        trial: |_| counts(5, CONTROL_BETA),
    },
    ..Claim::EXACT
};

fn counts(n: usize, beta: f64) -> Result<Finding> {
    let found = accepted_landscape(&equal_tokens(n, (beta, beta))?)?;
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
    Ok(Finding::answer(found.is_some_and(|all| all.labelled == Some(wanted))))
}
