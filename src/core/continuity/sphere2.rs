//! Densities on S^2 by spherical harmonics `Y_lm = P_lm(cos theta) e^{i m phi}`, orthonormal for
//! the uniform probability measure.

use super::density::{Density, bump_degree};
use super::series::{Nodes, Series, energy, energy_with_error, kernel};
use super::{Evolution, Limits, MeasureDynamics, check_non_negative, positive_mass};
use crate::error::{Error, Result, in_range};
use crate::num::fft::{Complex64, RealFft, plan};
use crate::num::{quadrature::gauss_legendre, stream::Stream};
use crate::sphere::Tokens;
use std::f64::consts::TAU;

/// A density `rho = sum_l [a_l0 P_l0 + 2 Re sum_{m > 0} a_lm P_lm e^{i m phi}]`, `a_00 = 1`,
/// relative to the uniform measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Sphere2 {
    /// Largest degree L.
    pub degree: usize,
    /// `a_lm` at `index(l, m)`, m = 0..=l.
    pub a: Vec<Complex64>,
}

/// Index of (l, m) in the list of coefficients.
pub fn index(l: usize, m: usize) -> usize {
    l * (l + 1) / 2 + m
}

/// Ranges of the coefficients of each degree, in a list of `count` coefficients.
fn degree_rows(count: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..).map(|l| index(l, 0)..index(l + 1, 0)).take_while(move |row| row.end <= count)
}

/// Nodes, tables and transforms for one degree: Gauss-Legendre in cos theta, equispaced in phi,
/// exact for quadratic products.
pub(super) struct Grid {
    degree: usize,
    rings: usize,
    /// Number of azimuths per ring.
    points: usize,
    /// `sin theta` and weights (sum 1) per ring.
    sine: Vec<f64>,
    weight: Vec<f64>,
    /// `P_lm` and `d P_lm / d theta` per ring, ordered by [`index`].
    p: Vec<Vec<f64>>,
    slope: Vec<Vec<f64>>,
    fft: RealFft,
}

/// `P_lm` and its derivative in theta at one colatitude, by the three-term recurrence in l.
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
                (((lf - 1.0).powi(2) - mf * mf) / (4.0 * (lf - 1.0).powi(2) - 1.0)).sqrt()
                    * p[index(l - 2, m)]
            } else {
                0.0
            };
            p[index(l, m)] = a * (x * p[index(l - 1, m)] - b);
        }
        for l in m..=degree {
            let (lf, mf) = (l as f64, m as f64);
            let before = if l > m {
                ((2.0 * lf + 1.0) / (2.0 * lf - 1.0) * (lf * lf - mf * mf)).sqrt()
                    * p[index(l - 1, m)]
            } else {
                0.0
            };
            slope[index(l, m)] = (lf * x * p[index(l, m)] - before) / s;
        }
    }
    (p, slope)
}

/// The degree, at least as high as the density needs, then even. **Errors** a degree outside [4,
/// 256].
fn check_degree(degree: usize, needed: usize) -> Result<usize> {
    let degree = if needed > degree { needed.next_multiple_of(2) } else { degree };
    if (4..=256).contains(&degree) {
        return Ok(degree);
    }
    Err(Error::parameter(
        "density",
        format!("degree {degree}"),
        "a degree in [4, 256]; use wider bumps, or a zonal density, which allows a higher degree",
    ))
}

impl Grid {
    fn rings(degree: usize) -> usize {
        3 * degree / 2 + 2
    }

    fn new(degree: usize) -> Self {
        Self::with_rings(degree, Self::rings(degree))
    }

    /// A grid with this number of rings. The number of azimuths is a multiple of twice that, enough
    /// for the degree.
    fn with_rings(degree: usize, rings: usize) -> Self {
        let points = 2 * rings * (degree + 1).div_ceil(rings);
        let nodes = gauss_legendre(rings);
        let sine: Vec<f64> = nodes.iter().map(|(x, _)| (1.0 - x * x).sqrt()).collect();
        let (p, slope) =
            nodes.iter().zip(&sine).map(|((x, _), s)| legendre(degree, *x, *s)).unzip();
        Self {
            degree,
            rings,
            points,
            sine,
            weight: nodes.iter().map(|(_, w)| 0.5 * w).collect(),
            p,
            slope,
            fft: plan(points),
        }
    }

    /// Values on the grid of `sum a_lm table_lm(ring) e^{i m phi}`.
    fn sum(&self, a: &[Complex64], table: &[Vec<f64>]) -> Vec<f64> {
        let mut waves = vec![Complex64::default(); self.degree + 1];
        let ring = |table: &Vec<f64>| {
            waves.fill(Complex64::default());
            for row in degree_rows(a.len()) {
                let terms = a[row.clone()].iter().zip(&table[row]);
                waves.iter_mut().zip(terms).for_each(|(w, (a, p))| *w += a * p);
            }
            self.fft.values(waves.iter().copied())
        };
        table.iter().flat_map(ring).collect()
    }

    /// The first `count` integrals of values on the grid times `table_lm(ring) e^{-i m phi}`.
    fn integrals(&self, values: &[f64], table: &[Vec<f64>], count: usize) -> Vec<Complex64> {
        let mut out = vec![Complex64::default(); count];
        for ((values, table), weight) in
            values.chunks_exact(self.points).zip(table).zip(&self.weight)
        {
            let waves = self.fft.coefficients(values, self.degree);
            for row in degree_rows(count) {
                let terms = table[row.clone()].iter().zip(&waves);
                out[row].iter_mut().zip(terms).for_each(|(o, (p, w))| *o += weight * p * w);
            }
        }
        out
    }

    /// Divides values by the sine of the colatitude.
    fn divide_by_sine(&self, values: &mut [f64]) {
        for (ring, s) in values.chunks_exact_mut(self.points).zip(&self.sine) {
            ring.iter_mut().for_each(|v| *v /= s);
        }
    }

    /// Rejects negative and non-finite values; the error names their place.
    fn check_positive(&self, values: &[f64]) -> Result<()> {
        check_non_negative(values, 1e-12, |j| {
            let (sine, phi) =
                (self.sine[j / self.points], TAU * (j % self.points) as f64 / self.points as f64);
            let colatitude = if 2 * (j / self.points) < self.rings {
                sine.asin()
            } else {
                std::f64::consts::PI - sine.asin()
            };
            format!("colatitude {colatitude:.6}, azimuth {phi:.6}")
        })
    }
}

/// The coefficients of `d/d phi`.
fn azimuthal_derivative(a: &[Complex64]) -> Vec<Complex64> {
    let wave = |(m, a): (usize, &Complex64)| Complex64::new(-(m as f64) * a.im, m as f64 * a.re);
    degree_rows(a.len()).flat_map(|row| a[row].iter().enumerate().map(wave)).collect()
}

impl Nodes for Grid {
    type Coefficient = Complex64;

    fn d(&self) -> usize {
        3
    }

    fn values(&self, a: &[Complex64]) -> Vec<f64> {
        self.sum(a, &self.p)
    }

    /// Components towards south and east.
    fn gradient(&self, a: &[Complex64]) -> Vec<Vec<f64>> {
        let mut east = self.sum(&azimuthal_derivative(a), &self.p);
        self.divide_by_sine(&mut east);
        vec![self.sum(a, &self.slope), east]
    }

    fn divergence(&self, flux: &[Vec<f64>], count: usize) -> Vec<Complex64> {
        let mut east = flux[1].clone();
        self.divide_by_sine(&mut east);
        let mut out = self.integrals(&flux[0], &self.slope, count);
        let east = azimuthal_derivative(&self.integrals(&east, &self.p, count));
        out.iter_mut().zip(east).for_each(|(o, e)| *o -= e);
        out
    }

    fn mean(&self, values: &[f64]) -> f64 {
        values
            .chunks_exact(self.points)
            .zip(&self.weight)
            .map(|(ring, w)| w * ring.iter().sum::<f64>() / self.points as f64)
            .sum()
    }

    fn degrees() -> impl Iterator<Item = usize> {
        (0..).flat_map(|l: usize| std::iter::repeat_n(l, l + 1))
    }

    fn power(a: &[Complex64]) -> Vec<f64> {
        let square = |row: &[Complex64]| {
            row[0].norm_sqr() + row[1..].iter().map(|a| 2.0 * a.norm_sqr()).sum::<f64>()
        };
        degree_rows(a.len()).map(|row| square(&a[row])).collect()
    }
}

impl Series for Sphere2 {
    type Nodes = Grid;
    const RESOLVED_TAIL: f64 = 1e-9;
    const MAX_DEGREE: usize = 128;

    fn degree(&self) -> usize {
        self.degree
    }

    fn coefficients(&self) -> &[Complex64] {
        &self.a
    }

    fn with_coefficients(&self, degree: usize, a: Vec<Complex64>) -> Self {
        Self { degree, a }
    }

    fn count_below(degree: usize) -> usize {
        index(degree, 0)
    }

    fn nodes(&self, fine: bool) -> Result<Grid> {
        Ok(if fine { self.fine() } else { Grid::new(self.degree) })
    }
}

impl Sphere2 {
    /// From a density, with at least degree `degree` and as high a degree as it needs
    /// ([`Density::degree`]). A noise term gives every `a_lm` up to its degree an independent
    /// normal value.
    ///
    /// **Errors** a degree outside [4, 256], sine terms, negative values (the error names the
    /// place), no mass.
    pub fn from_density(density: &Density, degree: usize) -> Result<Self> {
        let degree = check_degree(degree, density.degree(3))?;
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
                    out.a[index(l, m)] += noise.amplitude
                        * Complex64::new(stream.normal(), stream.normal())
                        * 0.5f64.sqrt();
                }
            }
        }
        out.normalised(&grid)
    }

    /// From values on a grid of `rings` Gauss-Legendre colatitudes (north first) with twice as many
    /// equispaced azimuths, as given by [`Sphere2::values`].
    ///
    /// **Errors** another shape, negative values (the error names the place), no mass.
    pub fn from_values(values: &[f64], rings: usize) -> Result<Self> {
        let degree = (2 * rings.saturating_sub(2)) / 3;
        if !(4..=256).contains(&degree)
            || Grid::rings(degree) != rings
            || values.len() != 2 * rings * rings
        {
            let expected = "R Gauss-Legendre rings of 2 R azimuths, R = 3 L / 2 + 2 for an even degree L in 4..=256";
            return Err(Error::parameter(
                "values",
                format!("{} values in {rings} rings", values.len()),
                expected,
            ));
        }
        let grid = Grid::new(degree);
        grid.check_positive(values)?;
        let out = Self { degree, a: grid.integrals(values, &grid.p, index(degree + 1, 0)) };
        let size = values.iter().copied().fold(0.0, f64::max);
        let missed =
            out.values().iter().zip(values).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if missed > 1e-9 * size {
            let found = format!(
                "values whose expansion to degree {degree} has an error of {:.1e} of the largest",
                missed / size
            );
            return Err(Error::parameter(
                "values",
                found,
                "values on more rings, or of a smoother density",
            ));
        }
        out.normalised(&grid)
    }

    /// The kernel density estimate of tokens with kernel `e^{bandwidth <x, y>}`. **Errors** d other
    /// than 3, as [`Sphere2::from_density`].
    pub fn from_tokens(x: &Tokens, bandwidth: f64, degree: usize) -> Result<Self> {
        in_range("bandwidth", bandwidth, 0.0, 1e5)?;
        let degree = check_degree(degree, bump_degree(3, bandwidth))?;
        if x.d() != 3 {
            return Err(Error::parameter(
                "tokens",
                format!("d = {}", x.d()),
                "points on S^2, three coordinates per row",
            ));
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

    /// Scales to mass 1. **Errors** negative values.
    fn normalised(mut self, grid: &Grid) -> Result<Self> {
        let mass = positive_mass(self.a[0].re)?;
        self.a.iter_mut().for_each(|c| *c /= mass);
        // A density with corners oscillates slightly about zero.
        let lowest = -1e-9 * self.a.iter().map(|c| c.norm()).fold(1.0, f64::max);
        let values: Vec<f64> =
            self.values().into_iter().map(|v| if v > lowest { v.max(0.0) } else { v }).collect();
        grid.check_positive(&values).map(|()| self)
    }

    /// Values ring by ring: [`Sphere2::rings`] Gauss-Legendre colatitudes (north first) with twice
    /// as many equispaced azimuths.
    pub fn values(&self) -> Vec<f64> {
        Grid::new(self.degree).values(&self.a)
    }

    /// Values on `rings` Gauss-Legendre colatitudes (north first) with twice as many equispaced
    /// azimuths.
    pub fn values_on(&self, rings: usize) -> Vec<f64> {
        let grid = Grid::with_rings(self.degree, rings);
        let values = grid.values(&self.a);
        values.into_iter().step_by(grid.points / (2 * rings)).collect()
    }

    /// Number of rings of [`Sphere2::values`].
    pub fn rings(&self) -> usize {
        Grid::rings(self.degree)
    }

    /// Interaction energy relative to the uniform measure, as [`super::circle::Circle::energy`].
    pub fn energy(&self, dynamics: &MeasureDynamics) -> f64 {
        energy(3, dynamics, &Grid::power(&self.a))
    }

    /// The energy with a bound of its rounding error.
    pub fn energy_with_error(&self, dynamics: &MeasureDynamics) -> (f64, f64) {
        energy_with_error(3, dynamics, &Grid::power(&self.a))
    }

    /// Rate of change of the energy, as [`super::circle::Circle::energy_rate`].
    ///
    /// **Errors** Sinkhorn attention.
    pub fn energy_rate(&self, dynamics: &MeasureDynamics) -> Result<f64> {
        self.operator(dynamics, true)?.energy_rate(&self.a)
    }

    /// Coefficients of `P_l(cos theta)` with `P_l(1) = 1` in the zonal part; the first is 1.
    pub fn zonal_coefficients(&self) -> Vec<f64> {
        (0..=self.degree).map(|l| self.a[index(l, 0)].re * (2.0 * l as f64 + 1.0).sqrt()).collect()
    }

    /// Length of the mean `integral x d mu`.
    pub fn mean_length(&self) -> f64 {
        let (z, w) = (self.a[index(1, 0)].re, self.a[index(1, 1)]);
        // x_3 = P_10 / sqrt 3, x_1 + i x_2 = sqrt(2/3) P_11 e^{i phi}.
        (z * z / 3.0 + 2.0 / 3.0 * w.norm_sqr()).sqrt()
    }

    /// A grid for integrals of functions other than quadratic products.
    fn fine(&self) -> Grid {
        Grid::new(2 * self.degree)
    }

    /// Negentropy `integral rho log rho d sigma`.
    pub fn negentropy(&self) -> f64 {
        self.fine().negentropy(&self.a)
    }

    /// The negentropy and its rate, each with a bound of its rounding error.
    ///
    /// **Errors** Sinkhorn attention.
    pub fn negentropy_and_rate(&self, dynamics: &MeasureDynamics) -> Result<[(f64, f64); 2]> {
        let rate = self.operator(dynamics, true)?.negentropy_rate_with_error(&self.a)?;
        Ok([self.fine().negentropy_with_error(&self.a), rate])
    }

    /// Production of negentropy minus the loss by noise, as
    /// [`super::circle::Circle::negentropy_rate`].
    ///
    /// **Errors** Sinkhorn attention.
    pub fn negentropy_rate(&self, dynamics: &MeasureDynamics) -> Result<f64> {
        self.operator(dynamics, true)?.negentropy_rate(&self.a)
    }

    /// The right-hand side, as a function of the coefficients, on a prepared grid.
    ///
    /// **Errors** Sinkhorn attention.
    pub fn right_hand_side(
        &self,
        dynamics: &MeasureDynamics,
    ) -> Result<impl Fn(&[Complex64]) -> Result<Vec<Complex64>> + use<>> {
        let operator = self.operator(dynamics, false)?;
        Ok(move |a: &[Complex64]| operator.rates(a))
    }

    /// Evolves by time `t`. The degree is doubled, up to `limits` (at most 128), when the highest
    /// fifth of the degrees exceeds 1e-9 of the largest coefficient.
    ///
    /// **Returns** as [`super::circle::Circle::evolve`]. **Errors** Sinkhorn attention.
    pub fn evolve(
        self,
        dynamics: &MeasureDynamics,
        t: f64,
        limits: impl Into<Limits>,
        watch: impl FnMut(f64, &Self) -> bool,
    ) -> Result<Evolution<Self>> {
        self.evolve_resolved(dynamics, t, limits.into(), watch)
    }
}
