//! Densities on S^2 by spherical harmonics `Y_lm = P_lm(cos theta) e^{i m phi}`, orthonormal for the uniform probability measure.

use super::density::{Density, bump_degree};
use super::series::{Nodes, Series, energy, kernel};
use super::{Evolved, Limits, Medium, mass, non_negative};
use crate::error::{Error, Result, in_range};
use crate::num::fft::{Complex64, RealFft, plan};
use crate::num::{quadrature::gauss_legendre, stream::Stream};
use crate::sphere::Tokens;
use std::f64::consts::TAU;

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

/// The coefficients of each degree, as long as there are so many.
fn rows(count: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..).map(|l| index(l, 0)..index(l + 1, 0)).take_while(move |row| row.end <= count)
}

/// Nodes, tables and transforms of one degree: Gauss-Legendre in cos theta, equispaced in phi, fine enough for quadratic products.
pub(super) struct Grid {
    degree: usize,
    rings: usize,
    /// Azimuths per ring.
    points: usize,
    /// `sin theta` and weights (sum 1) per ring.
    sine: Vec<f64>,
    weight: Vec<f64>,
    /// `P_lm` and `d P_lm / d theta` per ring, in the order of the triangle.
    p: Vec<Vec<f64>>,
    slope: Vec<Vec<f64>>,
    fft: RealFft,
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

    fn new(degree: usize) -> Self {
        Self::of(degree, Self::rings(degree))
    }

    /// On this many rings; the azimuths are a multiple of twice as many that carries the degree.
    fn of(degree: usize, rings: usize) -> Self {
        let points = 2 * rings * (degree + 1).div_ceil(rings);
        let nodes = gauss_legendre(rings);
        let sine: Vec<f64> = nodes.iter().map(|(x, _)| (1.0 - x * x).sqrt()).collect();
        let (p, slope) = nodes.iter().zip(&sine).map(|((x, _), s)| legendre(degree, *x, *s)).unzip();
        Self { degree, rings, points, sine, weight: nodes.iter().map(|(_, w)| 0.5 * w).collect(), p, slope, fft: plan(points) }
    }

    /// Values on the grid of `sum a_lm table_lm(ring) e^{i m phi}`.
    fn sum(&self, a: &[Complex64], table: &[Vec<f64>]) -> Vec<f64> {
        let mut waves = vec![Complex64::default(); self.degree + 1];
        let ring = |table: &Vec<f64>| {
            waves.fill(Complex64::default());
            for row in rows(a.len()) {
                let terms = a[row.clone()].iter().zip(&table[row]);
                waves.iter_mut().zip(terms).for_each(|(w, (a, p))| *w += a * p);
            }
            self.fft.values(waves.iter().copied())
        };
        table.iter().flat_map(ring).collect()
    }

    /// Integrals of values on the grid against `table_lm(ring) e^{-i m phi}`, the first `count`.
    fn integrals(&self, values: &[f64], table: &[Vec<f64>], count: usize) -> Vec<Complex64> {
        let mut out = vec![Complex64::default(); count];
        for ((values, table), weight) in values.chunks_exact(self.points).zip(table).zip(&self.weight) {
            let waves = self.fft.coefficients(values, self.degree);
            for row in rows(count) {
                let terms = table[row.clone()].iter().zip(&waves);
                out[row].iter_mut().zip(terms).for_each(|(o, (p, w))| *o += weight * p * w);
            }
        }
        out
    }

    /// Values divided by the sine of the colatitude.
    fn over_sine(&self, values: &mut [f64]) {
        for (ring, s) in values.chunks_exact_mut(self.points).zip(&self.sine) {
            ring.iter_mut().for_each(|v| *v /= s);
        }
    }

    /// Refuses negative and non-finite values by their place.
    fn positive(&self, values: &[f64]) -> Result<()> {
        non_negative(values, 1e-12, |j| {
            let (sine, phi) = (self.sine[j / self.points], TAU * (j % self.points) as f64 / self.points as f64);
            let colatitude = if 2 * (j / self.points) < self.rings { sine.asin() } else { std::f64::consts::PI - sine.asin() };
            format!("colatitude {colatitude:.6}, azimuth {phi:.6}")
        })
    }
}

/// The coefficients of `d/d phi`.
fn turned(a: &[Complex64]) -> Vec<Complex64> {
    let wave = |(m, a): (usize, &Complex64)| Complex64::new(-(m as f64) * a.im, m as f64 * a.re);
    rows(a.len()).flat_map(|row| a[row].iter().enumerate().map(wave)).collect()
}

impl Nodes for Grid {
    type Coefficient = Complex64;

    fn d(&self) -> usize {
        3
    }

    fn values(&self, a: &[Complex64]) -> Vec<f64> {
        self.sum(a, &self.p)
    }

    /// To the south and to the east.
    fn gradient(&self, a: &[Complex64]) -> Vec<Vec<f64>> {
        let mut east = self.sum(&turned(a), &self.p);
        self.over_sine(&mut east);
        vec![self.sum(a, &self.slope), east]
    }

    fn divergence(&self, flux: &[Vec<f64>], count: usize) -> Vec<Complex64> {
        let mut east = flux[1].clone();
        self.over_sine(&mut east);
        let mut out = self.integrals(&flux[0], &self.slope, count);
        let east = turned(&self.integrals(&east, &self.p, count));
        out.iter_mut().zip(east).for_each(|(o, e)| *o -= e);
        out
    }

    fn mean(&self, values: &[f64]) -> f64 {
        values.chunks_exact(self.points).zip(&self.weight).map(|(ring, w)| w * ring.iter().sum::<f64>() / self.points as f64).sum()
    }

    fn degrees() -> impl Iterator<Item = usize> {
        (0..).flat_map(|l: usize| std::iter::repeat_n(l, l + 1))
    }

    fn power(a: &[Complex64]) -> Vec<f64> {
        let square = |row: &[Complex64]| row[0].norm_sqr() + row[1..].iter().map(|a| 2.0 * a.norm_sqr()).sum::<f64>();
        rows(a.len()).map(|row| square(&a[row])).collect()
    }
}

impl Series for Sphere2 {
    type Nodes = Grid;
    const TAIL: f64 = 1e-9;
    const LARGEST: usize = 128;

    fn degree(&self) -> usize {
        self.degree
    }

    fn coefficients(&self) -> &[Complex64] {
        &self.a
    }

    fn with(&self, degree: usize, a: Vec<Complex64>) -> Self {
        Self { degree, a }
    }

    fn below(degree: usize) -> usize {
        index(degree, 0)
    }

    fn nodes(&self, fine: bool) -> Result<Grid> {
        Ok(if fine { self.fine() } else { Grid::new(self.degree) })
    }
}

impl Sphere2 {
    /// From a density, with at least degree `degree` and as high a one as it needs ([`Density::degree`]); a noise term gives every `a_lm` up to its degree an
    /// independent normal value.
    ///
    /// **Errors** a degree outside [4, 256], sine terms, negative values (the place is named), no mass.
    pub fn from_density(density: &Density, degree: usize) -> Result<Self> {
        let degree = enough(degree, density.degree(3))?;
        let grid = Grid::new(degree);
        let mut values = Vec::with_capacity(grid.rings * grid.points);
        for (x, _) in gauss_legendre(grid.rings) {
            for j in 0..grid.points {
                values.push(density.on_sphere(x, TAU * j as f64 / grid.points as f64)?);
            }
        }
        let mut out = Self { degree, a: grid.integrals(&values, &grid.p, index(degree + 1, 0)) };
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
        let grid = Grid::new(degree);
        grid.positive(values)?;
        let out = Self { degree, a: grid.integrals(values, &grid.p, index(degree + 1, 0)) };
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
        let lambda = kernel(3, bandwidth, degree);
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
        let mass = mass(self.a[0].re)?;
        self.a.iter_mut().for_each(|c| *c /= mass);
        // A density with corners rings a little about zero.
        let lowest = -1e-9 * self.a.iter().map(|c| c.norm()).fold(1.0, f64::max);
        let values: Vec<f64> = self.values().into_iter().map(|v| if v > lowest { v.max(0.0) } else { v }).collect();
        grid.positive(&values).map(|()| self)
    }

    /// Values ring by ring (Gauss-Legendre, north first), [`Sphere2::rings`] rings of twice as many equispaced azimuths.
    pub fn values(&self) -> Vec<f64> {
        Grid::new(self.degree).values(&self.a)
    }

    /// Values on this many rings (Gauss-Legendre, north first) of twice as many equispaced azimuths.
    pub fn values_on(&self, rings: usize) -> Vec<f64> {
        let grid = Grid::of(self.degree, rings);
        let values = grid.values(&self.a);
        values.into_iter().step_by(grid.points / (2 * rings)).collect()
    }

    /// Number of rings of [`Sphere2::values`].
    pub fn rings(&self) -> usize {
        Grid::rings(self.degree)
    }

    /// Interaction energy above that of the uniform measure, as [`super::circle::Circle::energy`].
    pub fn energy(&self, medium: &Medium) -> f64 {
        energy(3, medium.beta, &Grid::power(&self.a))
    }

    /// Its rate of change by the dissipation identity, as [`super::circle::Circle::energy_rate`]; not a number for Sinkhorn attention.
    pub fn energy_rate(&self, medium: &Medium) -> f64 {
        self.operator(medium, true).and_then(|operator| operator.energy_rate(&self.a)).unwrap_or(f64::NAN)
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

    /// The grid for integrals of functions that are no products.
    fn fine(&self) -> Grid {
        Grid::new(2 * self.degree)
    }

    /// Negentropy `integral rho log rho d sigma`.
    pub fn negentropy(&self) -> f64 {
        self.fine().negentropy(&self.a)
    }

    /// Its production `-integral rho div v d sigma` minus what noise destroys, `(1/kappa) integral |grad rho|^2 / rho`; not a number for Sinkhorn attention.
    pub fn negentropy_rate(&self, medium: &Medium) -> f64 {
        self.operator(medium, true).and_then(|operator| operator.negentropy_rate(&self.a)).unwrap_or(f64::NAN)
    }

    /// One right-hand side, the time derivatives of the coefficients, on a prepared grid; none for Sinkhorn attention.
    pub fn right_hand_side(&self, medium: &Medium) -> impl Fn(&[Complex64]) -> Vec<Complex64> + use<> {
        let operator = self.operator(medium, false);
        move |a| operator.as_ref().ok().and_then(|operator| operator.rates(a).ok()).unwrap_or_default()
    }

    /// Evolves by time `t`, doubling the degree up to `most` (at most 128) whenever the highest fifth of the degrees exceeds 1e-9 of the largest coefficient.
    ///
    /// **Returns** as [`super::circle::Circle::evolve`]. **Errors** Sinkhorn attention.
    pub fn evolve(self, medium: &Medium, t: f64, most: impl Into<Limits>, watch: impl FnMut(f64, &Self) -> bool) -> Result<Evolved<Self>> {
        self.evolve_resolved(medium, t, most.into(), watch)
    }
}
