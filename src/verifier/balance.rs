//! Combinations of forces from which the order parameter cancels, for small beta: the documentation
//! of `proofs::landscape::balance` has the formulas.

use crate::interval::F;
use crate::kernel::{Kernel, TURN};

/// Clusters with the ranges of their distances.
pub(super) struct Balance<'a> {
    pub(super) mass: &'a [f64],
    pub(super) gaps: &'a [(i64, i64)],
    /// Distances from p to q > p.
    pub(super) distance: &'a [Vec<(i64, i64)>],
    pub(super) beta: F,
    /// The kernel of beta = 0.
    pub(super) turns: Kernel,
}

impl Balance<'_> {
    /// Sine and cosine, which are u and w for beta = 0.
    fn sin_cos(&self, distances: (i64, i64)) -> (F, F) {
        self.turns.ranges(distances)
    }

    /// `(e^{beta cos} - 1) sin` and its derivative.
    fn kernel(&self, distances: (i64, i64)) -> (F, F) {
        let (sin, cos) = self.sin_cos(distances);
        let whole = (self.beta * cos).exp();
        let less = whole - F::int(1.0);
        (less * sin, less * cos - self.beta * whole * sin.sqr())
    }

    fn towards(&self, t: usize, x: usize) -> (i64, i64) {
        let (lo, hi) = self.distance[t.min(x)][t.max(x)];
        if t < x { (lo, hi) } else { (TURN - hi, TURN - lo) }
    }

    /// Whether the forces with the numbers a, and the quotient of gap p with its number, add up to
    /// a number that is not 0.
    pub(super) fn excludes(&self, quotient: Option<(usize, i32)>, a: &[i32]) -> bool {
        let k = self.mass.len();
        let number = |v: i32| F::int(f64::from(v));
        let zero = F::int(0.0);
        let place = |q: usize| if q == 0 { (0, 0) } else { self.distance[0][q] };
        let (mut r, mut s, mut sum) = ((zero, zero), (zero, zero), zero);
        for q in 0..k {
            let (sin, cos) = self.sin_cos(place(q));
            let mass = F::int(self.mass[q]);
            r = (r.0 + mass * cos, r.1 + mass * sin);
            s = (s.0 + number(a[q]) * cos, s.1 + number(a[q]) * sin);
            for p in 0..q {
                let factor =
                    number(a[p]) * F::int(self.mass[q]) - number(a[q]) * F::int(self.mass[p]);
                sum = sum + factor * self.kernel(self.distance[p][q]).0;
            }
        }
        if let Some((p, own)) = quotient {
            let (q, own) = ((p + 1) % k, number(own));
            let end = if p + 1 == k { TURN } else { place(p + 1).1 };
            let (sin, cos) = self.sin_cos((place(p).0, end));
            s = (s.0 + own * sin, s.1 - own * cos);
            let both = F::int(self.mass[p] + self.mass[q]);
            let mut rest = both * self.kernel((0, self.gaps[p].1)).1;
            for t in (0..k).filter(|t| *t != p && *t != q) {
                let hull = (self.towards(t, p).0, self.towards(t, q).1);
                if hull.0 > hull.1 {
                    return false;
                }
                rest = rest + F::int(self.mass[t]) * self.kernel(hull).1;
            }
            sum = sum + own * rest;
        }
        (sum + (r.1 * s.0 - r.0 * s.1)).has_sign()
    }
}
