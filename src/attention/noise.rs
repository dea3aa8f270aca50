//! What shakes tokens.

use crate::error::{Error, Result};
use crate::num::{stream::Stream, sum::dot};
use crate::sphere::{Tokens, geometry::project};

/// Random displacements: one file or struct per noise.
pub trait Noise: Send + Sync {
    /// Moves the tokens by the pure noise of a time `h`.
    fn shake(&self, x: &mut Tokens, h: f64, stream: &mut Stream);
}

/// `dX = sqrt(2 / kappa) P o dW`, independent for every token: Brownian motion of its space, of the directions where there are radii.
///
/// ```
/// use metastable::{attention::noise::{Isotropic, Noise}, num::stream::Stream, sphere::Tokens};
/// let mut x = Tokens::from_angles(&vec![0.0; 4000]).unwrap();
/// Isotropic::new(4.0).unwrap().shake(&mut x, 0.5, &mut Stream::new(1, &["noise"]));
/// // On the circle the mean falls by e^{-h / kappa}.
/// assert!((x.mean()[0] - (-0.5f64 / 4.0).exp()).abs() < 0.02);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Isotropic {
    kappa: f64,
}

impl Isotropic {
    /// **Errors** a constant that is not positive and finite.
    pub fn new(kappa: f64) -> Result<Self> {
        if kappa > 0.0 && kappa.is_finite() {
            Ok(Self { kappa })
        } else {
            Err(Error::parameter("kappa", kappa, "a positive finite number"))
        }
    }

    /// The factor `s` from the length of a normal tangent vector to the angle of a step on `S^{d-1}`, `s^2 = (2h/kappa) (1 - (d-2) h / (3 kappa))`: second
    /// and fourth moments of the angle are those of Brownian motion but for `h^3`. NaN for steps above `3 kappa / (d-2)`.
    pub fn angle(&self, d: usize, h: f64) -> f64 {
        let share = h / self.kappa;
        (2.0 * share * (1.0 - (d as f64 - 2.0) * share / 3.0)).sqrt()
    }
}

impl Noise for Isotropic {
    fn shake(&self, x: &mut Tokens, h: f64, stream: &mut Stream) {
        let (d, unit) = (x.d(), x.space().is_unit());
        let size = if unit { self.angle(d, h) } else { (2.0 * h / self.kappa).sqrt() };
        let mut u = vec![0.0; d];
        for row in x.coordinates_mut().chunks_exact_mut(d) {
            stream.normals(&mut u);
            if !unit {
                row.iter_mut().zip(&u).for_each(|(x, u)| *x += size * u);
                continue;
            }
            project(row, &mut u);
            let length = dot(&u, &u).sqrt();
            if length > 0.0 {
                let (sin, cos) = (size * length).sin_cos();
                row.iter_mut().zip(&u).for_each(|(x, u)| *x = cos * *x + sin / length * u);
            }
        }
        let (space, n) = (x.space(), x.n());
        // A rotation leaves nothing to settle but rounding; what is not a number stays visible.
        let _ = space.settle(d, n, x.numbers_mut());
    }
}
