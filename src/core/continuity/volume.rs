//! Finite volumes on the circle: conservative and positive, for late times when the density concentrates.

use super::circle::{Circle, kernel, kernel_over_beta};
use super::legs::{Leg, by_legs};
use super::{Evolved, Medium, scaling_converged, scaling_residual};
use crate::attention::RowWeights;
use crate::error::{Error, Result};
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex, num_complex::Complex64};
use std::f64::consts::TAU;
use std::sync::Arc;

/// Cell averages on an equispaced grid: cell j is `[j, j+1] 2 pi / n`.
///
/// Second order: piecewise linear reconstruction with the minmod limiter, upwind fluxes, two-stage SSP Runge-Kutta. Mass is conserved to rounding (fluxes
/// cancel), positivity holds at Courant numbers up to 1/2.
#[derive(Clone)]
pub struct Volume {
    /// Averages relative to the uniform density.
    pub cells: Vec<f64>,
    forward: Arc<dyn RealToComplex<f64>>,
    backward: Arc<dyn ComplexToReal<f64>>,
}

impl Volume {
    /// From cell averages. **Errors** fewer than 16 cells, negative or non-finite averages, no mass.
    pub fn new(mut cells: Vec<f64>) -> Result<Self> {
        if cells.len() < 16 || cells.iter().any(|v| !v.is_finite() || *v < 0.0) {
            return Err(Error::parameter("cells", cells.len(), "at least 16 finite averages >= 0"));
        }
        let mass = cells.iter().sum::<f64>() / cells.len() as f64;
        if mass <= 0.0 {
            return Err(Error::parameter("cells", "no mass", "a positive mass"));
        }
        cells.iter_mut().for_each(|v| *v /= mass);
        let mut planner = RealFftPlanner::new();
        let n = cells.len();
        Ok(Self { cells, forward: planner.plan_fft_forward(n), backward: planner.plan_fft_inverse(n) })
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
        let count = values.len();
        let at = |j: usize| {
            let place = (TAU * (j as f64 + 0.5) / n as f64 - from).rem_euclid(TAU) / TAU * count as f64;
            let (whole, part) = (place.floor(), place.fract());
            let (before, after) = (whole as usize % count, (whole as usize + 1) % count);
            (1.0 - part) * values[before] + part * values[after]
        };
        Self::new(if count == 0 { Vec::new() } else { (0..n).map(at).collect() })
    }

    /// The first modes (less than half of the number of cells) of the density with these averages. **Errors** none for a valid state.
    pub fn series(&self, modes: usize) -> Result<Circle> {
        let n = self.cells.len();
        let mut out = Circle::projected(&self.cells, modes.min((n - 1) / 2))?;
        out.c.iter_mut().enumerate().for_each(|(k, c)| *c /= average(k, n));
        Ok(out)
    }

    /// What each Fourier coefficient of the averages is multiplied by to give `(1/beta) W'` and W at the left edges.
    fn factors(&self, medium: &Medium) -> (Vec<Complex64>, Vec<Complex64>) {
        let n = self.cells.len();
        let half = n / 2;
        let (over, plain) = (kernel_over_beta(medium.beta, half), kernel(medium.beta, half));
        let factor = |k: usize, derivative: bool| {
            let shift = (average(k, n) * n as f64).inv();
            if derivative { shift * Complex64::new(0.0, k as f64 * over[k]) } else { shift * plain[k] }
        };
        ((0..half).map(|k| factor(k, true)).collect(), (0..half).map(|k| factor(k, false)).collect())
    }

    /// `f rho` for Sinkhorn attention, `f (k * (f rho)) = 1` at the centres of the cells, by the fixed point `f <- sqrt(f / (k * (f rho)))`.
    ///
    /// **Errors** no convergence.
    fn scaled(&self, cells: &[f64], beta: f64) -> Result<Vec<f64>> {
        let n = cells.len();
        let weights: Vec<f64> = kernel(beta, n / 2)
            .iter()
            .enumerate()
            .map(|(k, w)| if k == 0 { *w } else { w * (0.5 * TAU * k as f64 / n as f64) / (0.5 * TAU * k as f64 / n as f64).sin() } / n as f64)
            .collect();
        let (mut spectrum, mut out) = (self.forward.make_output_vec(), self.backward.make_output_vec());
        let mut f = vec![1.0; n];
        let mut residual = f64::INFINITY;
        for _ in 0..10_000 {
            let mut product: Vec<f64> = f.iter().zip(cells).map(|(f, r)| f * r).collect();
            // Lengths are those of the plan, the only way to fail.
            let _ = self.forward.process(&mut product, &mut spectrum);
            spectrum.iter_mut().zip(&weights).for_each(|(c, w)| *c *= *w);
            (spectrum[0].im, spectrum[n / 2].im) = (0.0, 0.0);
            let _ = self.backward.process(&mut spectrum, &mut out);
            residual = scaling_residual(&f, &out);
            if residual < 1e-13 {
                break;
            }
            f.iter_mut().zip(&out).for_each(|(f, s)| *f = (*f / s.max(1e-300)).sqrt());
        }
        scaling_converged(residual)?;
        Ok(f.iter().zip(cells).map(|(f, r)| f * r).collect())
    }

    /// Velocities at the left edges of the cells, from the spectrum of the averages (divided by that of the cell, so smooth data converge spectrally).
    fn edges(&self, cells: &[f64], medium: &Medium, factors: &(Vec<Complex64>, Vec<Complex64>)) -> Result<Vec<f64>> {
        let scaled = if medium.weights == RowWeights::Sinkhorn { self.scaled(cells, medium.beta)? } else { cells.to_vec() };
        let cells = &scaled;
        let mut spectrum = self.forward.make_output_vec();
        // Lengths are those of the plan, the only way to fail.
        let _ = self.forward.process(&mut cells.to_vec(), &mut spectrum);
        let field = |factors: &[Complex64]| {
            let mut c = self.backward.make_input_vec();
            c.iter_mut().zip(&spectrum).zip(factors).for_each(|((c, s), f)| *c = s * f);
            c[0].im = 0.0;
            let mut out = self.backward.make_output_vec();
            let _ = self.backward.process(&mut c, &mut out);
            out
        };
        let slope = field(&factors.0);
        Ok(match medium.weights {
            RowWeights::Softmax | RowWeights::Sinkhorn => slope.iter().zip(field(&factors.1)).map(|(s, w)| s / w.max(1e-300)).collect(),
            RowWeights::Exponential => slope.iter().map(|s| s * medium.beta.abs().exp()).collect(),
        })
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
    pub fn evolve(self, medium: &Medium, t: f64, mut watch: impl FnMut(f64, &[f64]) -> bool) -> Result<Evolved<Self>> {
        if medium.weights == RowWeights::Sinkhorn && !self.cells.len().is_multiple_of(2) {
            return Err(Error::parameter("cells", self.cells.len(), "an even number for Sinkhorn attention"));
        }
        let dx = TAU / self.cells.len() as f64;
        let factors = self.factors(medium);
        let mut steps = 0u64;
        let step = |mut volume: Self, left: f64| {
            steps += 1;
            if steps > 10_000_000 {
                return Err(Error::Numerical { what: format!("ten million finite-volume steps ended {left} before the end time") });
            }
            let v = volume.edges(&volume.cells, medium, &factors)?;
            let fastest = v.iter().fold(1e-12f64, |m, v| m.max(v.abs()));
            let step = (0.4 * dx / fastest).min(0.2 * dx * dx / medium.diffusion.max(1e-300)).min(left);
            let first = Self::change(&volume.cells, &v, medium);
            let middle: Vec<f64> = volume.cells.iter().zip(&first).map(|(u, k)| u + step * k).collect();
            let v = volume.edges(&middle, medium, &factors)?;
            let second = Self::change(&middle, &v, medium);
            for (u, (m, k)) in volume.cells.iter_mut().zip(middle.iter().zip(&second)) {
                // Rounding may leave -1e-300 in emptied cells.
                *u = (0.5 * *u + 0.5 * (m + step * k)).max(0.0);
            }
            Ok(Leg::Moved(volume, step))
        };
        by_legs(self, t, step, |now, volume| watch(now, &volume.cells))
    }

    /// Rate of change of [`Volume::negentropy`] under the scheme itself, `sum log(rho) d rho/dt / n`: second order, numerical diffusion included.
    ///
    /// **Errors** as [`Volume::evolve`].
    pub fn negentropy_rate(&self, medium: &Medium) -> Result<f64> {
        let v = self.edges(&self.cells, medium, &self.factors(medium))?;
        let change = Self::change(&self.cells, &v, medium);
        let term = |(r, c): (&f64, &f64)| if *r > 0.0 { r.ln() * c } else { 0.0 };
        Ok(self.cells.iter().zip(&change).map(term).sum::<f64>() / self.cells.len() as f64)
    }

    /// Negentropy of the piecewise constant density.
    pub fn negentropy(&self) -> f64 {
        negentropy(&self.cells)
    }
}

/// What the average over a cell does to the wave `e^{i k theta}` at the left edge of the cell: `e^{ix} sin x / x`, `x = pi k / n`.
fn average(k: usize, n: usize) -> Complex64 {
    let x = 0.5 * TAU * k as f64 / n as f64;
    if k == 0 { Complex64::new(1.0, 0.0) } else { Complex64::from_polar(x.sin() / x, x) }
}

/// Negentropy of equal cells with these averages: the mean of `rho log rho`.
pub fn negentropy(cells: &[f64]) -> f64 {
    cells.iter().map(|r| if *r > 0.0 { r * r.ln() } else { 0.0 }).sum::<f64>() / cells.len() as f64
}
