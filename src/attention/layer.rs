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
        for (x, a) in self.x.chunks_exact_mut(self.d).zip(self.field.chunks_exact_mut(self.d)) {
            if self.eta.is_finite() {
                let eta = l.splat(self.eta);
                for (a, x) in L::view_mut(&mut a[..whole]).iter_mut().zip(L::view(&x[..whole])) {
                    *a = l.fma(eta, *a, *x);
                }
                a[whole..].iter_mut().zip(&x[whole..]).for_each(|(a, x)| *a = x + self.eta * *a);
            }
            let square = square(l, a, whole);
            // Far from under- and overflow of squares; the others with more care.
            if !(1e-200..1e200).contains(&square) {
                if retract(a) {
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

/// Squared length.
#[inline(always)]
fn square<L: Lanes<F = f64>>(l: L, a: &[f64], whole: usize) -> f64 {
    let (four, rest) = L::view(&a[..whole]).as_chunks::<4>();
    let mut sums = [l.zero(); 4];
    for v in four {
        for c in 0..4 {
            sums[c] = l.fma(v[c], v[c], sums[c]);
        }
    }
    for v in rest {
        sums[0] = l.fma(*v, *v, sums[0]);
    }
    let mut total = if whole > 0 { l.sum(l.add(l.add(sums[0], sums[1]), l.add(sums[2], sums[3]))) } else { 0.0 };
    for v in &a[whole..] {
        total += v * v;
    }
    total
}
