//! Large beta on the circle: one critical point for every set partition in a cyclic order.

use super::setting::{ENERGY, accepted_landscape};
use crate::proofs::landscape::Tokens as ProofTokens;
use crate::theorem::prelude::*;
use crate::theory::partitions::{cyclic_partitions, threshold};

const HEAVIEST: usize = 3;
const LARGEST_N: usize = 5;
const CONTROL_BETA: f64 = 0.15;

/// All critical points on the circle for large beta, for any masses.
///
/// # Derivation
///
/// The page `partitions` of the guide has the proof. Let every pair pull along its shorter arc. At
/// a critical point the sum of the pulls across each gap is the same number `T`. Across the largest
/// gap it is at most `u(2 pi/n)/4`, `u(d) = e^{beta (cos d - 1)} sin d`. So a gap `g` has `m_1 m_2
/// u(g) <= u(2 pi/n)/4`: it is either tiny, at most `a`, or at least `b`. Tokens joined by tiny
/// gaps attract each other more than the others pull them apart, so tiny gaps do not occur. Where
/// all gaps exceed `tau*`, the energy is strictly convex in the gaps of the clusters, and its
/// minimum is inside. So each partition in each cyclic order has one critical point, and moving
/// whole clusters increases the energy.
pub static ENTRY: Claim = Claim {
    name: "partitions-at-large-beta",
    title: "`beta > C n^2 log n`, `d = 2`: one critical point for every set partition in a cyclic \
            order",
    lets: "masses be positive, and `B` be the constant of the guide's page on partitions, 0.81, \
           2.58, 5.52 for three to five equal masses, of the order `n^2 log n` for many",
    then: "For `beta >= B` and tokens on the circle, every set partition of the tokens into `k` \
           clusters, in every cyclic order, has exactly one critical point of `E_beta` modulo \
           rotations, and there are no others. It is nondegenerate and has `k - 1` unstable \
           directions. So `(k-1)`! `S(n, k)` labelled critical points have `k - 1` of them.",
    tested: "by proved lists of all critical points, which the verifier accepts, in half of the \
             trials for equal masses and in half for whole masses from 1 to {HEAVIEST}, with \
             `beta` times the ratio of their constants `B`",
    numbers: &[
        ("HEAVIEST", HEAVIEST as f64),
        ("LARGEST_N", LARGEST_N as f64),
        ("CONTROL_BETA", CONTROL_BETA),
    ],
    domain: Domain {
        n: Sizes::Range(3, LARGEST_N),
        d: Sizes::Fixed(2),
        beta: Betas::TimesThreshold {
            lo: 1.0001,
            hi: 4.0,
            formula: "B",
            threshold: |n, _| equal_masses(n),
        },
        laws: &[],
        draws: "masses",
        ..ENERGY
    },
    narrower: "`n <= {LARGEST_N}`",
    source: "derived",
    trials: (12, 60),
    trial: |case, ctx| {
        let masses: Vec<f64> = match ctx.index(2) {
            0 => vec![1.0; case.n],
            _ => (0..case.n).map(|_| 1.0 + ctx.index(HEAVIEST) as f64).collect(),
        };
        counts(&masses, case.beta * threshold(&masses)? / equal_masses(case.n))
    },
    no_constant: "whole numbers are compared",
    control: Control {
        what: "five equal tokens at `beta = {CONTROL_BETA}`, below the pitchfork at log(3/2)/2",
        trial: |_| counts(&[1.0; 5], CONTROL_BETA),
    },
    ..Claim::EXACT
};

/// The constant B of n equal masses.
fn equal_masses(n: usize) -> f64 {
    threshold(&vec![1.0; n]).unwrap_or(f64::INFINITY)
}

/// Compares the numbers of labelled critical points with those of partitions.
fn counts(masses: &[f64], beta: f64) -> Result<Finding> {
    let all = accepted_landscape(&ProofTokens::new(masses, (beta, beta))?)?;
    let Some(labelled) = all.and_then(|all| all.labelled) else {
        return Ok(Finding::HypothesesMissed);
    };
    let claimed = cyclic_partitions(masses.len()).into_iter().map(|c| c as u64);
    Ok(Finding::answer(labelled.into_iter().eq(claimed)))
}
