//! LayerNorm and RMSNorm with eps and affine weights.

use crate::attention::dense::gemm::{ROWS, par_rows};
use crate::error::{Error, Result};
use crate::num::simd::{Float, Isa, SimdKernel, SimdOps};

/// Whether a norm subtracts the mean of the coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Centring {
    /// LayerNorm: `C x = x - mean(x)`.
    Mean,
    /// RMSNorm: `C x = x`.
    None,
}

/// `gain * C x / sqrt(|C x|^2 / d + eps) + shift`.
///
/// With eps = 0, gain 1 and shift 0 this is `sqrt d` times the direction of `C x`: tokens lie on a
/// sphere of radius `sqrt d`, of the hyperplane of mean 0 (LayerNorm) or of `R^d` (RMSNorm).
#[derive(Clone, Debug)]
pub struct Norm<T = f64> {
    /// Whether the mean is subtracted.
    pub centring: Centring,
    /// Added to the mean square.
    pub eps: f64,
    gain: Vec<T>,
    shift: Vec<T>,
}

impl<T: Float> Norm<T> {
    /// A norm; an empty shift means no shift. `place` is its name in errors.
    ///
    /// **Errors** shapes that do not fit, numbers that are not finite, a negative eps.
    ///
    /// ```
    /// use metastable::transformer::{Centring, Norm};
    /// let norm = Norm::new("norm", Centring::Mean, 0.0, vec![1.0; 4], vec![])?;
    /// assert_eq!(norm.apply(&[5.0, 3.0, 5.0, 3.0]), [1.0, -1.0, 1.0, -1.0]);
    /// # Ok::<(), metastable::error::Error>(())
    /// ```
    pub fn new(
        place: &str,
        centring: Centring,
        eps: f64,
        gain: Vec<T>,
        shift: Vec<T>,
    ) -> Result<Self> {
        if gain.is_empty() || !(shift.is_empty() || shift.len() == gain.len()) {
            return Err(Error::parameter(
                place,
                format!("{} gains and {} shifts", gain.len(), shift.len()),
                "as many, or no shifts",
            ));
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
        Self { centring, eps, gain: vec![T::from_f64(1.0); d], shift: Vec::new() }
    }

    /// The norm in another precision.
    pub fn rounded<U: Float>(&self) -> Norm<U> {
        let cast = |numbers: &[T]| numbers.iter().map(|v| U::from_f64(v.to_f64())).collect();
        Norm {
            centring: self.centring,
            eps: self.eps,
            gain: cast(&self.gain),
            shift: cast(&self.shift),
        }
    }

    /// Dimension.
    pub fn d(&self) -> usize {
        self.gain.len()
    }

    /// The gains.
    pub fn gain(&self) -> &[T] {
        &self.gain
    }

    /// The shifts; empty for no shift.
    pub fn shift(&self) -> &[T] {
        &self.shift
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        self.gain.len() + self.shift.len()
    }

    /// Applies the norm to all rows.
    ///
    /// **Accuracy** `4 u sqrt(d)` of the row, plus `u |mean| / sigma` if the mean is subtracted. A
    /// row of zeros gives the shift.
    pub fn apply(&self, x: &[T]) -> Vec<T> {
        par_rows(
            x,
            (self.d(), self.d()),
            8 * self.d(),
            ROWS,
            || (),
            |(), _, x, out| {
                out.copy_from_slice(x);
                Isa::best().run(Normalise { norm: self, rows: out });
            },
        )
    }

    /// The subtracted mean and `sqrt(|C x|^2 / d + eps)`.
    pub fn moments(&self, row: &[T]) -> (f64, f64) {
        Isa::best().run(Moments { norm: self, row })
    }

    /// Removes gain and shift: the result has length `sqrt d`, up to eps. Coordinates of gain 0 are
    /// 0.
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

struct Moments<'a, T> {
    norm: &'a Norm<T>,
    row: &'a [T],
}

impl<T: Float> SimdKernel for Moments<'_, T> {
    type F = T;
    type Output = (f64, f64);

    #[inline(always)]
    fn run<L: SimdOps<F = T>>(self, l: L) -> (f64, f64) {
        let d = self.row.len() as f64;
        let mean = match self.norm.centring {
            Centring::Mean => total(l, self.row, 0.0, |v| v) / d,
            Centring::None => 0.0,
        };
        let centre = l.constant(mean);
        let square = |v: L::V| {
            let c = l.sub(v, centre);
            l.mul(c, c)
        };
        (mean, (total(l, self.row, mean, square) / d + self.norm.eps).sqrt())
    }
}

/// Normalises rows in place.
struct Normalise<'a, T> {
    norm: &'a Norm<T>,
    rows: &'a mut [T],
}

impl<T: Float> SimdKernel for Normalise<'_, T> {
    type F = T;
    type Output = ();

    #[inline(always)]
    fn run<L: SimdOps<F = T>>(self, l: L) {
        let Norm { gain, shift, .. } = self.norm;
        let d = gain.len();
        let whole = d / L::WIDTH * L::WIDTH;
        let (gains, shifts) = (L::view(&gain[..whole]), L::view(&shift[..whole.min(shift.len())]));
        for row in self.rows.chunks_exact_mut(d) {
            let (mean, sigma) = Moments { norm: self.norm, row }.run(l);
            // A row of zeros with eps = 0 has no direction: it stays 0.
            let factor = if sigma > 0.0 { 1.0 / sigma } else { 0.0 };
            let (centre, scale) = (l.constant(mean), l.constant(factor));
            for (c, v) in L::view_mut(&mut row[..whole]).iter_mut().enumerate() {
                let unit = l.mul(l.sub(*v, centre), scale);
                *v = l.fma(unit, gains[c], shifts.get(c).copied().unwrap_or(l.zero()));
            }
            for c in whole..d {
                row[c] = (row[c] - T::from_f64(mean)) * T::from_f64(factor) * gain[c];
                row[c] += shift.get(c).copied().unwrap_or_default();
            }
        }
    }
}

/// The sum of f over a row, padded by `filled` to whole vectors.
#[inline(always)]
fn total<L: SimdOps>(l: L, row: &[L::F], filled: f64, f: impl Fn(L::V) -> L::V) -> f64 {
    let (whole, rest) = row.split_at(row.len() / L::WIDTH * L::WIDTH);
    let mut sum = L::view(whole).iter().fold(l.zero(), |s, v| l.add(s, f(*v)));
    if !rest.is_empty() {
        let mut last = [L::F::from_f64(filled); 16];
        last[..rest.len()].copy_from_slice(rest);
        sum = l.add(sum, f(L::view(&last[..L::WIDTH])[0]));
    }
    l.sum(sum).to_f64()
}
