//! The layer map `x_i <- normalise(x_i + eta sum_j A_ij V x_j)` and its limit `eta = infinity`,
//! mean shift. The figures of arXiv:2312.10794 iterate it.

use super::Dynamics;
use super::kernel::Workspace;
use super::sublayer::Input;
use crate::error::{Error, Result};
use crate::sphere::Tokens;

/// A residual layer with normalisation. `eta` may be infinite: mean shift, `x_i <- normalise(a_i)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    eta: f64,
}

impl Layer {
    /// **Errors** a negative or NaN step.
    pub fn new(eta: f64) -> Result<Self> {
        if eta >= 0.0 {
            Ok(Self { eta })
        } else {
            Err(Error::parameter("eta", eta, "a step in [0, inf]; inf is mean shift"))
        }
    }

    /// The step.
    pub fn eta(self) -> f64 {
        self.eta
    }

    /// Applies one layer at time 0 and allocates its buffers: convenient for a few layers.
    pub fn apply(self, dynamics: &Dynamics, x: &mut Tokens) {
        let mut scratch = vec![0.0; x.coordinates().len()];
        self.step(dynamics, 0.0, x, &mut Workspace::default(), &mut scratch);
    }

    /// Applies one layer at time `t`, one sublayer after the other; `scratch` has n d entries. A
    /// token stays if its update has no direction.
    ///
    /// ```
    /// use metastable::{attention::{dynamics, kernel::Workspace, layer::Layer, Spec}, sphere::Tokens};
    /// let sa = dynamics::build("sa", false, &Spec::new(0.0, 2)).unwrap();
    /// let mut x = Tokens::from_angles(&[0.0, 1.0]).unwrap();
    /// let (mut work, mut scratch) = (Workspace::default(), [0.0; 4]);
    /// Layer::new(f64::INFINITY).unwrap().step(&sa, 0.0, &mut x, &mut work, &mut scratch);
    /// assert!((x.angles()[0] - 0.5).abs() < 1e-15); // beta = 0: all tokens move to the mean
    /// ```
    pub fn step(
        self,
        dynamics: &Dynamics,
        t: f64,
        x: &mut Tokens,
        work: &mut Workspace,
        scratch: &mut [f64],
    ) {
        let d = x.d();
        for sublayer in &dynamics.sublayers {
            sublayer.evaluate(
                &Input { t, tokens: x },
                dynamics.normalisation.layer_form(),
                work,
                scratch,
            );
            dynamics.normalisation.layer(t, self.eta, d, x.numbers_mut(), scratch);
        }
    }
}
