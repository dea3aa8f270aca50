//! Zonal (axisymmetric) densities on `S^{d-1}` in orthonormal Gegenbauer polynomials of `s = <x, pole>`.

use super::density::Density;
use super::{End, Law, Medium};
use crate::error::{Error, Result, in_range};
use crate::num::{dense, gegenbauer::scaled_funk_hecke, ode::advance};

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

impl Basis {
    fn new(d: usize, beta: f64, modes: usize) -> Result<Self> {
        // Golub and Welsch: nodes are eigenvalues of the Jacobi matrix, weights the squares of the first entries of its eigenvectors.
        let nodes = 2 * modes + 2;
        let mut jacobi = vec![0.0; nodes * nodes];
        for k in 1..nodes {
            jacobi[k * nodes + k - 1] = alpha(d, k);
            jacobi[(k - 1) * nodes + k] = alpha(d, k);
        }
        let failed = || Error::Numerical { what: "the Gauss-Gegenbauer nodes did not converge".into() };
        let (s, vectors) = dense::symmetric_eigen(&jacobi, nodes).ok_or_else(failed)?;
        let weight = (0..nodes).map(|j| vectors[j * nodes].powi(2)).collect();
        let (mut p, mut slope) = (vec![vec![1.0; nodes]], vec![vec![0.0; nodes]]);
        for k in 0..modes {
            let (a, b) = (alpha(d, k + 1), if k > 0 { alpha(d, k) } else { 0.0 });
            let before = |v: &Vec<Vec<f64>>, j: usize| if k > 0 { v[k - 1][j] } else { 0.0 };
            p.push((0..nodes).map(|j| (s[j] * p[k][j] - b * before(&p, j)) / a).collect());
            slope.push((0..nodes).map(|j| (p[k][j] + s[j] * slope[k][j] - b * before(&slope, j)) / a).collect());
        }
        let mut lambda = scaled_funk_hecke(d, modes, beta.abs());
        if beta < 0.0 {
            lambda.iter_mut().skip(1).step_by(2).for_each(|v| *v = -*v);
        }
        Ok(Self { s, weight, p, slope, lambda })
    }

    fn values(&self, b: &[f64]) -> Vec<f64> {
        (0..self.s.len()).map(|j| b.iter().zip(&self.p).map(|(b, p)| b * p[j]).sum()).collect()
    }

    /// Density, `(1/beta) W'(s)` (over W for SA), and `-div v` at the nodes.
    fn field(&self, d: usize, medium: &Medium, b: &[f64]) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let beta = medium.beta;
        let over = |k: usize| if beta == 0.0 { if k == 1 { 1.0 / d as f64 } else { 0.0 } } else { self.lambda[k] / beta };
        let (mut density, mut gradient, mut fall) = (Vec::new(), Vec::new(), Vec::new());
        for (j, &s) in self.s.iter().enumerate() {
            let (mut r, mut w, mut first, mut laplacian) = (0.0, 0.0, 0.0, 0.0);
            for (k, b) in b.iter().enumerate() {
                r += b * self.p[k][j];
                w += b * self.lambda[k] * self.p[k][j];
                first += b * over(k) * self.slope[k][j];
                laplacian -= b * over(k) * (k * (k + d - 2)) as f64 * self.p[k][j];
            }
            density.push(r);
            match medium.law {
                Law::Usa => {
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
    /// From a density. **Errors** d outside [2, 1024], more than 512 modes, negative values (the place is named).
    pub fn from_density(density: &Density, d: usize, modes: usize) -> Result<Self> {
        in_range("d", d as f64, 2.0, 1024.0)?;
        in_range("modes", modes as f64, 1.0, 512.0)?;
        let basis = Basis::new(d, 0.0, modes)?;
        let values: Vec<f64> = basis.s.iter().map(|s| density.zonal(d, *s)).collect::<Result<_>>()?;
        for k in 0..=400 {
            let s = -1.0 + 0.005 * f64::from(k);
            let v = density.zonal(d, s)?;
            if !v.is_finite() || v < -1e-12 {
                return Err(Error::parameter("--density", format!("{v} at s = {s}"), "finite values >= 0 everywhere"));
            }
        }
        let b: Vec<f64> = basis.p.iter().map(|p| (0..values.len()).map(|j| basis.weight[j] * p[j] * values[j]).sum()).collect();
        let mass = b[0];
        if mass <= 0.0 {
            return Err(Error::parameter("--density", "no mass", "a positive integral"));
        }
        Ok(Self { d, b: b.iter().map(|v| v / mass).collect() })
    }

    /// Coefficients of the polynomials `P_k` with `P_k(1) = 1`, `1` first: at d = 2 those of `cos k theta`.
    pub fn coefficients(&self) -> Vec<f64> {
        // p_k(1) = sqrt(dim_k): rho = sum b_k p_k(1) P_k.
        let mut at_one = vec![1.0];
        for k in 0..self.b.len() - 1 {
            let before = if k > 0 { alpha(self.d, k) * at_one[k - 1] } else { 0.0 };
            at_one.push((at_one[k] - before) / alpha(self.d, k + 1));
        }
        self.b.iter().zip(&at_one).map(|(b, p)| b * p).collect()
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
    pub fn evolve(mut self, medium: &Medium, t: f64, most: usize, mut watch: impl FnMut(f64, &Self)) -> Result<(Self, f64, End)> {
        if medium.law == Law::Sinkhorn {
            return Err(Error::parameter("--dynamics", "sinkhorn", "sa or usa for zonal densities"));
        }
        const RESOLVED: f64 = 1e-10;
        let (mut now, d) = (0.0, self.d);
        let mut basis = Basis::new(d, medium.beta, self.b.len() - 1)?;
        while now < t {
            let (_, _, fall) = basis.field(d, medium, &self.b);
            let steepest = fall.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            let leg = (0.2 / steepest.max(1.0)).min(t - now);
            let derivative = |y: &[f64], dy: &mut [f64]| dy.copy_from_slice(&basis.rates(d, medium, y));
            let next = advance(derivative, &self.b, leg, (1e-11, 1e-13), 300).map(|b| Self { d, b });
            let Some(next) = next.ok().filter(|n| n.tail() <= RESOLVED && self.tail() <= RESOLVED) else {
                let modes = self.b.len() - 1;
                if modes >= most.min(256) {
                    return Ok((self, now, End::UnderResolved));
                }
                self = self.resized((2 * modes).min(most.min(256)));
                basis = Basis::new(d, medium.beta, self.b.len() - 1)?;
                continue;
            };
            self = next;
            now = if leg < t - now { now + leg } else { t };
            watch(now, &self);
        }
        Ok((self, now, End::Reached))
    }
}
