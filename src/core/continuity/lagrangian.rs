//! The measure along its own flow, in any dimension: weighted particles that carry the logarithm of the density,
//! `d x/dt = v(x)`, `d log rho/dt = -div v(x)`. The bridge between the measure view and the particles.
//!
//! The masses never change, so a quadrature rule of the initial density stays one for every function of the starting points: on the circle and on S^2 sums over
//! the particles converge spectrally until neighbours tear apart. The empirical measure acts on itself: a particle of mass m adds `m (d-1) e^beta` to its own `-div v`.

use super::circle::Circle;
use super::density::Density;
use super::legs::{Leg, by_legs, clipped};
use super::sphere2::Sphere2;
use super::{Evolved, Medium, scaling_converged, scaling_residual};
use crate::attention::{Energy, EnergyScale, RowWeights};
use crate::error::{Error, Result, in_range};
use crate::num::{bessel::scaled_sphere_mean, ode::advance, quadrature::gauss_legendre, stream::Stream, threads::parallel_allowed};
use crate::sphere::{Tokens, geometry, law};
use rayon::prelude::*;
use std::cell::Cell;
use std::f64::consts::TAU;

/// Particles with the logarithm of the density (relative to the uniform measure) where they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Lagrangian {
    /// Places and masses.
    pub x: Tokens,
    /// One per particle.
    pub log_density: Vec<f64>,
}

impl Lagrangian {
    /// From points, the weights of a quadrature rule for the uniform measure, and the density at the points; points of density 0 carry nothing and are left out.
    ///
    /// **Errors** negative or non-finite values (the point is named), no mass.
    pub fn new(x: &Tokens, weights: &[f64], density: &[f64]) -> Result<Self> {
        // A series is right to rounding of its largest value.
        let slack = 1e-12 * density.iter().copied().fold(1.0, f64::max);
        if let Some(i) = density.iter().position(|r| !r.is_finite() || *r < -slack) {
            return Err(Error::parameter("density", format!("{} at {:?}", density[i], x.row(i)), "finite values >= 0 everywhere"));
        }
        let kept: Vec<usize> = (0..x.n()).filter(|i| density[*i] * weights[*i] > 0.0).collect();
        let mass: f64 = kept.iter().map(|i| density[*i] * weights[*i]).sum();
        if kept.is_empty() || mass <= 0.0 {
            return Err(Error::parameter("density", "no mass", "a positive integral"));
        }
        let total: f64 = weights.iter().sum();
        let places = kept.iter().flat_map(|i| x.row(*i).iter().copied()).collect();
        let masses: Vec<f64> = kept.iter().map(|i| density[*i] * weights[*i] / mass).collect();
        let x = Tokens::new(x.d(), places)?.with_masses(&masses)?;
        Ok(Self { x, log_density: kept.iter().map(|i| (density[*i] * total / mass).ln()).collect() })
    }

    /// `n` equispaced points of the circle. **Errors** as [`Lagrangian::new`].
    pub fn on_circle(density: &Circle, n: usize) -> Result<Self> {
        let values = density.values(n);
        let angles: Vec<f64> = (0..values.len()).map(|j| TAU * j as f64 / values.len() as f64).collect();
        Self::new(&Tokens::from_angles(&angles)?, &vec![1.0; values.len()], &values)
    }

    /// `rings` Gauss-Legendre colatitudes of `2 rings` equispaced azimuths. **Errors** as [`Lagrangian::new`], fewer than 4 rings, rings too few to see the density:
    /// its mass on them is off by more than a hundredth (the negentropy of half as many tells the rest).
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
        let mass = weights.iter().zip(&values).map(|(w, v)| w * v).sum::<f64>() / weights.iter().sum::<f64>();
        if (mass - 1.0).abs() > 1e-2 {
            let found = format!("{rings} latitudes, on which the density has mass {mass:.7}");
            return Err(Error::parameter("particles", found, format!("a finer grid: {} latitudes are exact", density.rings())));
        }
        Self::new(&Tokens::normalised(3, x)?, &weights, &values)
    }

    /// `n` uniform random points of `S^{d-1}` weighted by a zonal density about the first axis: error `n^{-1/2}`. **Errors** as [`Lagrangian::new`].
    pub fn sampled(density: &Density, n: usize, d: usize, stream: &mut Stream) -> Result<Self> {
        let x = law::Law::parse("uniform")?.sample(n, d, stream)?;
        let values: Vec<f64> = x.rows().map(|row| density.zonal(d, row[0])).collect::<Result<_>>()?;
        Self::new(&x, &vec![1.0; n], &values)
    }

    /// `integral rho log rho d sigma`, the mean of `log rho` over the particles.
    pub fn negentropy(&self) -> f64 {
        self.x.masses().iter().zip(&self.log_density).map(|(m, l)| m * l).sum()
    }

    /// Its production, the mean of `-div v`. **Errors** as [`Lagrangian::evolve`].
    pub fn negentropy_rate(&self, medium: &Medium) -> Result<f64> {
        let field = Field::new(medium, &self.x)?;
        let mut out = vec![0.0; self.x.n() * (self.x.d() + 1)];
        scaling_converged(field.rates(self.x.coordinates(), &mut out))?;
        Ok(self.x.masses().iter().zip(&out[self.x.n() * self.x.d()..]).map(|(m, f)| m * f).sum())
    }

    /// Interaction energy `(1/2 beta) sum m m e^{beta <x,y>}` above that of the uniform measure; at beta = 0 its limit `|mean|^2 / 2`.
    pub fn energy(&self, medium: &Medium) -> f64 {
        let beta = medium.beta;
        if beta == 0.0 {
            return 0.5 * self.x.mean().iter().map(|v| v * v).sum::<f64>();
        }
        let unit = Energy::new(beta, EnergyScale::default()).log_scaled(&self.x).exp();
        beta.abs().exp() / (2.0 * beta) * (unit - scaled_sphere_mean(self.x.d(), beta.abs()))
    }

    /// Evolves by time `t` (order 8, tolerance 1e-12 and 1e-14); `watch` sees the state now and then and says whether to go on.
    ///
    /// **Cost** `n^2 d` per evaluation. **Errors** noise (the velocity would need the gradient of rho), a Sinkhorn scaling that does not converge, the integrator's.
    pub fn evolve(self, medium: &Medium, t: f64, watch: impl FnMut(f64, &Self) -> bool) -> Result<Evolved<Self>> {
        self.evolve_within(medium, t, (1e-12, 1e-14), watch)
    }

    /// The same with another relative and absolute tolerance of steps. **Errors** as [`Self::evolve`].
    pub fn evolve_within(self, medium: &Medium, t: f64, step: (f64, f64), watch: impl FnMut(f64, &Self) -> bool) -> Result<Evolved<Self>> {
        let (n, d) = (self.x.n(), self.x.d());
        let field = Field::new(medium, &self.x)?;
        let leg = |mut cloud: Self, left: f64| {
            let mut rates = vec![0.0; n * (d + 1)];
            scaling_converged(field.rates(cloud.x.coordinates(), &mut rates))?;
            let steepest = rates[n * d..].iter().fold(1e-3f64, |m, v| m.max(v.abs()));
            let leg = clipped(2.0 * d as f64 / steepest, left, t);
            let state: Vec<f64> = cloud.x.coordinates().iter().chain(&cloud.log_density).copied().collect();
            let worst = Cell::new(0.0f64);
            let derivative = |y: &[f64], dy: &mut [f64]| worst.set(worst.get().max(field.rates(&y[..n * d], dy)));
            let mut next = advance(derivative, &state, leg, step, 10_000)?;
            scaling_converged(worst.get())?;
            cloud.log_density = next.split_off(n * d);
            for row in next.chunks_exact_mut(d) {
                geometry::retract(row);
            }
            cloud.x = Tokens::new(d, next)?.with_masses(cloud.x.masses())?;
            Ok(Leg::Moved(cloud, leg))
        };
        by_legs(self, t, leg, watch)
    }
}

/// Velocity and `-div v` of the empirical measure of fixed masses.
struct Field {
    medium: Medium,
    d: usize,
    masses: Vec<f64>,
}

impl Field {
    fn new(medium: &Medium, x: &Tokens) -> Result<Self> {
        if medium.diffusion != 0.0 {
            return Err(Error::parameter("noise", 1.0 / medium.diffusion, "no noise with particles that carry the density"));
        }
        in_range("particles", x.n() as f64, 1.0, 1e6)?;
        Ok(Self { medium: *medium, d: x.d(), masses: x.masses().to_vec() })
    }

    /// `e^{beta <x, y> - |beta|}` and `|x - y|^2`.
    fn kernel(&self, x: &[f64], y: &[f64]) -> (f64, f64) {
        let chord = geometry::chord2(x, y);
        let beta = self.medium.beta;
        let far = if beta >= 0.0 { chord } else { geometry::antichord2(x, y) };
        ((-0.5 * beta.abs() * far).exp(), chord)
    }

    /// Velocities (n x d), then `-div v` (n); returns the residual of the Sinkhorn scaling, 0 for other laws.
    fn rates(&self, x: &[f64], out: &mut [f64]) -> f64 {
        let n = self.masses.len();
        let (weights, residual) =
            if self.medium.weights == RowWeights::Sinkhorn { self.scaled_masses(x) } else { (self.masses.clone(), 0.0) };
        let (velocity, fall) = out.split_at_mut(n * self.d);
        let one = |(i, (v, f)): (usize, (&mut [f64], &mut f64))| *f = self.row(x, &weights, i, v);
        if n >= 256 && parallel_allowed() {
            velocity.par_chunks_exact_mut(self.d).zip(fall.par_iter_mut()).enumerate().for_each(one);
        } else {
            velocity.chunks_exact_mut(self.d).zip(fall.iter_mut()).enumerate().for_each(one);
        }
        residual
    }

    /// One particle: writes its velocity, returns its `-div v`.
    fn row(&self, x: &[f64], weights: &[f64], i: usize, v: &mut [f64]) -> f64 {
        let (d, beta) = (self.d, self.medium.beta);
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
        if self.medium.weights == RowWeights::Exponential {
            let scale = beta.abs().exp();
            v.iter_mut().for_each(|v| *v *= scale);
            return scale * (dimension * inner - beta * square);
        }
        v.iter_mut().for_each(|v| *v /= total);
        dimension * inner / total - beta * (square / total - v.iter().map(|v| v * v).sum::<f64>())
    }

    /// `m_j f_j` with `f_i sum_j k_ij m_j f_j = 1`, by the symmetric Sinkhorn iteration `f <- sqrt(f / (k m f))`, and the residual it stopped with.
    fn scaled_masses(&self, x: &[f64]) -> (Vec<f64>, f64) {
        let n = self.masses.len();
        let row = |i: usize| &x[i * self.d..(i + 1) * self.d];
        let k: Vec<f64> = (0..n * n).map(|p| self.kernel(row(p / n), row(p % n)).0).collect();
        let (mut f, mut residual) = (vec![1.0; n], f64::INFINITY);
        for _ in 0..10_000 {
            let weighted: Vec<f64> = self.masses.iter().zip(&f).map(|(m, f)| m * f).collect();
            let s: Vec<f64> = (0..n).map(|i| k[i * n..(i + 1) * n].iter().zip(&weighted).map(|(k, w)| k * w).sum()).collect();
            residual = scaling_residual(&f, &s);
            // Rounding of a sum of n terms of one sign.
            if residual < 1e-14 {
                break;
            }
            f.iter_mut().zip(&s).for_each(|(f, s)| *f = (*f / s).sqrt());
        }
        (self.masses.iter().zip(&f).map(|(m, f)| m * f).collect(), residual)
    }
}
