//! Counts pairs with a large inner product, one system per lane.

use crate::num::simd::{SimdKernel, SimdOps};

/// Counts the pairs of initial tokens with inner product at least `threshold`.
pub(super) struct CountPairs<'a> {
    pub threshold: f64,
    pub d: usize,
    pub x: &'a [f64],
    /// Number of initial tokens in each token; empty if all are 1.
    pub sizes: &'a [f64],
    pub counts: &'a mut [f64; 8],
}

impl SimdKernel for CountPairs<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        let count = match (self.d, self.sizes.is_empty()) {
            (2, true) => self.pairs::<L, 2, false>(l),
            (2, false) => self.pairs::<L, 2, true>(l),
            (3, true) => self.pairs::<L, 3, false>(l),
            (3, false) => self.pairs::<L, 3, true>(l),
            (_, true) => self.pairs::<L, 0, false>(l),
            (_, false) => self.pairs::<L, 0, true>(l),
        };
        L::view_mut(&mut self.counts[..L::WIDTH])[0] = count;
    }
}

impl CountPairs<'_> {
    /// `D` is the dimension, 0 for any.
    #[inline(always)]
    fn pairs<L: SimdOps<F = f64>, const D: usize, const SIZES: bool>(&self, l: L) -> L::V {
        let n = self.x.len() / L::WIDTH / self.d;
        let (whole, mut count) = (n - n % 4, l.zero());
        // Four rows at a time: independent sums.
        for i in (0..whole).step_by(4) {
            count = self.rows::<L, D, 4, SIZES>(l, i, count);
        }
        for i in whole..n {
            count = self.rows::<L, D, 1, SIZES>(l, i, count);
        }
        count
    }

    /// Adds the pairs of R tokens from i on: with earlier tokens, with each other, and within a
    /// merged token.
    #[inline(always)]
    fn rows<L: SimdOps<F = f64>, const D: usize, const R: usize, const SIZES: bool>(
        &self,
        l: L,
        i: usize,
        mut count: L::V,
    ) -> L::V {
        let d = if D > 0 { D } else { self.d };
        let (x, sizes, threshold, one) =
            (L::view(self.x), L::view(self.sizes), l.constant(self.threshold), l.constant(1.0));
        let row = |i: usize| &x[i * d..(i + 1) * d];
        let own: [&[L::V]; R] = std::array::from_fn(|r| row(i + r));
        let mut near_counts = [l.zero(); R];
        for j in 0..i {
            let xj = row(j);
            let size = if SIZES { sizes[j] } else { one };
            for r in 0..R {
                near_counts[r] =
                    l.add(near_counts[r], size_if_near(l, threshold, own[r], xj, size));
            }
        }
        for r in 0..R {
            for q in 0..r {
                near_counts[r] = l.add(
                    near_counts[r],
                    size_if_near(
                        l,
                        threshold,
                        own[r],
                        own[q],
                        if SIZES { sizes[i + q] } else { one },
                    ),
                );
            }
            count = if SIZES {
                let within = l.mul(l.constant(0.5), l.sub(sizes[i + r], one));
                l.fma(sizes[i + r], l.add(near_counts[r], within), count)
            } else {
                l.add(count, near_counts[r])
            };
        }
        count
    }
}

/// `size` if `<x, y> >= threshold`, else 0.
#[inline(always)]
fn size_if_near<L: SimdOps<F = f64>>(
    l: L,
    threshold: L::V,
    x: &[L::V],
    y: &[L::V],
    size: L::V,
) -> L::V {
    let mut inner = l.zero();
    for (a, b) in x.iter().zip(y) {
        inner = l.fma(*a, *b, inner);
    }
    l.select(l.greater(threshold, inner), l.zero(), size)
}
