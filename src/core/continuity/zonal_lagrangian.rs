//! Zonal densities in Lagrangian coordinates: rings of `S^{d-1}` at fixed latitude move with the
//! flow and carry mass and the logarithm of the density.
//!
//! The mean of `e^{beta <x, y>}` over the ring of y depends only on the two polar angles: it is
//! `e^{beta c c'} Lambda(beta s s')` with `Lambda` the mean of `e^{z u}` over `S^{d-2}`. The method
//! is one-dimensional, has spectral accuracy, and follows a full collapse, which no expansion in
//! polynomials can.

use super::density::Density;
use super::evolution::{DensityState, evolve};
use super::interaction_rings::InteractionRings;
use super::zonal::nodes;
use super::{
    Evolution, MeasureDynamics, check_non_negative, positive_mass, reject_noise, weighted_mean,
};
use crate::attention::RowWeights;
use crate::error::{Error, Result, in_range};
use crate::flow::OdeSystem;
use crate::num::bessel::{bessel_ratios, log_scaled_sphere_mean};
use crate::num::chebyshev::Chebyshev;
use crate::theory::interaction::mean_potential;

/// Rings ordered by polar angle, with their masses and log densities.
#[derive(Clone, Debug, PartialEq)]
pub struct ZonalLagrangian {
    /// Ambient dimension.
    pub d: usize,
    /// Polar angles.
    pub theta: Vec<f64>,
    /// Masses, of sum 1.
    pub masses: Vec<f64>,
    /// Logarithm of the density relative to the uniform measure.
    pub log_density: Vec<f64>,
}

impl ZonalLagrangian {
    /// `n` rings at the Gauss-Gegenbauer nodes. **Errors** d outside [2, 1024], n outside [4,
    /// 2048], negative values (the error names the place), no mass.
    pub fn new(density: &Density, d: usize, n: usize) -> Result<Self> {
        in_range("d", d as f64, 2.0, 1024.0)?;
        in_range("rings", n as f64, 4.0, 2048.0)?;
        let (mut theta, mut masses, mut log_density) = (Vec::new(), Vec::new(), Vec::new());
        for (s, w) in nodes(d, n)?.into_iter().rev() {
            let v = density.zonal(d, s)?;
            check_non_negative(&[v], 1e-12, |_| format!("s = {s}"))?;
            if v > 0.0 && w > 0.0 {
                theta.push(s.clamp(-1.0, 1.0).acos());
                masses.push(w * v);
                log_density.push(v.ln());
            }
        }
        let mass = positive_mass(masses.iter().sum())?;
        masses.iter_mut().for_each(|m| *m /= mass);
        log_density.iter_mut().for_each(|l| *l -= mass.ln());
        Ok(Self { d, theta, masses, log_density })
    }

    /// `integral rho log rho d sigma`.
    pub fn negentropy(&self) -> f64 {
        weighted_mean(&self.masses, &self.log_density)
    }

    /// Production of negentropy, the mean of `-div v`. **Errors** as [`ZonalLagrangian::evolve`].
    pub fn negentropy_rate(&self, dynamics: &MeasureDynamics) -> Result<f64> {
        let rates = self.rates_of_change(dynamics)?;
        Ok(weighted_mean(&self.masses, &rates[self.theta.len()..]))
    }

    /// Mean of `<x, pole>`.
    pub fn axis_mean(&self) -> f64 {
        self.masses.iter().zip(&self.theta).map(|(m, t)| m * t.cos()).sum()
    }

    /// Interaction energy relative to the uniform measure, as [`super::circle::Circle::energy`].
    /// **Errors** as [`ZonalLagrangian::evolve`].
    pub fn energy(&self, dynamics: &MeasureDynamics) -> Result<f64> {
        if let Some(own) = &dynamics.interaction {
            let rings = InteractionRings::new(own.interaction(), self.d)?;
            let uniform = mean_potential(own.interaction(), self.d)?.value;
            return Ok(0.5 * (rings.potential(&self.theta, &self.masses) - uniform));
        }
        let beta = dynamics.beta;
        if beta == 0.0 {
            return Ok(0.5 * self.axis_mean().powi(2));
        }
        let field = RingSystem::new(self, dynamics)?;
        let trig: Vec<(f64, f64)> = self.theta.iter().map(|t| t.sin_cos()).collect();
        let row = |i: usize| {
            (0..trig.len())
                .map(|j| {
                    self.masses[j]
                        * field.kernel(self.theta[i], self.theta[j], trig[i].0 * trig[j].0)
                })
                .sum::<f64>()
        };
        let unit: f64 = (0..trig.len()).map(|i| self.masses[i] * row(i)).sum();
        Ok(beta.abs().exp() / (2.0 * beta)
            * (unit - log_scaled_sphere_mean(self.d, beta.abs()).exp()))
    }

    /// Moments `integral P_k d mu` with `P_k(1) = 1`, k = 0..=kmax.
    pub fn moments(&self, kmax: usize) -> Vec<f64> {
        let mut out = vec![0.0; kmax + 1];
        for (m, t) in self.masses.iter().zip(&self.theta) {
            let p = crate::num::gegenbauer::zonal_polynomials(self.d, kmax, t.cos());
            out.iter_mut().zip(p).for_each(|(o, p)| *o += m * p);
        }
        out
    }

    /// Evolves by time `t` (order 8, tolerances 1e-11 and 1e-13); `watch` sees the state after
    /// every step and returns whether to continue.
    ///
    /// **Cost** `n^2` per evaluation, about 20 ns per pair; with an interaction of K terms K/4
    /// values of phi and phi' per pair. **Errors** Sinkhorn attention, noise, an interaction with
    /// kinks, those of the integrator.
    pub fn evolve(
        self,
        dynamics: &MeasureDynamics,
        t: f64,
        watch: impl FnMut(f64, &Self) -> bool,
    ) -> Result<Evolution<Self>> {
        self.evolve_with_tolerances(dynamics, t, (1e-11, 1e-13), watch)
    }

    /// [`Self::evolve`] with given relative and absolute tolerances of steps. **Errors** as
    /// [`Self::evolve`].
    pub fn evolve_with_tolerances(
        self,
        dynamics: &MeasureDynamics,
        t: f64,
        tolerances: (f64, f64),
        watch: impl FnMut(f64, &Self) -> bool,
    ) -> Result<Evolution<Self>> {
        evolve(self, dynamics, t, &tolerances, watch)
    }
}

impl DensityState for ZonalLagrangian {
    type System = RingSystem;

    fn system(&self, dynamics: &MeasureDynamics) -> Result<RingSystem> {
        RingSystem::new(self, dynamics)
    }

    fn coordinates(&self) -> Vec<f64> {
        [&self.theta[..], &self.log_density].concat()
    }

    fn with_coordinates(&self, y: &[f64]) -> Result<Self> {
        let (theta, log) = y.split_at(self.theta.len());
        Ok(Self {
            d: self.d,
            theta: theta.to_vec(),
            masses: self.masses.clone(),
            log_density: log.to_vec(),
        })
    }
}

/// The system of the rings, with the tabulated kernel between rings.
pub(super) struct RingSystem {
    masses: Vec<f64>,
    dynamics: MeasureDynamics,
    d: usize,
    /// `log(e^{-z} Lambda(z))` and `Lambda'(z) / (z Lambda(z))`.
    log_mean: Chebyshev,
    ratio: Chebyshev,
    /// The means of an interaction in their place.
    own: Option<InteractionRings>,
}

impl RingSystem {
    fn new(rings: &ZonalLagrangian, dynamics: &MeasureDynamics) -> Result<Self> {
        if dynamics.weights == RowWeights::Sinkhorn {
            return Err(Error::parameter("dynamics", "sinkhorn", "sa or usa for zonal densities"));
        }
        reject_noise(dynamics)?;
        let d = rings.d;
        let own = dynamics.interaction.as_ref();
        let own = own.map(|own| InteractionRings::new(own.interaction(), d)).transpose()?;
        let end = dynamics.beta.abs().max(1e-3);
        // The zeros of Lambda nearest to 0 are +-i pi/2 (d = 2) or farther away: a series on a
        // panel of width 1/4 converges like 25^{-k}.
        let panels = (4.0 * end).ceil() as usize;
        let log_mean = |z: f64| {
            if d == 2 {
                (0.5 + 0.5 * (-2.0 * z).exp()).ln()
            } else {
                log_scaled_sphere_mean(d - 1, z)
            }
        };
        let ratio = |z: f64| bessel_ratios(0.5 * d as f64 - 1.5, z, 1)[0] / z;
        let (log_mean, ratio) =
            (Chebyshev::new(log_mean, end, panels), Chebyshev::new(ratio, end, panels));
        let (masses, dynamics) = (rings.masses.clone(), dynamics.clone());
        Ok(Self { masses, dynamics, d, log_mean, ratio, own })
    }

    /// The mean of `e^{beta <x, y> - |beta|}` over two rings with polar angles a and b; `sines` is
    /// the product of their sines.
    fn kernel(&self, a: f64, b: f64, sines: f64) -> f64 {
        let beta = self.dynamics.beta;
        // e^{beta cos(a -+ b)} is the kernel between the nearest points of the rings (the farthest
        // if beta < 0).
        let nearest = if beta >= 0.0 { (0.5 * (a - b)).sin() } else { (0.5 * (a + b)).cos() };
        (self.log_mean.value(beta.abs() * sines) - 2.0 * beta.abs() * nearest * nearest).exp()
    }
}

impl OdeSystem for RingSystem {
    /// Angular velocities (n), then `-div v` (n).
    fn rates(&mut self, _: f64, y: &[f64], out: &mut [f64]) -> Result<()> {
        let (n, beta) = (self.masses.len(), self.dynamics.beta);
        let theta = &y[..n];
        if let Some(own) = &self.own {
            let is_divided = self.dynamics.weights == RowWeights::Softmax;
            own.rates(theta, &self.masses, is_divided, out);
            return Ok(());
        }
        let trig: Vec<(f64, f64)> = theta.iter().map(|t| t.sin_cos()).collect();
        let dimension = self.d as f64 - 1.0;
        // The kernel and the mean of u / (beta s s') are symmetric.
        let mut pairs = vec![(0.0, 0.0); n * n];
        for i in 0..n {
            for j in 0..=i {
                let sines = trig[i].0 * trig[j].0;
                let pair =
                    (self.kernel(theta[i], theta[j], sines), self.ratio.value(beta.abs() * sines));
                (pairs[i * n + j], pairs[j * n + i]) = (pair, pair);
            }
        }
        for i in 0..n {
            let (s, c) = trig[i];
            let (mut total, mut inner, mut tangent, mut square) = (0.0, 0.0, 0.0, 0.0);
            for ((k, q), (m, (s2, c2))) in
                pairs[i * n..(i + 1) * n].iter().zip(self.masses.iter().zip(&trig))
            {
                let (w, u, u2) = (m * k, beta * s * s2 * q, 1.0 - (dimension - 1.0) * q);
                total += w;
                inner += w * (c * c2 + s * s2 * u);
                tangent += w * (c * s2 * u - s * c2);
                square +=
                    w * (1.0 - c * c * c2 * c2 - 2.0 * c * c2 * s * s2 * u - s * s * s2 * s2 * u2);
            }
            (out[i], out[n + i]) = if self.dynamics.weights == RowWeights::Exponential {
                let scale = beta.abs().exp();
                (scale * tangent, scale * (dimension * inner - beta * square))
            } else {
                let v = tangent / total;
                (v, dimension * inner / total - beta * (square / total - v * v))
            };
        }
        Ok(())
    }

    fn block(&self, _: usize) -> usize {
        1
    }
}
