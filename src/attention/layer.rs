//! The discrete layer map `x_i <- normalise(x_i + eta sum_j A_ij V x_j)` and its limit `eta = infinity`, mean shift (theory 0.6, 8.5).

use super::Dynamics;
use crate::error::{Error, Result};
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
        for (row, a) in x.coordinates_mut().chunks_exact_mut(d).zip(scratch.chunks_exact_mut(d)) {
            if self.eta.is_finite() {
                a.iter_mut().zip(row.iter()).for_each(|(a, x)| *a = x + self.eta * *a);
            }
            if retract(a) {
                row.copy_from_slice(a);
            }
        }
    }
}
