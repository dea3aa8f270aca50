//! Real fast Fourier transforms. This is the only file that instantiates `realfft`.

pub use realfft::num_complex::Complex64;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Forward and backward transforms of one length.
#[derive(Clone)]
pub struct RealFft {
    forward: Arc<dyn RealToComplex<f64>>,
    backward: Arc<dyn ComplexToReal<f64>>,
}

/// The transforms of this length. Plans are cached: each length is planned once per process.
///
/// ```
/// use metastable::num::fft::{Complex64, plan};
/// let angle = |j: u32| std::f64::consts::TAU * f64::from(j) / 8.0;
/// let cosine: Vec<f64> = (0..8).map(|j| angle(j).cos()).collect();
/// let c = plan(8).coefficients(&cosine, 2);
/// assert!(c[0].norm() < 1e-16 && (c[1] - 0.5).norm() < 1e-16 && c[2].norm() < 1e-16);
/// let wave = [Complex64::new(0.0, 0.0), Complex64::new(0.5, 0.0)];
/// assert!((plan(8).values(wave)[4] + 1.0).abs() < 1e-15);
/// ```
pub fn plan(points: usize) -> RealFft {
    static PLANNER: LazyLock<Mutex<RealFftPlanner<f64>>> =
        LazyLock::new(|| Mutex::new(RealFftPlanner::new()));
    // The planner is consistent even if another thread panicked while it planned.
    let mut planner = PLANNER.lock().unwrap_or_else(PoisonError::into_inner);
    let (forward, backward) = (planner.plan_fft_forward(points), planner.plan_fft_inverse(points));
    RealFft { forward, backward }
}

impl RealFft {
    /// The length of the transforms.
    pub fn points(&self) -> usize {
        self.forward.len()
    }

    /// Coefficients `0..=modes` of the trigonometric polynomial that interpolates the values.
    pub fn coefficients(&self, values: &[f64], modes: usize) -> Vec<Complex64> {
        let mut out = self.forward.make_output_vec();
        // Can only fail for a wrong length.
        let _ = self.forward.process(&mut values.to_vec(), &mut out);
        out.truncate(modes + 1);
        out.iter_mut().for_each(|c| *c /= self.points() as f64);
        out
    }

    /// Values at `2 pi j / points` of `sum_k c_k e^{i k theta}` with `c_{-k} = conj c_k`; missing
    /// coefficients are 0.
    pub fn values(&self, c: impl IntoIterator<Item = Complex64>) -> Vec<f64> {
        let mut spectrum = self.backward.make_input_vec();
        spectrum.iter_mut().zip(c).for_each(|(s, c)| *s = c);
        self.inverse(spectrum)
    }

    fn inverse(&self, mut spectrum: Vec<Complex64>) -> Vec<f64> {
        spectrum[0].im = 0.0;
        if let Some(last) = spectrum.last_mut().filter(|_| self.points().is_multiple_of(2)) {
            last.im = 0.0;
        }
        let mut out = self.backward.make_output_vec();
        let _ = self.backward.process(&mut spectrum, &mut out);
        out
    }

    /// Values of the convolution with the kernel that has these coefficients, `k = 0..=points / 2`.
    pub fn convolution(&self, values: &[f64], kernel: &[f64]) -> Vec<f64> {
        let c = self.coefficients(values, self.points() / 2);
        self.values(c.iter().zip(kernel).map(|(c, w)| c * *w))
    }
}
