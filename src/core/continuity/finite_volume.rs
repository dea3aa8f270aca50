//! Finite volumes on the circle: conservative and positive, for late times when the density
//! concentrates.

use super::circle::Circle;
use super::series::KernelSeries;
use super::{
    Evolution, EvolutionEnd, MeasureDynamics, interpolate_linearly, negentropy_terms,
    positive_mass, sinkhorn_scaling,
};
use crate::attention::RowWeights;
use crate::error::{Error, Result};
use crate::num::dd::Dd;
use crate::num::fft::{Complex64, RealFft, plan};
use std::f64::consts::TAU;

/// Averages over n equal volumes; volume j is `[j, j+1] 2 pi / n`.
///
/// Second order: piecewise linear reconstruction with the minmod limiter, upwind fluxes, two-stage
/// SSP Runge-Kutta. Mass is conserved to rounding (fluxes cancel), positivity holds at Courant
/// numbers up to 1/2.
#[derive(Clone)]
pub struct FiniteVolume {
    /// Averages of the density relative to the uniform measure.
    pub averages: Vec<f64>,
    fft: RealFft,
}

/// Factors for the velocities at the edges of the volumes.
struct EdgeKernel {
    dynamics: MeasureDynamics,
    /// The scale of the factors.
    scale: f64,
    /// Factors of the Fourier coefficients of the averages that give `(1/beta) W'` and W at the
    /// left edges.
    slope: Vec<Complex64>,
    total: Vec<Complex64>,
    /// Factors that give W at the centres; empty without Sinkhorn scaling.
    centres: Vec<f64>,
}

impl FiniteVolume {
    /// From averages. **Errors** fewer than 16 volumes, negative or non-finite averages, no mass.
    pub fn new(mut averages: Vec<f64>) -> Result<Self> {
        if averages.len() < 16 || averages.iter().any(|v| !v.is_finite() || *v < 0.0) {
            return Err(Error::parameter(
                "volumes",
                averages.len(),
                "at least 16 finite averages >= 0",
            ));
        }
        let mass = positive_mass(averages.iter().sum::<f64>() / averages.len() as f64)?;
        averages.iter_mut().for_each(|v| *v /= mass);
        Ok(Self { fft: plan(averages.len()), averages })
    }

    /// The exact averages of a Fourier series over an even number of volumes. **Errors** as
    /// [`FiniteVolume::new`].
    ///
    /// ```
    /// use metastable::continuity::{circle::Circle, density::Density, finite_volume::FiniteVolume};
    /// let wave = Density::parse("cos:1=0.5").and_then(|d| Circle::from_density(&d, 8)).unwrap();
    /// let volumes = FiniteVolume::from_circle(&wave, 64).unwrap();
    /// let x = std::f64::consts::TAU / 64.0;
    /// assert!((volumes.averages[0] - (1.0 + 0.5 * x.sin() / x)).abs() < 1e-15);
    /// assert!((volumes.series(8).unwrap().c[1] - wave.c[1]).norm() < 1e-16);
    /// ```
    pub fn from_circle(density: &Circle, n: usize) -> Result<Self> {
        let mut averaged = density.clone();
        averaged.c.iter_mut().enumerate().for_each(|(k, c)| *c *= averaging_factor(k, n));
        // As many points as the modes need; every `per`-th point begins a volume.
        let per = (2 * density.modes() + 2).div_ceil(n.max(1));
        Self::new(averaged.values(per * n).into_iter().step_by(per).map(|v| v.max(0.0)).collect())
    }

    /// Linear interpolation of values on an equispaced grid that begins at angle `from`, sampled at
    /// the centres of `n` volumes. **Errors** as [`FiniteVolume::new`], no values.
    pub fn from_values(values: &[f64], from: f64, n: usize) -> Result<Self> {
        if let Some(j) = values.iter().position(|v| !v.is_finite() || *v < 0.0) {
            return Err(Error::parameter(
                "values",
                format!("{} in row {}", values[j], j + 1),
                "finite values >= 0",
            ));
        }
        let at = |j: usize| interpolate_linearly(values, from, TAU * (j as f64 + 0.5) / n as f64);
        Self::new(if values.is_empty() { Vec::new() } else { (0..n).map(at).collect() })
    }

    /// The first modes (fewer than half the number of volumes) of the density with these averages.
    /// **Errors** none for a valid state.
    pub fn series(&self, modes: usize) -> Result<Circle> {
        let n = self.averages.len();
        let mut out = Circle::from_values_truncated(&self.averages, modes.min((n - 1) / 2))?;
        out.c.iter_mut().enumerate().for_each(|(k, c)| *c /= averaging_factor(k, n));
        Ok(out)
    }

    /// **Errors** an odd number of volumes under Sinkhorn attention.
    fn kernel(&self, dynamics: &MeasureDynamics) -> Result<EdgeKernel> {
        let (n, sinkhorn) = (self.averages.len(), dynamics.weights == RowWeights::Sinkhorn);
        if sinkhorn && !n.is_multiple_of(2) {
            return Err(Error::parameter("volumes", n, "an even number for Sinkhorn attention"));
        }
        let KernelSeries { weights: plain, potential: over, scale } =
            KernelSeries::new(dynamics, 2, [n / 2, n / 2])?;
        let slope = (0..n / 2)
            .map(|k| averaging_factor(k, n).inv() * Complex64::new(0.0, k as f64 * over[k]))
            .collect();
        let total = (0..n / 2).map(|k| averaging_factor(k, n).inv() * plain[k]).collect();
        let centre = |(k, w): (usize, &f64)| {
            if k == 0 { *w } else { w * half_angle(k, n) / half_angle(k, n).sin() }
        };
        let centres =
            if sinkhorn { plain.iter().enumerate().map(centre).collect() } else { Vec::new() };
        Ok(EdgeKernel { dynamics: dynamics.clone(), scale, slope, total, centres })
    }

    /// Velocities at the left edges of the volumes, from the spectrum of the averages divided by
    /// that of one volume: smooth data converge spectrally.
    fn edges(&self, averages: &[f64], kernel: &EdgeKernel) -> Result<Vec<f64>> {
        let weighted = |f: &[f64]| f.iter().zip(averages).map(|(f, r)| f * r).collect::<Vec<f64>>();
        let weights = kernel.dynamics.weights;
        let c = if weights == RowWeights::Sinkhorn {
            // f (k * (f rho)) = 1 at the centres.
            let f = sinkhorn_scaling(averages.len(), 1e-13, |f| {
                self.fft.convolution(&weighted(f), &kernel.centres)
            })?;
            self.fft.coefficients(&weighted(&f), averages.len() / 2)
        } else {
            self.fft.coefficients(averages, averages.len() / 2)
        };
        let field =
            |factors: &[Complex64]| self.fft.values(c.iter().zip(factors).map(|(c, f)| c * f));
        let mut v = field(&kernel.slope);
        if weights == RowWeights::Exponential {
            v.iter_mut().for_each(|v| *v *= kernel.scale);
        } else {
            v.iter_mut().zip(field(&kernel.total)).for_each(|(v, w)| *v /= w.max(1e-300));
        }
        Ok(v)
    }

    /// Time derivatives of the averages, from the velocities at the left edges.
    fn rates(averages: &[f64], v: &[f64], dynamics: &MeasureDynamics) -> Vec<f64> {
        let n = averages.len();
        let dx = TAU / n as f64;
        let slope = |j: usize| {
            let (before, after) =
                (if j == 0 { n - 1 } else { j - 1 }, if j + 1 == n { 0 } else { j + 1 });
            let (left, right) = (averages[j] - averages[before], averages[after] - averages[j]);
            if left * right <= 0.0 { 0.0 } else { left.signum() * left.abs().min(right.abs()) }
        };
        let flux: Vec<f64> = (0..n)
            .map(|j| {
                let before = if j == 0 { n - 1 } else { j - 1 };
                let upwind = if v[j] >= 0.0 {
                    averages[before] + 0.5 * slope(before)
                } else {
                    averages[j] - 0.5 * slope(j)
                };
                v[j] * upwind - dynamics.diffusion * (averages[j] - averages[before]) / dx
            })
            .collect();
        (0..n).map(|j| (flux[j] - flux[(j + 1) % n]) / dx).collect()
    }

    /// Evolves by time `t`; `watch` sees the averages after every step and returns whether to
    /// continue.
    ///
    /// **Accuracy** second order while the volumes are finer than the density. This is not checked
    /// here: compare with half as many volumes. **Errors** an odd number of volumes or a scaling
    /// that does not converge under Sinkhorn attention, more than ten million steps.
    pub fn evolve(
        mut self,
        dynamics: &MeasureDynamics,
        t: f64,
        mut watch: impl FnMut(f64, &[f64]) -> bool,
    ) -> Result<Evolution<Self>> {
        if t.is_nan() {
            return Err(Error::parameter("t", t, "a time"));
        }
        let (kernel, dx) = (self.kernel(dynamics)?, TAU / self.averages.len() as f64);
        let (mut now, mut steps, mut end) = (Dd::default(), 0u64, EvolutionEnd::Reached);
        while now.to_f64() < t && end == EvolutionEnd::Reached {
            let left = (Dd::from(t) - now).to_f64();
            steps += 1;
            if steps > 10_000_000 {
                return Err(Error::Numerical {
                    what: format!(
                        "ten million finite-volume steps ended {left} before the end time"
                    ),
                });
            }
            let v = self.edges(&self.averages, &kernel)?;
            let fastest = v.iter().fold(1e-12f64, |m, v| m.max(v.abs()));
            let step =
                (0.4 * dx / fastest).min(0.2 * dx * dx / dynamics.diffusion.max(1e-300)).min(left);
            let first = Self::rates(&self.averages, &v, dynamics);
            let middle: Vec<f64> =
                self.averages.iter().zip(&first).map(|(u, k)| u + step * k).collect();
            let second = Self::rates(&middle, &self.edges(&middle, &kernel)?, dynamics);
            for (u, (m, k)) in self.averages.iter_mut().zip(middle.iter().zip(&second)) {
                // Rounding may leave -1e-300 in empty volumes.
                *u = (0.5 * *u + 0.5 * (m + step * k)).max(0.0);
            }
            now = if step < left { now + Dd::from(step) } else { Dd::from(t) };
            if !watch(now.to_f64(), &self.averages) && now.to_f64() < t {
                end = EvolutionEnd::Interrupted;
            }
        }
        Ok(Evolution::new(self, now.to_f64(), end))
    }

    /// Rate of change of [`FiniteVolume::negentropy`] under the scheme itself,
    /// `sum log(rho) d rho/dt / n`: second order, including numerical diffusion.
    ///
    /// **Errors** as [`FiniteVolume::evolve`].
    pub fn negentropy_rate(&self, dynamics: &MeasureDynamics) -> Result<f64> {
        let v = self.edges(&self.averages, &self.kernel(dynamics)?)?;
        let change = Self::rates(&self.averages, &v, dynamics);
        let term = |(r, c): (&f64, &f64)| if *r > 0.0 { r.ln() * c } else { 0.0 };
        Ok(self.averages.iter().zip(&change).map(term).sum::<f64>() / self.averages.len() as f64)
    }

    /// Negentropy of the piecewise constant density.
    pub fn negentropy(&self) -> f64 {
        negentropy(&self.averages)
    }
}

/// Half of the phase of the wave k over one volume.
fn half_angle(k: usize, n: usize) -> f64 {
    0.5 * TAU * k as f64 / n as f64
}

/// The average over a volume of the wave `e^{i k theta}`, relative to its value at the left edge:
/// `e^{ix} sin x / x`, `x = pi k / n`.
fn averaging_factor(k: usize, n: usize) -> Complex64 {
    let x = half_angle(k, n);
    if k == 0 { Complex64::new(1.0, 0.0) } else { Complex64::from_polar(x.sin() / x, x) }
}

/// Negentropy of equal volumes with these averages: the mean of `rho log rho`.
pub fn negentropy(averages: &[f64]) -> f64 {
    negentropy_terms(averages).iter().sum::<f64>() / averages.len() as f64
}
