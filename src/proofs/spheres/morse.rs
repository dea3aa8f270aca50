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

/// A series up to a degree.
type Series = Vec<i128>;

/// Multiplies by `1 + t^k`.
fn times(series: &mut Series, k: usize) {
    for x in (k..series.len()).rev() {
        // For k = 0 an entry is doubled.
        series[x] += series[x - k];
    }
}

/// Divides by `1 - t^k`, `k > 0`.
fn over(series: &mut Series, k: usize) {
    for x in k..series.len() {
        series[x] += series[x - k];
    }
}

/// `t^k` up to a degree.
fn power(k: usize, degree: usize) -> Series {
    let mut series = vec![0; degree + 1];
    if let Some(c) = series.get_mut(k) {
        *c = 1;
    }
    series
}

/// Whether `difference / (1 + t)` has no negative coefficients; for polynomials it must be one.
fn is_fine(difference: &Series, polynomial: bool) -> bool {
    let mut rest = 0;
    for c in difference {
        rest = c - rest;
        if rest < 0 {
            return false;
        }
    }
    !polynomial || rest == 0
}

/// Whether all critical points of n tokens on the sphere of `R^d` satisfy the Morse inequalities,
/// plain and equivariant (up to the degree `n d + 24`). The Euler characteristic is the plain one
/// at `t = -1`.
///
/// **Cost** O(n d) operations per orbit and dimension.
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
    let degree = n * d + 24;
    let (mut plain, mut equivariant) = (vec![0; degree + 1], vec![0; degree + 1]);
    let mut add = |sign: i128, of: &Labelled| {
        if of.rank > d || of.index > degree {
            return false;
        }
        let mut orbit = power(of.index, degree);
        (d - of.rank..d).for_each(|k| times(&mut orbit, k));
        let mut quotient = power(of.index, degree);
        (1..=d - of.rank).for_each(|k| over(&mut quotient, k));
        for x in 0..=degree {
            plain[x] += sign * i128::from(of.count) * orbit[x];
            equivariant[x] += sign * i128::from(of.count) * quotient[x];
        }
        true
    };
    if !orbits.iter().all(|o| add(1, o)) || d == 0 || n == 0 {
        return false;
    }
    // The space itself: products of n - 1 further spheres with the orbit of one token.
    let mut space = power(0, degree);
    (1..n).for_each(|_| times(&mut space, d - 1));
    for (index, count) in space.iter().enumerate().filter(|c| *c.1 > 0) {
        let part = Labelled { count: *count as u64, index, rank: 1 };
        if !add(-1, &part) {
            return false;
        }
    }
    is_fine(&plain, true) && is_fine(&equivariant, false)
}
