//! The discrete layer map `x_i <- normalise(x_i + eta sum_j A_ij V x_j)` and its limit `eta = infinity`, mean shift (theory 0.6, 8.5).

use super::Dynamics;
use crate::error::{Error, Result};
use crate::num::simd::{Lanes, Level, Task};
use crate::sphere::{Tokens, geometry::retract};

/// A residual layer with normalisation. `eta` may be infinite: mean shift, `x_i <- normalise(a_i)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    eta: f64,
}

impl Layer {
    /// **Errors** a negative or NaN step.
    pub fn new(eta: f64) -> Result<Self> {
        if eta >= 0.0 { Ok(Self { eta }) } else { Err(Error::parameter("eta", eta, "a step in [0, inf]; inf is mean shift")) }
    }

    /// Mean shift.
    pub fn mean_shift() -> Self {
        Self { eta: f64::INFINITY }
    }

    /// The step.
    pub fn eta(self) -> f64 {
        self.eta
    }

    /// Applies one layer; `scratch` has n d entries. A token whose update vanishes stays where it is.
    ///
    /// ```
    /// use metastable::{attention::{dynamics, layer::Layer, Spec}, sphere::Tokens};
    /// let sa = dynamics::build("sa", false, &Spec::new(0.0, 2)).unwrap();
    /// let mut x = Tokens::from_angles(&[0.0, 1.0]).unwrap();
    /// Layer::mean_shift().step(sa.as_ref(), &mut x, &mut [0.0; 4]);
    /// assert!((x.angles()[0] - 0.5).abs() < 1e-15); // beta = 0: everybody moves to the mean
    /// ```
    pub fn step(self, dynamics: &dyn Dynamics, x: &mut Tokens, scratch: &mut [f64]) {
        dynamics.field(x, scratch);
        let d = x.d();
        Level::best().run(Advance { eta: self.eta, d, x: x.coordinates_mut(), field: scratch });
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
