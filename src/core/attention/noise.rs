//! Noise on token positions.

use crate::error::{Error, Result};
use crate::num::vector::{axpy, norm};
use crate::sphere::{Tokens, geometry::project};

/// A noise: random displacements of tokens.
pub trait Noise: Send + Sync {
    /// Moves the tokens by the noise of a time step `h`, without drift. The increment of the
    /// Brownian motion is `sqrt(h) xi`; `xi` holds d standard normal numbers per token.
    fn apply(&self, x: &mut Tokens, h: f64, xi: &[f64]);
}

/// How a Brownian step on `S^{d-1}` is sampled from the normal tangent vector `P xi`, whose length
/// has the chi distribution with d - 1 degrees of freedom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sampler {
    /// `N(x + s P xi)`, `s^2 = 2 h/kappa`: the Euler-Maruyama step, normalised to length 1.
    Normalised,
    /// A geodesic of length `s |P xi|`.
    Geodesic,
    /// A geodesic with `s^2 = (2h/kappa) (1 - (d-2) h/(3 kappa))`: weak order 2.
    #[default]
    Corrected,
}

impl Sampler {
    /// All samplers.
    pub const ALL: [Self; 3] = [Self::Normalised, Self::Geodesic, Self::Corrected];

    /// The square of the factor s, with `tau = h / kappa`. It is negative for
    /// [`Sampler::Corrected`] if the step is too long.
    pub fn squared_scale(self, d: usize, tau: f64) -> f64 {
        2.0 * tau * if self == Self::Corrected { 1.0 - (d as f64 - 2.0) * tau / 3.0 } else { 1.0 }
    }
}

/// `dX = sqrt(2 / kappa) P o dW`, independent for every token: Brownian motion of the space; in
/// polar form only directions move.
///
/// ```
/// use metastable::{attention::noise::{Isotropic, Noise}, num::stream::Stream, sphere::Tokens};
/// let (mut x, mut xi) = (Tokens::from_angles(&vec![0.0; 4000]).unwrap(), vec![0.0; 8000]);
/// Stream::new(1, &["noise"]).normals(&mut xi);
/// Isotropic::new(4.0).unwrap().apply(&mut x, 0.5, &xi);
/// // On the circle the mean falls by e^{-h / kappa}.
/// assert!((x.mean()[0] - (-0.5f64 / 4.0).exp()).abs() < 0.02);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Isotropic {
    kappa: f64,
    sampler: Sampler,
}

impl Isotropic {
    /// Noise with this inverse strength. **Errors** a `kappa` that is not positive and finite.
    pub fn new(kappa: f64) -> Result<Self> {
        if kappa > 0.0 && kappa.is_finite() {
            Ok(Self { kappa, sampler: Sampler::default() })
        } else {
            Err(Error::parameter("kappa", kappa, "a positive finite number"))
        }
    }

    /// Sets the sampler.
    #[must_use]
    pub fn with_sampler(self, sampler: Sampler) -> Self {
        Self { sampler, ..self }
    }

    /// The factor `s` of the sampler: a step on `S^{d-1}` has the angle s times the length of a
    /// normal tangent vector. With the default sampler the second and fourth moments of the angle
    /// agree with Brownian motion up to `O(h^3)`, and the factor is NaN for steps above
    /// `3 kappa / (d-2)`.
    pub fn step_scale(&self, d: usize, h: f64) -> f64 {
        self.sampler.squared_scale(d, h / self.kappa).sqrt()
    }
}

impl Noise for Isotropic {
    fn apply(&self, x: &mut Tokens, h: f64, xi: &[f64]) {
        let (d, unit) = (x.d(), x.space().is_unit());
        let size = if unit { self.step_scale(d, h) } else { (2.0 * h / self.kappa).sqrt() };
        let mut u = vec![0.0; d];
        for (row, xi) in x.coordinates_mut().chunks_exact_mut(d).zip(xi.chunks_exact(d)) {
            u.copy_from_slice(xi);
            if !unit {
                axpy(size, &u, row);
                continue;
            }
            project(row, &mut u);
            let length = norm(&u);
            if length > 0.0 {
                let (sin, cos) = if self.sampler == Sampler::Normalised {
                    let grown = (size * length).hypot(1.0);
                    (size * length / grown, 1.0 / grown)
                } else {
                    (size * length).sin_cos()
                };
                row.iter_mut().zip(&u).for_each(|(x, u)| *x = cos * *x + sin / length * u);
            }
        }
        let (space, n) = (x.space(), x.n());
        // Only rounding errors are corrected; NaN stays NaN.
        let _ = space.retract_rows(d, n, x.numbers_mut());
    }
}

/// `d angle = sqrt(2 / kappa) dW` on the circle, with one Brownian motion per token. The law is
/// that of [`Isotropic`] on the circle; with one noise field instead of two, paths have strong
/// order 1.
///
/// It uses the first of the two normal numbers of a token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CircleNoise {
    kappa: f64,
}

impl CircleNoise {
    /// Noise with this inverse strength. **Errors** a `kappa` that is not positive and finite.
    pub fn new(kappa: f64) -> Result<Self> {
        Isotropic::new(kappa).map(|n| Self { kappa: n.kappa })
    }
}

impl Noise for CircleNoise {
    fn apply(&self, x: &mut Tokens, h: f64, xi: &[f64]) {
        let (d, size) = (x.d(), (2.0 * h / self.kappa).sqrt());
        for (row, xi) in x.coordinates_mut().chunks_exact_mut(d).zip(xi.chunks_exact(d)) {
            let (sin, cos) = (size * xi[0]).sin_cos();
            (row[0], row[1]) = (cos * row[0] - sin * row[1], sin * row[0] + cos * row[1]);
        }
        let (space, n) = (x.space(), x.n());
        let _ = space.retract_rows(d, n, x.numbers_mut());
    }
}
