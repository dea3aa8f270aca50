//! Zonal (axisymmetric) densities on `S^{d-1}` in orthonormal Gegenbauer polynomials of
//! `s = <x, pole>`.

use super::density::{Density, bump_degree};
use super::series::{Nodes, Series, energy, energy_with_error};
use super::{Evolution, Limits, MeasureDynamics, check_non_negative, positive_mass};
use crate::error::{Error, Result, in_range};
use crate::num::{dense, gegenbauer::scaled_funk_hecke, sum::dot};
use crate::sphere::{Tokens, geometry};

/// Nodes, weights and polynomials of one resolution: K modes on 2K + 2 Gauss-Gegenbauer nodes.
pub(super) struct Basis {
    d: usize,
    s: Vec<f64>,
    weight: Vec<f64>,
    /// `p[k][j]`: orthonormal polynomial k at node j.
    p: Vec<Vec<f64>>,
    /// `(1 - s^2)^{1/2} p'`: derivatives along the meridian towards the pole.
    slope: Vec<Vec<f64>>,
}

/// `alpha_k` of the recurrence `s p_k = alpha_{k+1} p_{k+1} + alpha_k p_{k-1}` for the weight
/// `(1 - s^2)^{(d-3)/2}`.
fn alpha(d: usize, k: usize) -> f64 {
    let (k, g) = (k as f64, 0.5 * d as f64 - 1.0);
    if d == 2 {
        if k < 1.5 { 0.5f64.sqrt() } else { 0.5 }
    } else {
        (k * (k + 2.0 * g - 1.0) / (4.0 * (k + g) * (k + g - 1.0))).sqrt()
    }
}

/// Nodes `s`, ascending, and weights of the Gauss rule for the uniform measure of `S^{d-1}` (Golub
/// and Welsch: eigenvalues of the Jacobi matrix, squares of the first entries of its eigenvectors).
pub(super) fn nodes(d: usize, n: usize) -> Result<Vec<(f64, f64)>> {
    let mut jacobi = vec![0.0; n * n];
    for k in 1..n {
        jacobi[k * n + k - 1] = alpha(d, k);
        jacobi[(k - 1) * n + k] = alpha(d, k);
    }
    let failed = || Error::Numerical { what: "the Gauss-Gegenbauer nodes did not converge".into() };
    let (s, vectors) = dense::symmetric_eigen(&jacobi, n).ok_or_else(failed)?;
    Ok((0..n).map(|j| (s[j], vectors[j * n].powi(2))).collect())
}

/// Orthonormal polynomials `p_0(s), ..., p_kmax(s)`.
fn orthonormal(d: usize, kmax: usize, s: f64) -> Vec<f64> {
    let mut p = vec![1.0];
    for k in 0..kmax {
        let before = if k > 0 { alpha(d, k) * p[k - 1] } else { 0.0 };
        p.push((s * p[k] - before) / alpha(d, k + 1));
    }
    p
}

/// The number of modes, at least as many as the density needs. **Errors** more than 512.
fn check_degree(modes: usize, needed: usize) -> Result<usize> {
    match modes.max(needed) {
        modes @ 1..=512 => Ok(modes),
        modes => Err(Error::parameter(
            "density",
            format!("{modes} modes"),
            "at most 512 modes, or --method lagrangian",
        )),
    }
}

impl Basis {
    fn new(d: usize, modes: usize) -> Result<Self> {
        let nodes = 2 * modes + 2;
        let (s, weight): (Vec<f64>, Vec<f64>) = self::nodes(d, nodes)?.into_iter().unzip();
        let (mut p, mut slope) = (vec![vec![1.0; nodes]], vec![vec![0.0; nodes]]);
        for k in 0..modes {
            let (a, b) = (alpha(d, k + 1), if k > 0 { alpha(d, k) } else { 0.0 });
            let before = |v: &Vec<Vec<f64>>, j: usize| if k > 0 { v[k - 1][j] } else { 0.0 };
            p.push((0..nodes).map(|j| (s[j] * p[k][j] - b * before(&p, j)) / a).collect());
            slope.push(
                (0..nodes)
                    .map(|j| (p[k][j] + s[j] * slope[k][j] - b * before(&slope, j)) / a)
                    .collect(),
            );
        }
        for row in &mut slope {
            row.iter_mut().zip(&s).for_each(|(v, s)| *v *= (1.0 - s * s).max(0.0).sqrt());
        }
        Ok(Self { d, s, weight, p, slope })
    }
}

/// `sum_k b_k table_k`.
fn combine(b: &[f64], table: &[Vec<f64>]) -> Vec<f64> {
    let mut out = vec![0.0; table[0].len()];
    for (b, row) in b.iter().zip(table) {
        out.iter_mut().zip(row).for_each(|(o, v)| *o += b * v);
    }
    out
}

impl Nodes for Basis {
    type Coefficient = f64;

    fn d(&self) -> usize {
        self.d
    }

    fn values(&self, b: &[f64]) -> Vec<f64> {
        combine(b, &self.p)
    }

    fn gradient(&self, b: &[f64]) -> Vec<Vec<f64>> {
        vec![combine(b, &self.slope)]
    }

    fn divergence(&self, flux: &[Vec<f64>], count: usize) -> Vec<f64> {
        let weighted: Vec<f64> = self.weight.iter().zip(&flux[0]).map(|(w, f)| w * f).collect();
        self.slope[..count].iter().map(|slope| dot(slope, &weighted)).collect()
    }

    fn mean(&self, values: &[f64]) -> f64 {
        dot(&self.weight, values)
    }
}

impl Series for Zonal {
    type Nodes = Basis;
    const RESOLVED_TAIL: f64 = 1e-10;
    const MAX_DEGREE: usize = 256;

    fn degree(&self) -> usize {
        self.modes()
    }

    fn coefficients(&self) -> &[f64] {
        &self.b
    }

    fn with_coefficients(&self, _: usize, b: Vec<f64>) -> Self {
        Self { d: self.d, b }
    }

    fn count_below(degree: usize) -> usize {
        degree
    }

    fn nodes(&self, fine: bool) -> Result<Basis> {
        Basis::new(self.d, if fine { 2 * self.b.len() } else { self.modes() })
    }
}

/// A zonal density `rho(s) = sum b_k p_k(s)`, `b_0 = 1`, relative to the uniform measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Zonal {
    /// Ambient dimension.
    pub d: usize,
    /// Coefficients in orthonormal polynomials.
    pub b: Vec<f64>,
}

impl Zonal {
    /// From a density, with at least `modes` modes and as many as it needs ([`Density::degree`]).
    ///
    /// **Errors** d outside [2, 1024], more than 512 modes, negative values (the error names the
    /// place).
    pub fn from_density(density: &Density, d: usize, modes: usize) -> Result<Self> {
        in_range("d", d as f64, 2.0, 1024.0)?;
        let modes = check_degree(modes, density.degree(d))?;
        Self::from_function(|s| density.zonal(d, s), d, modes)
    }

    /// From values at equispaced polar angles from the pole (0) to the antipode (pi), interpolated
    /// by a cosine series, with at least `modes` modes.
    ///
    /// **Errors** as [`Zonal::from_density`], fewer than 8 values, values with corners, whose
    /// cosine series is negative.
    pub fn from_values(values: &[f64], d: usize, modes: usize) -> Result<Self> {
        let last = values.len().saturating_sub(1);
        if last < 7 {
            return Err(Error::parameter("values", values.len(), "at least 8 values"));
        }
        let half = |j: usize| if j == 0 || j == last { 0.5 } else { 1.0 };
        let wave = |k: usize, j: usize| {
            (std::f64::consts::PI * ((k * j) % (2 * last)) as f64 / last as f64).cos()
        };
        let series: Vec<f64> = (0..=last)
            .map(|k| {
                half(k) * 2.0 / last as f64
                    * (0..=last).map(|j| half(j) * values[j] * wave(k, j)).sum::<f64>()
            })
            .collect();
        // cos k theta is a polynomial of degree k in s.
        let size = series.iter().fold(0.0f64, |m, a| m.max(a.abs()));
        let modes =
            check_degree(modes, series.iter().rposition(|a| a.abs() > 1e-14 * size).unwrap_or(0))?;
        Self::from_function(
            |s| {
                Ok(series
                    .iter()
                    .enumerate()
                    .map(|(k, a)| a * (k as f64 * s.clamp(-1.0, 1.0).acos()).cos())
                    .sum())
            },
            d,
            modes,
        )
    }

    /// The kernel density estimate of tokens with kernel `e^{bandwidth <x, y>}`, averaged about the
    /// axis of their mean. **Errors** as [`Zonal::from_density`], a zero mean.
    pub fn from_tokens(x: &Tokens, bandwidth: f64, modes: usize) -> Result<Self> {
        in_range("d", x.d() as f64, 2.0, 1024.0)?;
        in_range("bandwidth", bandwidth, 0.0, 1e5)?;
        let modes = check_degree(modes, bump_degree(x.d(), bandwidth))?;
        let mut axis = x.mean();
        if !geometry::retract(&mut axis) {
            return Err(Error::parameter(
                "tokens",
                "tokens of mean 0",
                "tokens with a nonzero mean",
            ));
        }
        let lambda = scaled_funk_hecke(x.d(), modes, bandwidth);
        let mut b = vec![0.0; modes + 1];
        for (row, m) in x.rows().zip(x.masses()) {
            let p = orthonormal(x.d(), modes, crate::num::sum::dot(row, &axis));
            b.iter_mut().zip(&p).zip(&lambda).for_each(|((b, p), l)| *b += m * p * l / lambda[0]);
        }
        Ok(Self { d: x.d(), b })
    }

    fn from_function(density: impl Fn(f64) -> Result<f64>, d: usize, modes: usize) -> Result<Self> {
        in_range("d", d as f64, 2.0, 1024.0)?;
        let basis = Basis::new(d, modes)?;
        let values: Vec<f64> = basis.s.iter().map(|s| density(*s)).collect::<Result<_>>()?;
        for k in 0..=400 {
            let s = -1.0 + 0.005 * f64::from(k);
            check_non_negative(&[density(s)?], 1e-12, |_| format!("s = {s}"))?;
        }
        let b: Vec<f64> = basis
            .p
            .iter()
            .map(|p| (0..values.len()).map(|j| basis.weight[j] * p[j] * values[j]).sum())
            .collect();
        let mass = positive_mass(b[0])?;
        Ok(Self { d, b: b.iter().map(|v| v / mass).collect() })
    }

    /// Number of modes K.
    pub fn modes(&self) -> usize {
        self.b.len() - 1
    }

    /// Coefficients of the polynomials `P_k` with `P_k(1) = 1`; the first is 1. At d = 2 those of
    /// `cos k theta`.
    pub fn coefficients(&self) -> Vec<f64> {
        // p_k(1) = sqrt(dim_k): rho = sum b_k p_k(1) P_k.
        self.b.iter().zip(orthonormal(self.d, self.b.len() - 1, 1.0)).map(|(b, p)| b * p).collect()
    }

    /// Values at `points` equispaced polar angles from 0 to pi.
    pub fn values(&self, points: usize) -> Vec<f64> {
        let at = |j: usize| (std::f64::consts::PI * j as f64 / (points - 1) as f64).cos();
        (0..points)
            .map(|j| {
                orthonormal(self.d, self.b.len() - 1, at(j))
                    .iter()
                    .zip(&self.b)
                    .map(|(p, b)| p * b)
                    .sum()
            })
            .collect()
    }

    /// Interaction energy relative to the uniform measure, as [`super::circle::Circle::energy`].
    pub fn energy(&self, dynamics: &MeasureDynamics) -> f64 {
        energy(self.d, dynamics, &Basis::power(&self.b))
    }

    /// The energy with a bound of its rounding error.
    pub fn energy_with_error(&self, dynamics: &MeasureDynamics) -> (f64, f64) {
        energy_with_error(self.d, dynamics, &Basis::power(&self.b))
    }

    /// Rate of change of the energy, as [`super::circle::Circle::energy_rate`]. **Errors** Sinkhorn
    /// attention.
    pub fn energy_rate(&self, dynamics: &MeasureDynamics) -> Result<f64> {
        self.operator(dynamics, true)?.energy_rate(&self.b)
    }

    /// Mean of `<x, pole>`.
    pub fn axis_mean(&self) -> f64 {
        self.b.get(1).map_or(0.0, |b| b * alpha(self.d, 1))
    }

    /// Negentropy `integral rho log rho d sigma`.
    pub fn negentropy(&self) -> Result<f64> {
        Ok(self.nodes(true)?.negentropy(&self.b))
    }

    /// The negentropy and its rate, each with a bound of its rounding error. **Errors** Sinkhorn
    /// attention.
    pub fn negentropy_and_rate(&self, dynamics: &MeasureDynamics) -> Result<[(f64, f64); 2]> {
        let rate = self.operator(dynamics, true)?.negentropy_rate_with_error(&self.b)?;
        Ok([self.nodes(true)?.negentropy_with_error(&self.b), rate])
    }

    /// Production of negentropy minus the loss by noise, as
    /// [`super::circle::Circle::negentropy_rate`]. **Errors** Sinkhorn attention.
    pub fn negentropy_rate(&self, dynamics: &MeasureDynamics) -> Result<f64> {
        self.operator(dynamics, true)?.negentropy_rate(&self.b)
    }

    /// Evolves by time `t`. The modes are doubled, up to `limits` (at most 256), when the highest
    /// fifth of the coefficients exceeds 1e-10 of the largest.
    ///
    /// **Returns** as [`super::circle::Circle::evolve`]. **Errors** Sinkhorn attention, those of
    /// the integrator.
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
