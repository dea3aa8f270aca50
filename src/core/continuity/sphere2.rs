//! Densities on S^2 by spherical harmonics `Y_lm = P_lm(cos theta) e^{i m phi}`, orthonormal for the uniform probability measure.

use super::density::{Density, bump_degree};
use super::legs::{Leg, by_legs, clipped};
use super::zonal::{lambda_over_beta, signed_funk_hecke};
use super::{Evolved, Limits, Medium};
use crate::attention::RowWeights;
use crate::error::{Error, Result, in_range};
use crate::num::{ode::advance, quadrature::gauss_legendre, stream::Stream};
use crate::sphere::Tokens;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex, num_complex::Complex64};
use std::f64::consts::TAU;
use std::sync::Arc;

/// A density `rho = sum_l [a_l0 P_l0 + 2 Re sum_{m > 0} a_lm P_lm e^{i m phi}]`, `a_00 = 1`, relative to the uniform measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Sphere2 {
    /// Largest degree L.
    pub degree: usize,
    /// `a_lm` at `index(l, m)`, m = 0..=l.
    pub a: Vec<Complex64>,
}

/// Place of (l, m) in a triangle.
pub fn index(l: usize, m: usize) -> usize {
    l * (l + 1) / 2 + m
}

/// Nodes, tables and transforms of one degree: Gauss-Legendre in cos theta, equispaced in phi, fine enough for quadratic products.
struct Grid {
    degree: usize,
    rings: usize,
    points: usize,
    /// `sin theta` and weights (sum 1) per ring.
    sine: Vec<f64>,
    weight: Vec<f64>,
    /// `P_lm` and `d P_lm / d theta` per ring, in the order of the triangle.
    p: Vec<Vec<f64>>,
    slope: Vec<Vec<f64>>,
    lambda: Vec<f64>,
    forward: Arc<dyn RealToComplex<f64>>,
    backward: Arc<dyn ComplexToReal<f64>>,
}

/// `P_lm` and its derivative in theta for one colatitude, by the three-term recurrence in l.
fn legendre(degree: usize, x: f64, s: f64) -> (Vec<f64>, Vec<f64>) {
    let size = index(degree, degree) + 1;
    let (mut p, mut slope) = (vec![0.0; size], vec![0.0; size]);
    p[0] = 1.0;
    for m in 1..=degree {
        p[index(m, m)] = ((2 * m + 1) as f64 / (2 * m) as f64).sqrt() * s * p[index(m - 1, m - 1)];
    }
    for m in 0..=degree {
        for l in m + 1..=degree {
            let (lf, mf) = (l as f64, m as f64);
            let a = ((4.0 * lf * lf - 1.0) / (lf * lf - mf * mf)).sqrt();
            let b = if l > m + 1 {
                (((lf - 1.0).powi(2) - mf * mf) / (4.0 * (lf - 1.0).powi(2) - 1.0)).sqrt() * p[index(l - 2, m)]
            } else {
                0.0
            };
            p[index(l, m)] = a * (x * p[index(l - 1, m)] - b);
        }
        for l in m..=degree {
            let (lf, mf) = (l as f64, m as f64);
            let before = if l > m { ((2.0 * lf + 1.0) / (2.0 * lf - 1.0) * (lf * lf - mf * mf)).sqrt() * p[index(l - 1, m)] } else { 0.0 };
            slope[index(l, m)] = (lf * x * p[index(l, m)] - before) / s;
        }
    }
    (p, slope)
}

/// The degree asked for, or what a density needs, even. **Errors** outside [4, 256].
fn enough(degree: usize, needed: usize) -> Result<usize> {
    let degree = if needed > degree { needed.next_multiple_of(2) } else { degree };
    if (4..=256).contains(&degree) {
        return Ok(degree);
    }
    Err(Error::parameter("density", format!("degree {degree}"), "a degree in [4, 256]: wider bumps, or zonal densities, which go further"))
}

impl Grid {
    fn rings(degree: usize) -> usize {
        3 * degree / 2 + 2
    }

    fn new(degree: usize, beta: f64) -> Self {
        Self::of(degree, beta, Self::rings(degree))
    }

    /// On this many rings; the azimuths are a multiple of twice as many that carries the degree.
    fn of(degree: usize, beta: f64, rings: usize) -> Self {
        let points = 2 * rings * (degree + 1).div_ceil(rings);
        let nodes = gauss_legendre(rings);
        let sine: Vec<f64> = nodes.iter().map(|(x, _)| (1.0 - x * x).sqrt()).collect();
        let tables: Vec<(Vec<f64>, Vec<f64>)> = nodes.iter().zip(&sine).map(|((x, _), s)| legendre(degree, *x, *s)).collect();
        let (p, slope) = tables.into_iter().unzip();
        let lambda = signed_funk_hecke(3, beta, degree);
        let mut planner = RealFftPlanner::new();
        let (forward, backward) = (planner.plan_fft_forward(points), planner.plan_fft_inverse(points));
        Self { degree, rings, points, sine, weight: nodes.iter().map(|(_, w)| 0.5 * w).collect(), p, slope, lambda, forward, backward }
    }

    /// Values on the grid of `sum factor(l, m, ring) a_lm e^{i m phi}`.
    fn values(&self, a: &[Complex64], factor: impl Fn(usize, usize, usize, usize) -> Complex64) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.rings * self.points);
        let (mut spectrum, mut line) = (self.backward.make_input_vec(), self.backward.make_output_vec());
        for ring in 0..self.rings {
            spectrum.iter_mut().for_each(|s| *s = Complex64::default());
            for l in 0..=self.degree {
                for (m, s) in spectrum.iter_mut().enumerate().take(l + 1) {
                    let k = index(l, m);
                    *s += a[k] * factor(l, m, k, ring);
                }
            }
            spectrum[0].im = 0.0;
            // Lengths are those of the plan, the only way to fail.
            let _ = self.backward.process(&mut spectrum, &mut line);
            out.extend_from_slice(&line);
        }
        out
    }

    /// Fourier coefficients per ring, m = 0..=degree.
    fn rings_of(&self, values: &[f64]) -> Vec<Vec<Complex64>> {
        let mut line = self.forward.make_input_vec();
        values
            .chunks_exact(self.points)
            .map(|ring| {
                line.copy_from_slice(ring);
                let mut out = self.forward.make_output_vec();
                let _ = self.forward.process(&mut line, &mut out);
                out.truncate(self.degree + 1);
                out.iter_mut().for_each(|c| *c /= self.points as f64);
                out
            })
            .collect()
    }

    /// Coefficients `a_lm` of values on the grid.
    fn coefficients(&self, values: &[f64]) -> Vec<Complex64> {
        let mut a = vec![Complex64::default(); index(self.degree, self.degree) + 1];
        for (ring, line) in self.rings_of(values).iter().enumerate() {
            for l in 0..=self.degree {
                (0..=l).for_each(|m| a[index(l, m)] += self.weight[ring] * self.p[ring][index(l, m)] * line[m]);
            }
        }
        a
    }

    /// Refuses negative and non-finite values by their place.
    fn positive(&self, values: &[f64]) -> Result<()> {
        let Some(j) = values.iter().position(|v| !v.is_finite() || *v < -1e-12) else { return Ok(()) };
        let (sine, phi) = (self.sine[j / self.points], TAU * (j % self.points) as f64 / self.points as f64);
        let colatitude = if 2 * (j / self.points) < self.rings { sine.asin() } else { std::f64::consts::PI - sine.asin() };
        let found = format!("{} at colatitude {colatitude:.6}, azimuth {phi:.6}", values[j]);
        Err(Error::parameter("density", found, "finite values >= 0 everywhere"))
    }

    fn mean(&self, values: &[f64]) -> f64 {
        values.chunks_exact(self.points).zip(&self.weight).map(|(ring, w)| w * ring.iter().sum::<f64>() / self.points as f64).sum()
    }

    /// Density, the two components of the velocity, and `-div v`.
    fn field(&self, medium: &Medium, a: &[Complex64]) -> (Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>) {
        let beta = medium.beta;
        let real = |v: f64| Complex64::new(v, 0.0);
        let over = lambda_over_beta(3, beta, self.degree);
        let density = self.values(a, |_, _, k, ring| real(self.p[ring][k]));
        let mut north = self.values(a, |l, _, k, ring| real(over[l] * self.slope[ring][k]));
        let mut east = self.values(a, |l, m, k, ring| Complex64::new(0.0, over[l] * m as f64 * self.p[ring][k] / self.sine[ring]));
        let mut fall = self.values(a, |l, _, k, ring| real(over[l] * (l * (l + 1)) as f64 * self.p[ring][k]));
        if medium.weights == RowWeights::Softmax {
            let w = self.values(a, |l, _, k, ring| real(self.lambda[l] * self.p[ring][k]));
            for j in 0..w.len() {
                (north[j], east[j]) = (north[j] / w[j], east[j] / w[j]);
                fall[j] = fall[j] / w[j] + beta * (north[j] * north[j] + east[j] * east[j]);
            }
        } else {
            let scale = beta.abs().exp();
            [&mut north, &mut east, &mut fall].into_iter().flatten().for_each(|v| *v *= scale);
        }
        (density, north, east, fall)
    }

    /// `d a_lm / dt = integral rho v . grad conj(Y_lm)` minus diffusion.
    fn rates(&self, medium: &Medium, a: &[Complex64]) -> Vec<Complex64> {
        let (density, mut north, mut east, _) = self.field(medium, a);
        north.iter_mut().zip(&density).for_each(|(v, r)| *v *= r);
        east.iter_mut().zip(&density).for_each(|(v, r)| *v *= r);
        let (north, east) = (self.rings_of(&north), self.rings_of(&east));
        let mut out = vec![Complex64::default(); a.len()];
        for ring in 0..self.rings {
            for l in 0..=self.degree {
                for m in 0..=l {
                    let k = index(l, m);
                    let turned = Complex64::new(0.0, -(m as f64) * self.p[ring][k] / self.sine[ring]);
                    out[k] += self.weight[ring] * (north[ring][m] * self.slope[ring][k] + east[ring][m] * turned);
                }
            }
        }
        for l in 0..=self.degree {
            (0..=l).for_each(|m| out[index(l, m)] -= a[index(l, m)] * medium.diffusion * (l * (l + 1)) as f64);
        }
        out
    }
}

impl Sphere2 {
    /// From a density, with at least degree `degree` and as high a one as it needs ([`Density::degree`]); a noise term gives every `a_lm` up to its degree an
    /// independent normal value.
    ///
    /// **Errors** a degree outside [4, 256], sine terms, negative values (the place is named), no mass.
    pub fn from_density(density: &Density, degree: usize) -> Result<Self> {
        let degree = enough(degree, density.degree(3))?;
        let grid = Grid::new(degree, 0.0);
        let mut values = Vec::with_capacity(grid.rings * grid.points);
        for (x, _) in gauss_legendre(grid.rings) {
            for j in 0..grid.points {
                values.push(density.on_sphere(x, TAU * j as f64 / grid.points as f64)?);
            }
        }
        let mut out = Self { degree, a: grid.coefficients(&values) };
        for noise in density.noises() {
            let mut stream = Stream::new(noise.seed, &["density", "noise", "sphere"]);
            for l in 1..=noise.modes.min(degree) {
                out.a[index(l, 0)].re += noise.amplitude * stream.normal();
                for m in 1..=l {
                    out.a[index(l, m)] += noise.amplitude * Complex64::new(stream.normal(), stream.normal()) * 0.5f64.sqrt();
                }
            }
        }
        out.checked(&grid)
    }

    /// From values on a grid of this many rings (Gauss-Legendre colatitudes, north first) and twice as many equispaced azimuths, as [`Sphere2::values`] gives them.
    ///
    /// **Errors** another shape, negative values (the place is named), no mass.
    pub fn from_values(values: &[f64], rings: usize) -> Result<Self> {
        let degree = (2 * rings.saturating_sub(2)) / 3;
        if !(4..=256).contains(&degree) || Grid::rings(degree) != rings || values.len() != 2 * rings * rings {
            let expected = "R Gauss-Legendre rings of 2 R azimuths, R = 3 L / 2 + 2 for an even degree L in 4..=256";
            return Err(Error::parameter("values", format!("{} values in {rings} rings", values.len()), expected));
        }
        let grid = Grid::new(degree, 0.0);
        grid.positive(values)?;
        let out = Self { degree, a: grid.coefficients(values) };
        let size = values.iter().copied().fold(0.0, f64::max);
        let lost = out.values().iter().zip(values).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if lost > 1e-9 * size {
            let found = format!("values that degree {degree} misses by {:.1e} of the largest", lost / size);
            return Err(Error::parameter("values", found, "values on more rings, of a density without corners"));
        }
        out.checked(&grid)
    }

    /// The estimate of tokens with kernel `e^{bandwidth <x, y>}`. **Errors** d not 3, as [`Sphere2::from_density`].
    pub fn from_tokens(x: &Tokens, bandwidth: f64, degree: usize) -> Result<Self> {
        in_range("bandwidth", bandwidth, 0.0, 1e5)?;
        let degree = enough(degree, bump_degree(3, bandwidth))?;
        if x.d() != 3 {
            return Err(Error::parameter("tokens", format!("d = {}", x.d()), "points on S^2, three coordinates a row"));
        }
        let lambda = signed_funk_hecke(3, bandwidth, degree);
        let mut a = vec![Complex64::default(); index(degree, degree) + 1];
        for (row, mass) in x.rows().zip(x.masses()) {
            let s = row[0].hypot(row[1]).max(1e-300);
            let p = legendre(degree, row[2], s).0;
            let turn = Complex64::new(row[0] / s, -row[1] / s);
            let mut phase = Complex64::new(*mass / lambda[0], 0.0);
            for m in 0..=degree {
                (m..=degree).for_each(|l| a[index(l, m)] += phase * p[index(l, m)] * lambda[l]);
                phase *= turn;
            }
        }
        Ok(Self { degree, a })
    }

    /// Scales to mass 1 and refuses negative values.
    fn checked(mut self, grid: &Grid) -> Result<Self> {
        let mass = self.a[0].re;
        if mass.is_nan() || mass <= 0.0 {
            return Err(Error::parameter("density", "no mass", "a positive integral"));
        }
        self.a.iter_mut().for_each(|c| *c /= mass);
        // A density with corners rings a little about zero.
        let lowest = -1e-9 * self.a.iter().map(|c| c.norm()).fold(1.0, f64::max);
        let values: Vec<f64> = self.values().into_iter().map(|v| if v > lowest { v.max(0.0) } else { v }).collect();
        grid.positive(&values).map(|()| self)
    }

    /// Values ring by ring (Gauss-Legendre, north first), [`Sphere2::rings`] rings of twice as many equispaced azimuths.
    pub fn values(&self) -> Vec<f64> {
        let grid = Grid::new(self.degree, 0.0);
        grid.values(&self.a, |_, _, k, ring| Complex64::new(grid.p[ring][k], 0.0))
    }

    /// Values on this many rings (Gauss-Legendre, north first) of twice as many equispaced azimuths.
    pub fn values_on(&self, rings: usize) -> Vec<f64> {
        let grid = Grid::of(self.degree, 0.0, rings);
        let values = grid.values(&self.a, |_, _, k, ring| Complex64::new(grid.p[ring][k], 0.0));
        values.into_iter().step_by(grid.points / (2 * rings)).collect()
    }

    /// Number of rings of [`Sphere2::values`].
    pub fn rings(&self) -> usize {
        Grid::rings(self.degree)
    }

    /// Interaction energy above that of the uniform measure, as [`super::circle::Circle::energy`].
    pub fn energy(&self, medium: &Medium) -> f64 {
        0.5 * medium.beta.abs().exp() * self.weighted_squares(&lambda_over_beta(3, medium.beta, self.degree), |_| 1.0)
    }

    /// Its rate of change by the dissipation identity, as [`super::circle::Circle::energy_rate`].
    pub fn energy_rate(&self, medium: &Medium) -> f64 {
        let grid = Grid::new(2 * self.degree, medium.beta);
        let fine = self.resized(2 * self.degree);
        let (density, north, east, _) = grid.field(medium, &fine.a);
        // The gradient of W / beta is the velocity of USA, in units of e^{|beta|}.
        let (_, pull_north, pull_east, _) = grid.field(&Medium { weights: RowWeights::Exponential, ..*medium }, &fine.a);
        let power: Vec<f64> = (0..density.len()).map(|j| density[j] * (north[j] * pull_north[j] + east[j] * pull_east[j])).collect();
        let lost = self.weighted_squares(&lambda_over_beta(3, medium.beta, self.degree), |l| (l * (l + 1)) as f64);
        grid.mean(&power) - medium.diffusion * medium.beta.abs().exp() * lost
    }

    /// `sum_{l > 0, m} w_l factor(l) |a_lm|^2` over all m, of either sign.
    fn weighted_squares(&self, w: &[f64], factor: impl Fn(usize) -> f64) -> f64 {
        let square = |l: usize, m: usize| if m == 0 { 1.0 } else { 2.0 } * self.a[index(l, m)].norm_sqr();
        (1..=self.degree).map(|l| w[l] * factor(l) * (0..=l).map(|m| square(l, m)).sum::<f64>()).sum()
    }

    /// Coefficients of `P_l(cos theta)` with `P_l(1) = 1` in the zonal part, `1` first.
    pub fn zonal_coefficients(&self) -> Vec<f64> {
        (0..=self.degree).map(|l| self.a[index(l, 0)].re * (2.0 * l as f64 + 1.0).sqrt()).collect()
    }

    /// Length of the mean `integral x d mu`.
    pub fn mean_length(&self) -> f64 {
        let (z, w) = (self.a[index(1, 0)].re, self.a[index(1, 1)]);
        // x_3 = P_10 / sqrt 3, x_1 + i x_2 = sqrt(2/3) P_11 e^{i phi}.
        (z * z / 3.0 + 2.0 / 3.0 * w.norm_sqr()).sqrt()
    }

    /// Negentropy `integral rho log rho d sigma`.
    pub fn negentropy(&self) -> f64 {
        let grid = Grid::new(2 * self.degree, 0.0);
        let values = grid.values(&self.resized(2 * self.degree).a, |_, _, k, ring| Complex64::new(grid.p[ring][k], 0.0));
        grid.mean(&values.iter().map(|r| if *r > 0.0 { r * r.ln() } else { 0.0 }).collect::<Vec<_>>())
    }

    /// Its production `-integral rho div v d sigma` minus what noise destroys, `(1/kappa) integral |grad rho|^2 / rho`.
    pub fn negentropy_rate(&self, medium: &Medium) -> f64 {
        let grid = Grid::new(2 * self.degree, medium.beta);
        let fine = self.resized(2 * self.degree).a;
        let (density, _, _, fall) = grid.field(medium, &fine);
        let produced = grid.mean(&density.iter().zip(&fall).map(|(r, f)| r * f).collect::<Vec<_>>());
        if medium.diffusion == 0.0 {
            return produced;
        }
        let north = grid.values(&fine, |_, _, k, ring| Complex64::new(grid.slope[ring][k], 0.0));
        let east = grid.values(&fine, |_, m, k, ring| Complex64::new(0.0, m as f64 * grid.p[ring][k] / grid.sine[ring]));
        let fisher = |j: usize| if density[j] > 0.0 { (north[j] * north[j] + east[j] * east[j]) / density[j] } else { 0.0 };
        produced - medium.diffusion * grid.mean(&(0..density.len()).map(fisher).collect::<Vec<_>>())
    }

    /// One right-hand side, the time derivatives of the coefficients, on a prepared grid.
    pub fn right_hand_side(&self, medium: &Medium) -> impl Fn(&[Complex64]) -> Vec<Complex64> + use<> {
        let (grid, medium) = (Grid::new(self.degree, medium.beta), *medium);
        move |a| grid.rates(&medium, a)
    }

    fn resized(&self, degree: usize) -> Self {
        let mut a = self.a.clone();
        a.resize(index(degree, degree) + 1, Complex64::default());
        Self { degree, a }
    }

    /// Size of the degrees above four fifths of L over the largest coefficient.
    pub fn tail(&self) -> f64 {
        let most = self.a.iter().map(|c| c.norm()).fold(0.0, f64::max);
        self.a[index(self.degree * 4 / 5, 0)..].iter().map(|c| c.norm()).fold(0.0, f64::max) / most
    }

    /// Evolves by time `t`, doubling the degree up to `most` (at most 128) whenever the tail exceeds 1e-9.
    ///
    /// **Returns** as [`super::circle::Circle::evolve`]. **Errors** Sinkhorn attention.
    pub fn evolve(self, medium: &Medium, t: f64, most: impl Into<Limits>, watch: impl FnMut(f64, &Self) -> bool) -> Result<Evolved<Self>> {
        if medium.weights == RowWeights::Sinkhorn {
            return Err(Error::parameter("dynamics", "sinkhorn", "sa or usa on S^2"));
        }
        let limits: Limits = most.into();
        let Limits { modes: most, relax } = limits;
        let resolved = 1e-9 * relax;
        let most = most.min(128);
        let mut grid = Grid::new(self.degree, medium.beta);
        let leg = |density: Self, left: f64| {
            let degree = density.degree;
            if grid.degree != degree {
                grid = Grid::new(degree, medium.beta);
            }
            let (_, _, _, fall) = grid.field(medium, &density.a);
            let steepest = fall.iter().fold(1.0f64, |m, v| m.max(v.abs()));
            let leg = clipped(limits.leg() / steepest, left, t);
            let derivative = |y: &[f64], dy: &mut [f64]| {
                let a: Vec<Complex64> = y.chunks_exact(2).map(|p| Complex64::new(p[0], p[1])).collect();
                grid.rates(medium, &a).iter().zip(dy.chunks_exact_mut(2)).for_each(|(r, d)| (d[0], d[1]) = (r.re, r.im));
            };
            let packed: Vec<f64> = density.a.iter().flat_map(|c| [c.re, c.im]).collect();
            let next = advance(derivative, &packed, leg, (1e-10 * relax, 1e-12 * relax), 300);
            let next = next.map(|y| Self { degree, a: y.chunks_exact(2).map(|p| Complex64::new(p[0], p[1])).collect() });
            Ok(match next.ok().filter(|n| n.tail() <= resolved && density.tail() <= resolved) {
                Some(next) => Leg::Moved(next, leg),
                None if degree >= most => Leg::UnderResolved(density),
                None => Leg::Finer(density.resized((2 * degree).min(most))),
            })
        };
        by_legs(self, t, leg, watch)
    }
}
