//! Vectors in twice the precision: unevaluated sums of two, products by Ogita, Rump and Oishi (2005).

use crate::num::simd::Lanes;

/// Lanes with exact products, fused or by splitting.
#[derive(Clone, Copy)]
pub(super) struct Exact<L> {
    l: L,
    fused: bool,
}

/// A sum of two vectors.
pub(super) type Pair<V> = (V, V);

impl<L: Lanes<F = f64>> Exact<L> {
    /// Finds out whether the multiply-add of these lanes rounds once.
    #[inline(always)]
    pub fn new(l: L) -> Self {
        let (x, rest) = (1.0 + (-30f64).exp2(), -1.0 - (-29f64).exp2());
        let tail = l.fma(l.splat(x), l.splat(x), l.splat(rest));
        Self { l, fused: l.largest(tail) > 0.0 }
    }

    /// `a + b` and its rounding error.
    #[inline(always)]
    pub fn sum(self, a: L::V, b: L::V) -> Pair<L::V> {
        let l = self.l;
        let s = l.add(a, b);
        let back = l.sub(s, a);
        (s, l.add(l.sub(a, l.sub(s, back)), l.sub(b, back)))
    }

    /// `a b` and its rounding error.
    #[inline(always)]
    pub fn product(self, a: L::V, b: L::V) -> Pair<L::V> {
        let l = self.l;
        let p = l.mul(a, b);
        if self.fused {
            return (p, l.fma(a, b, l.sub(l.zero(), p)));
        }
        let ((x, y), (u, v)) = (self.halves(a), self.halves(b));
        let e = l.sub(p, l.mul(x, u));
        let e = l.sub(l.sub(e, l.mul(y, u)), l.mul(x, v));
        (p, l.sub(l.mul(y, v), e))
    }

    /// Two numbers of 26 bits that add up to this one (Veltkamp).
    #[inline(always)]
    fn halves(self, a: L::V) -> Pair<L::V> {
        let l = self.l;
        let scaled = l.mul(l.splat(134_217_729.0), a);
        let high = l.sub(scaled, l.sub(scaled, a));
        (high, l.sub(a, high))
    }

    /// `acc + a b`.
    #[inline(always)]
    pub fn add_product(self, acc: Pair<L::V>, a: Pair<L::V>, b: Pair<L::V>) -> Pair<L::V> {
        let l = self.l;
        let ((p, e), cross) = (self.product(a.0, b.0), l.fma(a.0, b.1, l.mul(a.1, b.0)));
        let (s, f) = self.sum(acc.0, p);
        (s, l.add(acc.1, l.add(l.add(e, f), cross)))
    }

    /// The same with exact factors.
    #[inline(always)]
    pub fn add_short_product(self, acc: Pair<L::V>, a: L::V, b: L::V) -> Pair<L::V> {
        let (p, e) = self.product(a, b);
        let (s, f) = self.sum(acc.0, p);
        (s, self.l.add(acc.1, self.l.add(e, f)))
    }

    /// The same sum with a second part that is small beside the first.
    #[inline(always)]
    pub fn tidied(self, a: Pair<L::V>) -> Pair<L::V> {
        self.sum(a.0, a.1)
    }
}
