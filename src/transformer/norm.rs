//! LayerNorm and RMSNorm with eps and affine weights.

use super::Real;
use crate::error::{Error, Result};

/// Whether a norm takes off the mean of the coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Centring {
    /// LayerNorm: `C x = x - mean(x)`.
    Mean,
    /// RMSNorm: x as it is.
    Nothing,
}

/// `gain * C x / sqrt(|C x|^2 / d + eps) + shift`.
///
/// With eps = 0, gain 1 and shift 0 this is `sqrt d` times the direction of `C x`: tokens lie on a sphere of radius `sqrt d`, of the hyperplane of mean 0
/// (LayerNorm) or of `R^d` (RMSNorm).
#[derive(Clone, Debug)]
pub struct Norm<T = f64> {
    /// What is taken off.
    pub centring: Centring,
    /// Added to the mean square.
    pub eps: f64,
    gain: Vec<T>,
    shift: Vec<T>,
}

impl<T: Real> Norm<T> {
    /// A norm; an empty shift is none.
    ///
    /// **Errors** shapes that do not fit, numbers that are not finite, a negative eps: all name `place`.
    ///
    /// ```
    /// use metastable::transformer::{Centring, Norm};
    /// let norm = Norm::new("norm", Centring::Mean, 0.0, vec![1.0; 4], vec![])?;
    /// assert_eq!(norm.apply(&[5.0, 3.0, 5.0, 3.0]), [1.0, -1.0, 1.0, -1.0]);
    /// # Ok::<(), metastable::error::Error>(())
    /// ```
    pub fn new(place: &str, centring: Centring, eps: f64, gain: Vec<T>, shift: Vec<T>) -> Result<Self> {
        if gain.is_empty() || !(shift.is_empty() || shift.len() == gain.len()) {
            return Err(Error::parameter(place, format!("{} gains and {} shifts", gain.len(), shift.len()), "as many, or no shifts"));
        }
        if !(eps >= 0.0 && eps.is_finite()) {
            return Err(Error::parameter(format!("{place}, eps"), eps, "a finite number >= 0"));
        }
        if let Some(bad) = gain.iter().chain(&shift).map(|v| v.to_f64()).find(|v| !v.is_finite()) {
            return Err(Error::parameter(place, bad, "finite numbers"));
        }
        Ok(Self { centring, eps, gain, shift })
    }

    /// The norm of gain 1 and shift 0 on `R^d`.
    pub fn plain(d: usize, centring: Centring, eps: f64) -> Self {
        Self { centring, eps, gain: vec![T::of(1.0); d], shift: Vec::new() }
    }

    /// The same numbers in another precision.
    pub fn rounded<U: Real>(&self) -> Norm<U> {
        let cast = |numbers: &[T]| numbers.iter().map(|v| U::of(v.to_f64())).collect();
        Norm { centring: self.centring, eps: self.eps, gain: cast(&self.gain), shift: cast(&self.shift) }
    }

    /// Dimension.
    pub fn d(&self) -> usize {
        self.gain.len()
    }

    /// The gains.
    pub fn gain(&self) -> &[T] {
        &self.gain
    }

    /// The shifts; empty when there are none.
    pub fn shift(&self) -> &[T] {
        &self.shift
    }

    /// Number of parameters.
    pub fn len(&self) -> usize {
        self.gain.len() + self.shift.len()
    }

    /// Never.
    pub fn is_empty(&self) -> bool {
        self.gain.is_empty()
    }

    /// All rows. **Accuracy** `4 u sqrt(d)` of the row; a row of zeros gives the shift. Sums are taken in `f64`.
    pub fn apply(&self, x: &[T]) -> Vec<T> {
        let mut out = Vec::with_capacity(x.len());
        for row in x.chunks_exact(self.d()) {
            let (mean, sigma) = self.moments(row);
            // A row of zeros under eps = 0 has no direction: it stays 0.
            let factor = if sigma > 0.0 { 1.0 / sigma } else { 0.0 };
            let scaled = row.iter().zip(&self.gain).map(|(v, g)| T::of((v.to_f64() - mean) * factor) * *g);
            out.extend(scaled);
            let start = out.len() - row.len();
            out[start..].iter_mut().zip(&self.shift).for_each(|(o, s)| *o += *s);
        }
        out
    }

    /// The mean that is taken off and `sqrt(|C x|^2 / d + eps)`.
    pub fn moments(&self, row: &[T]) -> (f64, f64) {
        let d = row.len() as f64;
        let mean = match self.centring {
            Centring::Mean => lanes(row, |v| v) / d,
            Centring::Nothing => 0.0,
        };
        (mean, (lanes(row, |v| (v - mean) * (v - mean)) / d + self.eps).sqrt())
    }

    /// Undoes gain and shift: what is left has length `sqrt d` but for eps. Coordinates of gain 0 are 0.
    pub fn without_affine(&self, x: &[T]) -> Vec<f64> {
        let d = self.d();
        let shift = |c: usize| self.shift.get(c).map_or(0.0, |s| s.to_f64());
        x.iter()
            .enumerate()
            .map(|(k, v)| match self.gain[k % d].to_f64() {
                0.0 => 0.0,
                gain => (v.to_f64() - shift(k % d)) / gain,
            })
            .collect()
    }
}

/// A sum in eight parts: the order does not depend on the machine.
fn lanes<T: Real>(row: &[T], f: impl Fn(f64) -> f64) -> f64 {
    let mut parts = [0.0; 8];
    let (whole, rest) = row.as_chunks::<8>();
    for eight in whole {
        parts.iter_mut().zip(eight).for_each(|(p, v)| *p += f(v.to_f64()));
    }
    parts.iter_mut().zip(rest).for_each(|(p, v)| *p += f(v.to_f64()));
    let [a, b, c, d, e, g, h, i] = parts;
    ((a + b) + (c + d)) + ((e + g) + (h + i))
}
