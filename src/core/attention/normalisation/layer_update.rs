//! Updates of tokens by one layer.

use crate::num::{
    simd::{SimdKernel, SimdOps},
    vector::norm,
};
use crate::sphere::geometry::retract;

/// `x <- N(x + eta a)`, and `x <- N(a)` for an infinite step; the field `a` is overwritten.
pub(super) struct SphereUpdate<'a> {
    pub eta: f64,
    pub d: usize,
    pub x: &'a mut [f64],
    pub field: &'a mut [f64],
}

impl SimdKernel for SphereUpdate<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = f64>>(self, l: L) {
        let whole = self.d - self.d % L::WIDTH;
        // Mean shift replaces the token.
        let (keep, eta) = if self.eta.is_finite() { (1.0, self.eta) } else { (0.0, 1.0) };
        for (x, a) in self.x.chunks_exact_mut(self.d).zip(self.field.chunks_exact_mut(self.d)) {
            let square = axpby(l, [keep, eta], x, a, whole);
            // Squares may underflow or overflow: `retract` scales first.
            if !(1e-200..1e200).contains(&square) {
                // NaN is kept, so that the run stops.
                if retract(a) || a.iter().any(|v| v.is_nan()) {
                    x.copy_from_slice(a);
                }
                continue;
            }
            let factor = 1.0 / square.sqrt();
            let scale = l.splat(factor);
            for (x, a) in L::view_mut(&mut x[..whole]).iter_mut().zip(L::view(&a[..whole])) {
                *x = l.mul(scale, *a);
            }
            x[whole..].iter_mut().zip(&a[whole..]).for_each(|(x, a)| *x = factor * a);
        }
    }
}

/// `a <- keep x + eta a` in SIMD vectors; returns the squared length. `whole` is the number of
/// coordinates that fill vectors.
#[inline(always)]
fn axpby<L: SimdOps<F = f64>>(
    l: L,
    [keep, eta]: [f64; 2],
    x: &[f64],
    a: &mut [f64],
    whole: usize,
) -> f64 {
    let (keeps, etas) = (l.splat(keep), l.splat(eta));
    let (four, rest) = L::view_mut(&mut a[..whole]).as_chunks_mut::<4>();
    let (xs, last) = L::view(&x[..whole]).as_chunks::<4>();
    let mut sums = [l.zero(); 4];
    for (a, x) in four.iter_mut().zip(xs) {
        for c in 0..4 {
            a[c] = l.fma(etas, a[c], l.mul(keeps, x[c]));
            sums[c] = l.fma(a[c], a[c], sums[c]);
        }
    }
    for (a, x) in rest.iter_mut().zip(last) {
        *a = l.fma(etas, *a, l.mul(keeps, *x));
        sums[0] = l.fma(*a, *a, sums[0]);
    }
    let mut total = if whole > 0 {
        l.sum(l.add(l.add(sums[0], sums[1]), l.add(sums[2], sums[3])))
    } else {
        0.0
    };
    for (a, x) in a[whole..].iter_mut().zip(&x[whole..]) {
        *a = keep * x + eta * *a;
        total += *a * *a;
    }
    total
}

/// `x <- x + eta a` for `x = r theta`; `a` is overwritten.
pub(super) fn update_polar(d: usize, numbers: &mut [f64], a: &mut [f64], eta: f64) {
    let size = a.len();
    let (rows, radii) = numbers.split_at_mut(size);
    for ((x, r), a) in rows.chunks_exact_mut(d).zip(radii).zip(a.chunks_exact_mut(d)) {
        a.iter_mut().zip(&*x).for_each(|(a, x)| *a = *r * x + eta * *a);
        let length = norm(a);
        // NaN is kept, so that the run stops.
        if retract(a) || a.iter().any(|v| v.is_nan()) {
            x.copy_from_slice(a);
            *r = length;
        }
    }
}
