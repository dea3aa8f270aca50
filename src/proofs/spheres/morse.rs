//! Morse inequalities on products of spheres, with the multiplicities of orbits of rotations.
//!
//! The critical points of E on `(S^{d-1})^n` are orbits of O(d). The orbit of a configuration of
//! rank r is a Stiefel manifold `V_r(R^d)`. With coefficients in `Z_2` its Poincare polynomial is
//! the product of `1 + t^k` for `d - r <= k < d`, and orientations do not matter. So, with the sum
//! over all labelled configurations modulo O(d),
//! `sum t^index P(V_r) - (1 + t^{d-1})^n = (1 + t) R(t)`, where R has no negative coefficient.
//!
//! **Equivariant** In the cohomology of `O(d)`-spaces the orbit has the series of `BO(d - r)`,
//! where `P(BO(m))` is the product of `1 / (1 - t^k)` for `1 <= k <= m`. The product of spheres is
//! the space that the first sphere induces from `O(d - 1)` and `(S^{d-1})^{n-1}`, whose spheres
//! have fixed points. Its series is `P(BO(d - 1)) (1 + t^{d-1})^{n-1}`. The same relation holds.

use crate::landscape::is_fine;
use num_bigint::BigInt;
use std::collections::BTreeSet;

/// One orbit: the number of labelled configurations, index, and rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Labelled {
    /// Number of labelled configurations, modulo rotations and reflections.
    pub count: u64,
    /// Directions of ascent.
    pub index: usize,
    /// Dimension of the span.
    pub rank: usize,
}

/// A series up to a degree. In high dimensions coefficients are numbers of partitions, with some 60
/// digits, so they are big integers.
type Series = Vec<BigInt>;

/// Multiplies by `1 + t^k`.
fn times(series: &mut [BigInt], k: usize) {
    for x in (k..series.len()).rev() {
        // For k = 0 an entry is doubled.
        let below = series[x - k].clone();
        series[x] += below;
    }
}

/// Divides by `1 - t^k`, `k > 0`.
fn over(series: &mut [BigInt], k: usize) {
    for x in k..series.len() {
        let below = series[x - k].clone();
        series[x] += below;
    }
}

/// 1 as a series up to a degree.
fn one(degree: usize) -> Series {
    let mut series = vec![BigInt::ZERO; degree + 1];
    series[0] += 1;
    series
}

/// Adds `factor t^k` times a series.
fn add(sum: &mut [BigInt], factor: &BigInt, k: usize, series: &[BigInt]) {
    for (own, c) in sum.iter_mut().skip(k).zip(series) {
        *own += factor * c;
    }
}

/// Whether all critical points of n tokens on the sphere of `R^d` satisfy the Morse inequalities,
/// plain and equivariant (up to the degree `n d + 24`). The Euler characteristic is the plain one
/// at `t = -1`.
///
/// **Cost** O(n d) sums of integers for every orbit, and for every dimension up to d.
/// **Source** Bott, "Nondegenerate critical manifolds", Annals of Mathematics 60 (1954).
///
/// ```
/// use metastable::proofs::spheres::{Labelled, morse_inequalities_hold};
/// // Two tokens on the sphere: together, and opposite with d - 1 directions of ascent.
/// let one = |index| Labelled { count: 1, index, rank: 1 };
/// let all = |d: usize| [one(0), one(d - 1)];
/// assert!(morse_inequalities_hold(2, 3, &all(3)) && morse_inequalities_hold(2, 7, &all(7)));
/// assert!(!morse_inequalities_hold(2, 3, &all(3)[..1]));
/// ```
pub fn morse_inequalities_hold(n: usize, d: usize, orbits: &[Labelled]) -> bool {
    if d == 0 || n == 0 || orbits.iter().any(|o| !(1..=d).contains(&o.rank)) {
        return false;
    }
    let degree = n * d + 24;
    if orbits.iter().any(|o| o.index > degree) {
        return false;
    }
    let (mut plain, mut equivariant) =
        (vec![BigInt::ZERO; degree + 1], vec![BigInt::ZERO; degree + 1]);
    // The space itself: products of n - 1 further spheres with the orbit of one token.
    let mut space = one(degree);
    (1..n).for_each(|_| times(&mut space, d - 1));
    let ranks: BTreeSet<usize> = orbits.iter().map(|o| o.rank).chain([1]).collect();
    // The orbits of a rank have the same series, up to a power of t. Those of BO(d - r) are
    // multiplied from the largest rank on.
    let (mut quotient, mut factors) = (one(degree), 0);
    for rank in ranks.into_iter().rev() {
        (factors + 1..=d - rank).for_each(|k| over(&mut quotient, k));
        factors = d - rank;
        let mut stiefel = one(degree);
        (d - rank..d).for_each(|k| times(&mut stiefel, k));
        let mut both = |factor: &BigInt, index: usize| {
            add(&mut plain, factor, index, &stiefel);
            add(&mut equivariant, factor, index, &quotient);
        };
        for orbit in orbits.iter().filter(|o| o.rank == rank) {
            both(&BigInt::from(orbit.count), orbit.index);
        }
        for (index, count) in space.iter().enumerate().filter(|c| rank == 1 && *c.1 > BigInt::ZERO)
        {
            both(&-count, index);
        }
    }
    is_fine(&plain, true) && is_fine(&equivariant, false)
}
