//! Zonal (axisymmetric) densities on `S^{d-1}` in orthonormal Gegenbauer polynomials of `s = <x, pole>`.

use super::density::{Density, bump_degree};
use super::legs::{Leg, by_legs, clipped};
use super::{Evolved, Limits, Medium};
use crate::attention::RowWeights;
use crate::error::{Error, Result, in_range};
use crate::num::{dense, gegenbauer::scaled_funk_hecke, ode::advance};
use crate::sphere::{Tokens, geometry};

/// Nodes, weights and polynomials of one resolution: K modes on 2K Gauss-Gegenbauer nodes.
struct Basis {
    s: Vec<f64>,
    weight: Vec<f64>,
    /// `p[k][j]`: orthonormal polynomial k at node j.
    p: Vec<Vec<f64>>,
    /// Derivatives in s.
    slope: Vec<Vec<f64>>,
    /// `e^{-|beta|}` times the Funk-Hecke coefficients of `e^{beta s}`.
    lambda: Vec<f64>,
}

/// `alpha_k` of the recurrence `s p_k = alpha_{k+1} p_{k+1} + alpha_k p_{k-1}` for the weight `(1 - s^2)^{(d-3)/2}`.
fn alpha(d: usize, k: usize) -> f64 {
    let (k, g) = (k as f64, 0.5 * d as f64 - 1.0);
    if d == 2 { if k < 1.5 { 0.5f64.sqrt() } else { 0.5 } } else { (k * (k + 2.0 * g - 1.0) / (4.0 * (k + g) * (k + g - 1.0))).sqrt() }
}

/// Nodes `s`, ascending, and weights of the Gauss rule for the uniform measure of `S^{d-1}` (Golub and Welsch: eigenvalues of the Jacobi matrix, squares of the
/// first entries of its eigenvectors).
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

/// `e^{-|beta|}` times the Funk-Hecke coefficients of `e^{beta s}`, any sign of beta.
pub(super) fn signed_funk_hecke(d: usize, beta: f64, modes: usize) -> Vec<f64> {
    let mut lambda = scaled_funk_hecke(d, modes, beta.abs());
    if beta < 0.0 {
        lambda.iter_mut().skip(1).step_by(2).for_each(|v| *v = -*v);
    }
    lambda
}

/// The same over beta, with the limit at beta = 0; the entry of degree 0 is not used.
pub(super) fn lambda_over_beta(d: usize, beta: f64, modes: usize) -> Vec<f64> {
    if beta == 0.0 {
        return (0..=modes).map(|k| if k == 1 { 1.0 / d as f64 } else { 0.0 }).collect();
    }
    signed_funk_hecke(d, beta, modes).iter().map(|l| l / beta).collect()
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

/// The number of modes asked for, or what a density needs. **Errors** more than 512.
fn enough(modes: usize, needed: usize) -> Result<usize> {
    match modes.max(needed) {
        modes @ 1..=512 => Ok(modes),
        modes => Err(Error::parameter("density", format!("{modes} modes"), "at most 512 modes, or the method lagrangian")),
    }
}

impl Basis {
    fn new(d: usize, beta: f64, modes: usize) -> Result<Self> {
        let nodes = 2 * modes + 2;
        let (s, weight): (Vec<f64>, Vec<f64>) = self::nodes(d, nodes)?.into_iter().unzip();
        let (mut p, mut slope) = (vec![vec![1.0; nodes]], vec![vec![0.0; nodes]]);
        for k in 0..modes {
            let (a, b) = (alpha(d, k + 1), if k > 0 { alpha(d, k) } else { 0.0 });
            let before = |v: &Vec<Vec<f64>>, j: usize| if k > 0 { v[k - 1][j] } else { 0.0 };
            p.push((0..nodes).map(|j| (s[j] * p[k][j] - b * before(&p, j)) / a).collect());
            slope.push((0..nodes).map(|j| (p[k][j] + s[j] * slope[k][j] - b * before(&slope, j)) / a).collect());
        }
        Ok(Self { s, weight, p, slope, lambda: signed_funk_hecke(d, beta, modes) })
    }

    fn values(&self, b: &[f64]) -> Vec<f64> {
        (0..self.s.len()).map(|j| b.iter().zip(&self.p).map(|(b, p)| b * p[j]).sum()).collect()
    }

    /// Density, `(1/beta) W'(s)` (over W for SA), and `-div v` at the nodes.
    fn field(&self, d: usize, medium: &Medium, b: &[f64]) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let beta = medium.beta;
        let over = lambda_over_beta(d, beta, self.lambda.len() - 1);
        let (mut density, mut gradient, mut fall) = (Vec::new(), Vec::new(), Vec::new());
        for (j, &s) in self.s.iter().enumerate() {
            let (mut r, mut w, mut first, mut laplacian) = (0.0, 0.0, 0.0, 0.0);
            for (k, b) in b.iter().enumerate() {
                r += b * self.p[k][j];
                w += b * self.lambda[k] * self.p[k][j];
                first += b * over[k] * self.slope[k][j];
                laplacian -= b * over[k] * (k * (k + d - 2)) as f64 * self.p[k][j];
            }
            density.push(r);
            match medium.weights {
                RowWeights::Exponential => {
                    let scale = beta.abs().exp();
                    gradient.push(first * scale);
                    fall.push(-laplacian * scale);
                }
                _ => {
                    gradient.push(first / w);
                    fall.push(-(laplacian / w - beta * (1.0 - s * s) * (first / w).powi(2)));
                }
            }
        }
        (density, gradient, fall)
    }

    /// `d b_k / dt = integral p_k' (1 - s^2) rho W'/beta - (1/kappa) k (k + d - 2) b_k`.
    fn rates(&self, d: usize, medium: &Medium, b: &[f64]) -> Vec<f64> {
        let (density, gradient, _) = self.field(d, medium, b);
        let flux: Vec<f64> = (0..self.s.len()).map(|j| self.weight[j] * density[j] * gradient[j] * (1.0 - self.s[j] * self.s[j])).collect();
        let row = |(k, slope): (usize, &Vec<f64>)| {
            slope.iter().zip(&flux).map(|(p, f)| p * f).sum::<f64>() - medium.diffusion * (k * (k + d - 2)) as f64 * b[k]
        };
        self.slope.iter().enumerate().map(row).collect()
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
    /// **Errors** d outside [2, 1024], more than 512 modes, negative values (the place is named).
    pub fn from_density(density: &Density, d: usize, modes: usize) -> Result<Self> {
        in_range("d", d as f64, 2.0, 1024.0)?;
        let modes = enough(modes, density.degree(d))?;
        Self::from_function(|s| density.zonal(d, s), d, modes)
    }

    /// From values at equispaced polar angles from the pole (0) to the antipode (pi), joined by a cosine series, with at least `modes` modes.
    ///
    /// **Errors** as [`Zonal::from_density`], fewer than 8 values, values whose cosine series is negative (they have corners).
    pub fn from_values(values: &[f64], d: usize, modes: usize) -> Result<Self> {
        let last = values.len().saturating_sub(1);
        if last < 7 {
            return Err(Error::parameter("values", values.len(), "at least 8 values"));
        }
        let half = |j: usize| if j == 0 || j == last { 0.5 } else { 1.0 };
        let wave = |k: usize, j: usize| (std::f64::consts::PI * ((k * j) % (2 * last)) as f64 / last as f64).cos();
        let series: Vec<f64> =
            (0..=last).map(|k| half(k) * 2.0 / last as f64 * (0..=last).map(|j| half(j) * values[j] * wave(k, j)).sum::<f64>()).collect();
        // cos k theta is a polynomial of degree k in s.
        let size = series.iter().fold(0.0f64, |m, a| m.max(a.abs()));
        let modes = enough(modes, series.iter().rposition(|a| a.abs() > 1e-14 * size).unwrap_or(0))?;
        Self::from_function(
            |s| Ok(series.iter().enumerate().map(|(k, a)| a * (k as f64 * s.clamp(-1.0, 1.0).acos()).cos()).sum()),
            d,
            modes,
        )
    }

    /// The estimate of tokens with kernel `e^{bandwidth <x, y>}`, averaged about the axis of their mean. **Errors** as [`Zonal::from_density`], a mean of length 0.
    pub fn from_tokens(x: &Tokens, bandwidth: f64, modes: usize) -> Result<Self> {
        in_range("d", x.d() as f64, 2.0, 1024.0)?;
        in_range("bandwidth", bandwidth, 0.0, 1e5)?;
        let modes = enough(modes, bump_degree(x.d(), bandwidth))?;
        let mut axis = x.mean();
        if !geometry::retract(&mut axis) {
            return Err(Error::parameter("tokens", "tokens of mean 0", "tokens whose mean gives an axis"));
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
        let basis = Basis::new(d, 0.0, modes)?;
        let values: Vec<f64> = basis.s.iter().map(|s| density(*s)).collect::<Result<_>>()?;
        for k in 0..=400 {
            let s = -1.0 + 0.005 * f64::from(k);
            let v = density(s)?;
            if !v.is_finite() || v < -1e-12 {
                return Err(Error::parameter("density", format!("{v} at s = {s}"), "finite values >= 0 everywhere, smoothly joined"));
            }
        }
        let b: Vec<f64> = basis.p.iter().map(|p| (0..values.len()).map(|j| basis.weight[j] * p[j] * values[j]).sum()).collect();
        let mass = b[0];
        if mass <= 0.0 {
            return Err(Error::parameter("density", "no mass", "a positive integral"));
        }
        Ok(Self { d, b: b.iter().map(|v| v / mass).collect() })
    }

    /// Number of modes K.
    pub fn modes(&self) -> usize {
        self.b.len() - 1
    }

    /// Coefficients of the polynomials `P_k` with `P_k(1) = 1`, `1` first: at d = 2 those of `cos k theta`.
    pub fn coefficients(&self) -> Vec<f64> {
        // p_k(1) = sqrt(dim_k): rho = sum b_k p_k(1) P_k.
        self.b.iter().zip(orthonormal(self.d, self.b.len() - 1, 1.0)).map(|(b, p)| b * p).collect()
    }

    /// Values at `points` equispaced polar angles from 0 to pi.
    pub fn values(&self, points: usize) -> Vec<f64> {
        let at = |j: usize| (std::f64::consts::PI * j as f64 / (points - 1) as f64).cos();
        (0..points).map(|j| orthonormal(self.d, self.b.len() - 1, at(j)).iter().zip(&self.b).map(|(p, b)| p * b).sum()).collect()
    }

    /// Interaction energy above that of the uniform measure, as [`super::circle::Circle::energy`].
    pub fn energy(&self, medium: &Medium) -> f64 {
        let over = lambda_over_beta(self.d, medium.beta, self.b.len() - 1);
        0.5 * medium.beta.abs().exp() * self.b.iter().zip(&over).skip(1).map(|(b, w)| w * b * b).sum::<f64>()
    }

    /// Its rate of change by the dissipation identity, as [`super::circle::Circle::energy_rate`].
    pub fn energy_rate(&self, medium: &Medium) -> Result<f64> {
        let fine = self.resized(2 * self.b.len());
        let basis = Basis::new(self.d, medium.beta, fine.b.len() - 1)?;
        let (density, gradient, _) = basis.field(self.d, medium, &fine.b);
        let over = lambda_over_beta(self.d, medium.beta, fine.b.len() - 1);
        let pull = |j: usize| -> f64 { fine.b.iter().zip(&over).zip(&basis.slope).map(|((b, w), p)| b * w * p[j]).sum() };
        let at = |j: usize| basis.weight[j] * density[j] * (1.0 - basis.s[j] * basis.s[j]) * gradient[j] * pull(j);
        let gained: f64 = (0..basis.s.len()).map(at).sum();
        let lost: f64 = fine.b.iter().zip(&over).enumerate().map(|(k, (b, w))| (k * (k + self.d - 2)) as f64 * w * b * b).sum();
        Ok(medium.beta.abs().exp() * (gained - medium.diffusion * lost))
    }

    /// Moments `integral P_k d mu`; the first is the mean along the axis.
    pub fn axis_mean(&self) -> f64 {
        self.b.get(1).map_or(0.0, |b| b * alpha(self.d, 1))
    }

    /// Negentropy `integral rho log rho d sigma`.
    pub fn negentropy(&self) -> Result<f64> {
        let basis = Basis::new(self.d, 0.0, 2 * self.b.len())?;
        let values = basis.values(&self.b);
        Ok(values.iter().zip(&basis.weight).map(|(r, w)| if *r > 0.0 { w * r * r.ln() } else { 0.0 }).sum())
    }

    /// Its production `-integral rho div v d sigma` (without the noise part when there is none).
    pub fn negentropy_rate(&self, medium: &Medium) -> Result<f64> {
        let fine = self.resized(2 * self.b.len());
        let basis = Basis::new(self.d, medium.beta, fine.b.len() - 1)?;
        let (density, _, fall) = basis.field(self.d, medium, &fine.b);
        let produced: f64 = density.iter().zip(&fall).zip(&basis.weight).map(|((r, f), w)| w * r * f).sum();
        let slope: Vec<f64> = (0..basis.s.len()).map(|j| fine.b.iter().zip(&basis.slope).map(|(b, p)| b * p[j]).sum()).collect();
        let fisher = |j: usize| {
            if density[j] > 0.0 { basis.weight[j] * (1.0 - basis.s[j] * basis.s[j]) * slope[j] * slope[j] / density[j] } else { 0.0 }
        };
        Ok(produced - medium.diffusion * (0..basis.s.len()).map(fisher).sum::<f64>())
    }

    /// The same function with another number of coefficients.
    fn resized(&self, modes: usize) -> Self {
        let mut b = self.b.clone();
        b.resize(modes + 1, 0.0);
        Self { d: self.d, b }
    }

    /// Size of the highest fifth of the coefficients over the largest.
    pub fn tail(&self) -> f64 {
        let most = self.b.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        self.b[self.b.len() * 4 / 5..].iter().fold(0.0f64, |m, v| m.max(v.abs())) / most
    }

    /// Evolves by time `t`, doubling the modes up to `most` (at most 256) whenever the tail exceeds 1e-10.
    ///
    /// **Returns** as [`super::circle::Circle::evolve`]. **Errors** Sinkhorn attention, the integrator's.
    pub fn evolve(self, medium: &Medium, t: f64, most: impl Into<Limits>, watch: impl FnMut(f64, &Self) -> bool) -> Result<Evolved<Self>> {
        if medium.weights == RowWeights::Sinkhorn {
            return Err(Error::parameter("dynamics", "sinkhorn", "sa or usa for zonal densities"));
        }
        let limits: Limits = most.into();
        let Limits { modes: most, relax } = limits;
        let resolved = 1e-10 * relax;
        let (d, most) = (self.d, most.min(256));
        let mut basis = (self.b.len() - 1, Basis::new(d, medium.beta, self.b.len() - 1)?);
        let leg = |density: Self, left: f64| {
            let modes = density.b.len() - 1;
            if basis.0 != modes {
                basis = (modes, Basis::new(d, medium.beta, modes)?);
            }
            let basis = &basis.1;
            let (_, _, fall) = basis.field(d, medium, &density.b);
            let steepest = fall.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            let leg = clipped(limits.leg() / steepest.max(1.0), left, t);
            let derivative = |y: &[f64], dy: &mut [f64]| dy.copy_from_slice(&basis.rates(d, medium, y));
            let next = advance(derivative, &density.b, leg, (1e-11 * relax, 1e-13 * relax), 300).map(|b| Self { d, b });
            Ok(match next.ok().filter(|n| n.tail() <= resolved && density.tail() <= resolved) {
                Some(next) => Leg::Moved(next, leg),
                None if modes >= most => Leg::UnderResolved(density),
                None => Leg::Finer(density.resized((2 * modes).min(most))),
            })
        };
        by_legs(self, t, leg, watch)
    }
}
