//! Finite volumes on the circle: conservative and positive, for late times when the density concentrates.

use super::circle::Circle;
use super::series::{kernel, kernel_over_beta};
use super::{End, Evolved, Medium, interpolated, mass, negentropy_terms, sinkhorn_scaling};
use crate::attention::RowWeights;
use crate::error::{Error, Result};
use crate::num::dd::Dd;
use crate::num::fft::{Complex64, RealFft, plan};
use std::f64::consts::TAU;

/// Cell averages on an equispaced grid: cell j is `[j, j+1] 2 pi / n`.
///
/// Second order: piecewise linear reconstruction with the minmod limiter, upwind fluxes, two-stage SSP Runge-Kutta. Mass is conserved to rounding (fluxes
/// cancel), positivity holds at Courant numbers up to 1/2.
#[derive(Clone)]
pub struct Volume {
    /// Averages relative to the uniform density.
    pub cells: Vec<f64>,
    fft: RealFft,
}

/// What velocities at the edges of cells need of a medium.
struct Kernel {
    medium: Medium,
    /// What each Fourier coefficient of the averages is multiplied by to give `(1/beta) W'` and W at
    /// the left edges.
    slope: Vec<Complex64>,
    total: Vec<Complex64>,
    /// The same for W at the centres: empty where there is no Sinkhorn scaling.
    centres: Vec<f64>,
}

impl Volume {
    /// From cell averages. **Errors** fewer than 16 cells, negative or non-finite averages, no mass.
    pub fn new(mut cells: Vec<f64>) -> Result<Self> {
        if cells.len() < 16 || cells.iter().any(|v| !v.is_finite() || *v < 0.0) {
            return Err(Error::parameter("cells", cells.len(), "at least 16 finite averages >= 0"));
        }
        let mass = mass(cells.iter().sum::<f64>() / cells.len() as f64)?;
        cells.iter_mut().for_each(|v| *v /= mass);
        Ok(Self { fft: plan(cells.len()), cells })
    }

    /// The exact averages of a Fourier series over an even number of cells. **Errors** as [`Volume::new`].
    ///
    /// ```
    /// use metastable::continuity::{circle::Circle, density::Density, volume::Volume};
    /// let wave = Density::parse("cos:1=0.5").and_then(|d| Circle::from_density(&d, 8)).unwrap();
    /// let (cells, x) = (Volume::of(&wave, 64).unwrap(), std::f64::consts::TAU / 64.0);
    /// assert!((cells.cells[0] - (1.0 + 0.5 * x.sin() / x)).abs() < 1e-15);
    /// assert!((cells.series(8).unwrap().c[1] - wave.c[1]).norm() < 1e-16);
    /// ```
    pub fn of(density: &Circle, n: usize) -> Result<Self> {
        let mut averaged = density.clone();
        averaged.c.iter_mut().enumerate().for_each(|(k, c)| *c *= average(k, n));
        // As many points as the modes need, of which every `per`-th begins a cell.
        let per = (2 * density.modes() + 2).div_ceil(n.max(1));
        Self::new(averaged.values(per * n).into_iter().step_by(per).map(|v| v.max(0.0)).collect())
    }

    /// Values on an equispaced grid that begins at angle `from`, joined by straight lines, sampled at the centres of `n` cells. **Errors** as [`Volume::new`], no values.
    pub fn from_values(values: &[f64], from: f64, n: usize) -> Result<Self> {
        if let Some(j) = values.iter().position(|v| !v.is_finite() || *v < 0.0) {
            return Err(Error::parameter("values", format!("{} in row {}", values[j], j + 1), "finite values >= 0"));
        }
        let at = |j: usize| interpolated(values, from, TAU * (j as f64 + 0.5) / n as f64);
        Self::new(if values.is_empty() { Vec::new() } else { (0..n).map(at).collect() })
    }

    /// The first modes (less than half of the number of cells) of the density with these averages. **Errors** none for a valid state.
    pub fn series(&self, modes: usize) -> Result<Circle> {
        let n = self.cells.len();
        let mut out = Circle::projected(&self.cells, modes.min((n - 1) / 2))?;
        out.c.iter_mut().enumerate().for_each(|(k, c)| *c /= average(k, n));
        Ok(out)
    }

    /// **Errors** an odd number of cells under Sinkhorn attention.
    fn kernel(&self, medium: &Medium) -> Result<Kernel> {
        let (n, sinkhorn) = (self.cells.len(), medium.weights == RowWeights::Sinkhorn);
        if sinkhorn && !n.is_multiple_of(2) {
            return Err(Error::parameter("cells", n, "an even number for Sinkhorn attention"));
        }
        let (over, plain) = (kernel_over_beta(2, medium.beta, n / 2), kernel(2, medium.beta, n / 2));
        let slope = (0..n / 2).map(|k| average(k, n).inv() * Complex64::new(0.0, k as f64 * over[k])).collect();
        let total = (0..n / 2).map(|k| average(k, n).inv() * plain[k]).collect();
        let centre = |(k, w): (usize, &f64)| if k == 0 { *w } else { w * half_angle(k, n) / half_angle(k, n).sin() };
        let centres = if sinkhorn { plain.iter().enumerate().map(centre).collect() } else { Vec::new() };
        Ok(Kernel { medium: *medium, slope, total, centres })
    }

    /// Velocities at the left edges of the cells, from the spectrum of the averages (divided by that of the cell, so smooth data converge spectrally).
    fn edges(&self, cells: &[f64], kernel: &Kernel) -> Result<Vec<f64>> {
        let weighted = |f: &[f64]| f.iter().zip(cells).map(|(f, r)| f * r).collect::<Vec<f64>>();
        let weights = kernel.medium.weights;
        let c = if weights == RowWeights::Sinkhorn {
            // f (k * (f rho)) = 1 at the centres.
            let f = sinkhorn_scaling(cells.len(), 1e-13, |f| self.fft.convolution(&weighted(f), &kernel.centres))?;
            self.fft.coefficients(&weighted(&f), cells.len() / 2)
        } else {
            self.fft.coefficients(cells, cells.len() / 2)
        };
        let field = |factors: &[Complex64]| self.fft.values(c.iter().zip(factors).map(|(c, f)| c * f));
        let mut v = field(&kernel.slope);
        if weights == RowWeights::Exponential {
            v.iter_mut().for_each(|v| *v *= kernel.medium.beta.abs().exp());
        } else {
            v.iter_mut().zip(field(&kernel.total)).for_each(|(v, w)| *v /= w.max(1e-300));
        }
        Ok(v)
    }

    /// Changes per unit time from velocities at the left edges.
    fn change(cells: &[f64], v: &[f64], medium: &Medium) -> Vec<f64> {
        let n = cells.len();
        let dx = TAU / n as f64;
        let slope = |j: usize| {
            let (before, after) = (if j == 0 { n - 1 } else { j - 1 }, if j + 1 == n { 0 } else { j + 1 });
            let (left, right) = (cells[j] - cells[before], cells[after] - cells[j]);
            if left * right <= 0.0 { 0.0 } else { left.signum() * left.abs().min(right.abs()) }
        };
        let flux: Vec<f64> = (0..n)
            .map(|j| {
                let before = if j == 0 { n - 1 } else { j - 1 };
                let upwind = if v[j] >= 0.0 { cells[before] + 0.5 * slope(before) } else { cells[j] - 0.5 * slope(j) };
                v[j] * upwind - medium.diffusion * (cells[j] - cells[before]) / dx
            })
            .collect();
        (0..n).map(|j| (flux[j] - flux[(j + 1) % n]) / dx).collect()
    }

    /// Evolves by time `t`; `watch` sees the state after every step and says whether to go on.
    ///
    /// **Accuracy** second order while cells are finer than the density; nothing here notices where they are not: the same with half as many cells tells.
    /// **Errors** an odd number of cells or a scaling that does not converge under Sinkhorn attention, more than ten million steps.
    pub fn evolve(mut self, medium: &Medium, t: f64, mut watch: impl FnMut(f64, &[f64]) -> bool) -> Result<Evolved<Self>> {
        if t.is_nan() {
            return Err(Error::parameter("t", t, "a time"));
        }
        let (kernel, dx) = (self.kernel(medium)?, TAU / self.cells.len() as f64);
        let (mut now, mut steps, mut end) = (Dd::default(), 0u64, End::Reached);
        while now.to_f64() < t && end == End::Reached {
            let left = (Dd::from(t) - now).to_f64();
            steps += 1;
            if steps > 10_000_000 {
                return Err(Error::Numerical { what: format!("ten million finite-volume steps ended {left} before the end time") });
            }
            let v = self.edges(&self.cells, &kernel)?;
            let fastest = v.iter().fold(1e-12f64, |m, v| m.max(v.abs()));
            let step = (0.4 * dx / fastest).min(0.2 * dx * dx / medium.diffusion.max(1e-300)).min(left);
            let first = Self::change(&self.cells, &v, medium);
            let middle: Vec<f64> = self.cells.iter().zip(&first).map(|(u, k)| u + step * k).collect();
            let second = Self::change(&middle, &self.edges(&middle, &kernel)?, medium);
            for (u, (m, k)) in self.cells.iter_mut().zip(middle.iter().zip(&second)) {
                // Rounding may leave -1e-300 in emptied cells.
                *u = (0.5 * *u + 0.5 * (m + step * k)).max(0.0);
            }
            now = if step < left { now + Dd::from(step) } else { Dd::from(t) };
            if !watch(now.to_f64(), &self.cells) && now.to_f64() < t {
                end = End::Interrupted;
            }
        }
        Ok(Evolved::new(self, now.to_f64(), end))
    }

    /// Rate of change of [`Volume::negentropy`] under the scheme itself, `sum log(rho) d rho/dt / n`: second order, numerical diffusion included.
    ///
    /// **Errors** as [`Volume::evolve`].
    pub fn negentropy_rate(&self, medium: &Medium) -> Result<f64> {
        let v = self.edges(&self.cells, &self.kernel(medium)?)?;
        let change = Self::change(&self.cells, &v, medium);
        let term = |(r, c): (&f64, &f64)| if *r > 0.0 { r.ln() * c } else { 0.0 };
        Ok(self.cells.iter().zip(&change).map(term).sum::<f64>() / self.cells.len() as f64)
    }

    /// Negentropy of the piecewise constant density.
    pub fn negentropy(&self) -> f64 {
        negentropy(&self.cells)
    }
}

/// Half of the angle by which the wave k turns over a cell.
fn half_angle(k: usize, n: usize) -> f64 {
    0.5 * TAU * k as f64 / n as f64
}

/// What the average over a cell does to the wave `e^{i k theta}` at the left edge of the cell: `e^{ix} sin x / x`, `x = pi k / n`.
fn average(k: usize, n: usize) -> Complex64 {
    let x = half_angle(k, n);
    if k == 0 { Complex64::new(1.0, 0.0) } else { Complex64::from_polar(x.sin() / x, x) }
}

/// Negentropy of equal cells with these averages: the mean of `rho log rho`.
pub fn negentropy(cells: &[f64]) -> f64 {
    negentropy_terms(cells).iter().sum::<f64>() / cells.len() as f64
}
