//! Measures in Lagrangian coordinates, in any dimension: weighted particles that carry the
//! logarithm of the density, `d x/dt = v(x)`, `d log rho/dt = -div v(x)`. They connect densities
//! with tokens.
//!
//! The masses never change, so a quadrature rule of the initial density remains a quadrature rule
//! for every function of the starting points: on the circle and on S^2 sums over the particles
//! converge spectrally until neighbours separate. The empirical measure acts on itself: a particle
//! of mass m adds `m (d-1) e^beta` to its own `-div v`.

use super::circle::Circle;
use super::density::Density;
use super::evolution::{DensityState, evolve};
use super::sphere2::Sphere2;
use super::{
    Evolution, MeasureDynamics, check_non_negative, positive_mass, reject_noise, sinkhorn_scaling,
    weighted_mean,
};
use crate::attention::interaction::{Interaction, InteractionEnergy};
use crate::attention::{Energy, EnergyScale, RowWeights};
use crate::error::{Error, Result, in_range};
use crate::flow::OdeSystem;
use crate::num::{
    aligned::AlignedVec, bessel::scaled_sphere_mean, quadrature::gauss_legendre, simd::Isa,
    stream::Stream, sum::dot, threads::parallel_allowed,
};
use crate::sphere::{Tokens, geometry, law};
use crate::theory::interaction::mean_potential;
use rayon::prelude::*;
use std::f64::consts::TAU;

/// Particles, each with the logarithm of the density at its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Lagrangian {
    /// Positions and masses.
    pub x: Tokens,
    /// Logarithm of the density relative to the uniform measure, one per particle.
    pub log_density: Vec<f64>,
}

impl Lagrangian {
    /// From points, the weights of a quadrature rule for the uniform measure, and the density at
    /// the points. Points of density 0 are left out.
    ///
    /// **Errors** negative or non-finite values (the error names the point), no mass.
    pub fn new(x: &Tokens, weights: &[f64], density: &[f64]) -> Result<Self> {
        // The values of a series have the rounding of its largest value.
        let slack = 1e-12 * density.iter().copied().fold(1.0, f64::max);
        check_non_negative(density, slack, |i| format!("{:?}", x.row(i)))?;
        let support: Vec<usize> = (0..x.n()).filter(|i| density[*i] * weights[*i] > 0.0).collect();
        let mass = positive_mass(support.iter().map(|i| density[*i] * weights[*i]).sum())?;
        let total: f64 = weights.iter().sum();
        let positions = support.iter().flat_map(|i| x.row(*i).iter().copied()).collect();
        let masses: Vec<f64> = support.iter().map(|i| density[*i] * weights[*i] / mass).collect();
        let x = Tokens::new(x.d(), positions)?.with_masses(&masses)?;
        Ok(Self {
            x,
            log_density: support.iter().map(|i| (density[*i] * total / mass).ln()).collect(),
        })
    }

    /// `n` equispaced points of the circle. **Errors** as [`Lagrangian::new`].
    pub fn on_circle(density: &Circle, n: usize) -> Result<Self> {
        let values = density.values(n);
        let angles: Vec<f64> =
            (0..values.len()).map(|j| TAU * j as f64 / values.len() as f64).collect();
        Self::new(&Tokens::from_angles(&angles)?, &vec![1.0; values.len()], &values)
    }

    /// `rings` Gauss-Legendre colatitudes with `2 rings` equispaced azimuths each. **Errors** as
    /// [`Lagrangian::new`], fewer than 4 rings, too few rings: the mass of the density on them is
    /// off by more than a hundredth. (Smaller errors show in the negentropy for half as many
    /// rings.)
    pub fn on_sphere2(density: &Sphere2, rings: usize) -> Result<Self> {
        in_range("rings", rings as f64, 4.0, 1024.0)?;
        let (mut x, mut weights) = (Vec::new(), Vec::new());
        for (z, w) in gauss_legendre(rings) {
            let s = (1.0 - z * z).sqrt();
            for j in 0..2 * rings {
                let phi = TAU * j as f64 / (2 * rings) as f64;
                x.extend([s * phi.cos(), s * phi.sin(), z]);
                weights.push(w);
            }
        }
        let values = density.values_on(rings);
        let mass = weights.iter().zip(&values).map(|(w, v)| w * v).sum::<f64>()
            / weights.iter().sum::<f64>();
        if (mass - 1.0).abs() > 1e-2 {
            let found = format!("{rings} latitudes, on which the density has mass {mass:.7}");
            return Err(Error::parameter(
                "particles",
                found,
                format!("a finer grid: {} latitudes are exact", density.rings()),
            ));
        }
        Self::new(&Tokens::normalised(3, x)?, &weights, &values)
    }

    /// `n` uniform random points of `S^{d-1}`, weighted by a zonal density about the first axis;
    /// the error is of order `n^{-1/2}`. **Errors** as [`Lagrangian::new`].
    pub fn from_random_points(
        density: &Density,
        n: usize,
        d: usize,
        stream: &mut Stream,
    ) -> Result<Self> {
        let x = law::Law::parse("uniform")?.sample(n, d, stream)?;
        let values: Vec<f64> =
            x.rows().map(|row| density.zonal(d, row[0])).collect::<Result<_>>()?;
        Self::new(&x, &vec![1.0; n], &values)
    }

    /// `integral rho log rho d sigma`, as the mean of `log rho` over the particles.
    pub fn negentropy(&self) -> f64 {
        weighted_mean(self.x.masses(), &self.log_density)
    }

    /// Production of negentropy, the mean of `-div v`. **Errors** as [`Lagrangian::evolve`].
    pub fn negentropy_rate(&self, dynamics: &MeasureDynamics) -> Result<f64> {
        let rates = self.rates_of_change(dynamics)?;
        Ok(weighted_mean(self.x.masses(), &rates[self.x.n() * self.x.d()..]))
    }

    /// Interaction energy `(1/(2 beta)) sum m m e^{beta <x,y>}` relative to the uniform measure; at
    /// beta = 0 the limit `|mean|^2 / 2`. With an interaction it is `(1/2) sum m m W(<x,y>)`,
    /// relative to the uniform measure; NaN for d above 10000.
    pub fn energy(&self, dynamics: &MeasureDynamics) -> f64 {
        if let Some(own) = &dynamics.interaction {
            let uniform = mean_potential(own.interaction(), self.x.d());
            let energy = InteractionEnergy::new(own.interaction().clone()).value(&self.x);
            return energy - 0.5 * uniform.map_or(f64::NAN, |mean| mean.value);
        }
        let beta = dynamics.beta;
        if beta == 0.0 {
            return 0.5 * self.x.mean().iter().map(|v| v * v).sum::<f64>();
        }
        let unit = Energy::new(beta, EnergyScale::default()).log_scaled(&self.x).exp();
        beta.abs().exp() / (2.0 * beta) * (unit - scaled_sphere_mean(self.x.d(), beta.abs()))
    }

    /// Evolves by time `t` (order 8, tolerances 1e-12 and 1e-14); `watch` sees the state after
    /// every step and returns whether to continue.
    ///
    /// **Cost** `n^2 d` per evaluation. **Errors** noise (the velocity would need the gradient of
    /// rho), a Sinkhorn scaling that does not converge, those of the integrator.
    pub fn evolve(
        self,
        dynamics: &MeasureDynamics,
        t: f64,
        watch: impl FnMut(f64, &Self) -> bool,
    ) -> Result<Evolution<Self>> {
        self.evolve_with_tolerances(dynamics, t, (1e-12, 1e-14), watch)
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

impl DensityState for Lagrangian {
    type System = ParticleSystem;

    fn system(&self, dynamics: &MeasureDynamics) -> Result<ParticleSystem> {
        reject_noise(dynamics)?;
        in_range("particles", self.x.n() as f64, 1.0, 1e6)?;
        Ok(ParticleSystem {
            dynamics: dynamics.clone(),
            d: self.x.d(),
            masses: self.x.masses().to_vec(),
        })
    }

    fn coordinates(&self) -> Vec<f64> {
        [self.x.coordinates(), &self.log_density].concat()
    }

    fn with_coordinates(&self, y: &[f64]) -> Result<Self> {
        let (positions, log) = y.split_at(self.x.n() * self.x.d());
        let x = Tokens::new(self.x.d(), positions.to_vec())?.with_masses(self.x.masses())?;
        Ok(Self { x, log_density: log.to_vec() })
    }
}

/// The system of the particles: velocity and `-div v` of the empirical measure with fixed masses.
pub(super) struct ParticleSystem {
    dynamics: MeasureDynamics,
    d: usize,
    masses: Vec<f64>,
}

impl OdeSystem for ParticleSystem {
    fn rates(&mut self, _: f64, y: &[f64], dy: &mut [f64]) -> Result<()> {
        self.velocities(&y[..self.masses.len() * self.d], dy)
    }

    fn retract(&self, y: &mut [f64]) {
        y[..self.masses.len() * self.d].chunks_exact_mut(self.d).for_each(|row| {
            geometry::retract(row);
        });
    }

    fn block(&self, start: usize) -> usize {
        if start < self.masses.len() * self.d { self.d } else { 1 }
    }
}

impl ParticleSystem {
    /// `e^{beta <x, y> - |beta|}` and `|x - y|^2`.
    fn kernel(&self, x: &[f64], y: &[f64]) -> (f64, f64) {
        let chord = geometry::chord2(x, y);
        let beta = self.dynamics.beta;
        let distance2 = if beta >= 0.0 { chord } else { geometry::antichord2(x, y) };
        ((-0.5 * beta.abs() * distance2).exp(), chord)
    }

    /// Velocities (n x d), then `-div v` (n). **Errors** a Sinkhorn scaling that does not converge.
    fn velocities(&self, x: &[f64], out: &mut [f64]) -> Result<()> {
        let n = self.masses.len();
        let weights = if self.dynamics.weights == RowWeights::Sinkhorn {
            self.scaled_masses(x)?
        } else {
            self.masses.clone()
        };
        let (velocity, minus_divergence) = out.split_at_mut(n * self.d);
        let one = |(i, (v, f)): (usize, (&mut [f64], &mut f64))| *f = self.row(x, &weights, i, v);
        if n >= 256 && parallel_allowed() {
            velocity
                .par_chunks_exact_mut(self.d)
                .zip(minus_divergence.par_iter_mut())
                .enumerate()
                .for_each(one);
        } else {
            velocity
                .chunks_exact_mut(self.d)
                .zip(minus_divergence.iter_mut())
                .enumerate()
                .for_each(one);
        }
        Ok(())
    }

    /// Writes the velocity of particle i under an interaction, and returns its `-div v`. With the
    /// sums `N = sum m phi P_x y` and `Z = sum m phi` of which v is N or N/Z,
    /// `-div N = (d-1) sum m phi s - sum m phi' (1 - s^2)`, and the gradient of Z is
    /// `sum m phi' P_x y`.
    fn row_of_interaction(&self, phi: &Interaction, x: &[f64], i: usize, v: &mut [f64]) -> f64 {
        let (d, n) = (self.d, self.masses.len());
        let here = &x[i * d..(i + 1) * d];
        let [mut weights, mut slopes, mut halves]: [AlignedVec<f64>; 3] = Default::default();
        weights.reset(n.next_multiple_of(16));
        for (z, y) in weights.iter_mut().zip(x.chunks_exact(d)) {
            *z = 0.5 * geometry::chord2(here, y);
        }
        halves.reset(weights.len());
        halves.copy_from_slice(&weights);
        phi.replace_with_slopes(Isa::best(), &mut weights, &mut slopes);
        v.fill(0.0);
        let (mut total, mut inner, mut square) = (0.0, 0.0, 0.0);
        let mut gradient = vec![0.0; d];
        for (j, y) in x.chunks_exact(d).enumerate() {
            let (m, z) = (self.masses[j], halves[j]);
            let (w, b) = (m * weights[j], m * slopes[j]);
            total += w;
            inner += w * (1.0 - z);
            square += b * z * (2.0 - z);
            for ((v, g), (y, x)) in v.iter_mut().zip(&mut gradient).zip(y.iter().zip(here)) {
                *v += w * (y - x);
                *g += b * (y - x);
            }
        }
        geometry::project(here, v);
        let minus_divergence = (d as f64 - 1.0) * inner - square;
        if self.dynamics.weights == RowWeights::Exponential {
            return minus_divergence;
        }
        v.iter_mut().for_each(|v| *v /= total);
        (minus_divergence + dot(v, &gradient)) / total
    }

    /// Writes the velocity of particle i and returns its `-div v`.
    fn row(&self, x: &[f64], weights: &[f64], i: usize, v: &mut [f64]) -> f64 {
        if let Some(own) = &self.dynamics.interaction {
            return self.row_of_interaction(own.interaction(), x, i, v);
        }
        let (d, beta) = (self.d, self.dynamics.beta);
        let here = &x[i * d..(i + 1) * d];
        v.fill(0.0);
        let (mut total, mut inner, mut square) = (0.0, 0.0, 0.0);
        for (y, m) in x.chunks_exact(d).zip(weights) {
            let (k, chord) = self.kernel(here, y);
            let w = m * k;
            total += w;
            inner += w * (1.0 - 0.5 * chord);
            square += w * 0.5 * chord * (2.0 - 0.5 * chord);
            v.iter_mut().zip(y.iter().zip(here)).for_each(|(v, (y, x))| *v += w * (y - x));
        }
        geometry::project(here, v);
        let dimension = d as f64 - 1.0;
        if self.dynamics.weights == RowWeights::Exponential {
            let scale = beta.abs().exp();
            v.iter_mut().for_each(|v| *v *= scale);
            return scale * (dimension * inner - beta * square);
        }
        v.iter_mut().for_each(|v| *v /= total);
        dimension * inner / total - beta * (square / total - v.iter().map(|v| v * v).sum::<f64>())
    }

    /// `m_j f_j` with `f_i sum_j k_ij m_j f_j = 1`.
    fn scaled_masses(&self, x: &[f64]) -> Result<Vec<f64>> {
        let n = self.masses.len();
        let row = |i: usize| &x[i * self.d..(i + 1) * self.d];
        let k: Vec<f64> = (0..n * n).map(|p| self.kernel(row(p / n), row(p % n)).0).collect();
        // The tolerance is the rounding of a sum of n terms of one sign.
        let f = sinkhorn_scaling(n, 1e-14, |f| {
            let weighted: Vec<f64> = self.masses.iter().zip(f).map(|(m, f)| m * f).collect();
            k.chunks_exact(n).map(|k| weighted_mean(k, &weighted)).collect()
        })?;
        Ok(self.masses.iter().zip(&f).map(|(m, f)| m * f).collect())
    }
}
