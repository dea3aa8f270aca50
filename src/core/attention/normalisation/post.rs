use super::scheme::Normalisation;
use crate::attention::kernel::Form;
use crate::num::simd::{Lanes, Level, Task};
use crate::sphere::geometry::retract;
use crate::sphere::space::{Space, Sphere};

/// Post-LN: `x <- N(x + eta A(x))`, and mean shift `x <- N(A(x))` for an infinite step; so `x' = P A`.
pub struct Post;

impl Normalisation for Post {
    fn name(&self) -> &'static str {
        "post"
    }

    fn summary(&self) -> &'static str {
        "Post-LN: x' = P a; tokens stay on the sphere"
    }

    fn space(&self) -> &'static dyn Space {
        &Sphere
    }

    fn form(&self) -> Form {
        Form::Tangent
    }

    fn is_projection(&self) -> bool {
        true
    }

    fn layer(&self, _: f64, eta: f64, d: usize, numbers: &mut [f64], a: &mut [f64]) {
        Level::best().run(Advance { eta, d, x: numbers, field: a });
    }
}

/// Moves tokens by their fields.
struct Advance<'a> {
    eta: f64,
    d: usize,
    x: &'a mut [f64],
    field: &'a mut [f64],
}

impl Task for Advance<'_> {
    type F = f64;
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<F = f64>>(self, l: L) {
        let whole = self.d - self.d % L::WIDTH;
        // Mean shift keeps nothing of the token.
        let (keep, eta) = if self.eta.is_finite() { (1.0, self.eta) } else { (0.0, 1.0) };
        for (x, a) in self.x.chunks_exact_mut(self.d).zip(self.field.chunks_exact_mut(self.d)) {
            let square = advance(l, [keep, eta], x, a, whole);
            // Far from under- and overflow of squares; the others with more care.
            if !(1e-200..1e200).contains(&square) {
                // What is not a number stays visible.
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

/// `a <- keep x + eta a`; returns the squared length.
#[inline(always)]
fn advance<L: Lanes<F = f64>>(l: L, [keep, eta]: [f64; 2], x: &[f64], a: &mut [f64], whole: usize) -> f64 {
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
    let mut total = if whole > 0 { l.sum(l.add(l.add(sums[0], sums[1]), l.add(sums[2], sums[3]))) } else { 0.0 };
    for (a, x) in a[whole..].iter_mut().zip(&x[whole..]) {
        *a = keep * x + eta * *a;
        total += *a * *a;
    }
    total
}
