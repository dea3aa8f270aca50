//! Densities on the circle by Fourier series.

use super::density::{Density, bump_degree};
use super::legs::{Leg, by_legs, clipped};
use super::{Evolved, Limits, Medium, scaling_converged, scaling_residual};
use crate::attention::RowWeights;
use crate::error::{Error, Result, in_range};
use crate::num::{bessel::scaled_bessel_i, ode::advance};
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex, num_complex::Complex64};
use std::f64::consts::TAU;
use std::sync::Arc;

/// A density `rho(theta) = sum_{|k| <= K} c_k e^{i k theta}`, `c_0 = 1`, relative to the uniform measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Circle {
    /// `c_0, ..., c_K`.
    pub c: Vec<Complex64>,
}

/// The grid of a pseudo-spectral evaluation: four points per mode.
struct Grid {
    points: usize,
    forward: Arc<dyn RealToComplex<f64>>,
    backward: Arc<dyn ComplexToReal<f64>>,
}

impl Grid {
    fn new(points: usize) -> Self {
        let mut planner = RealFftPlanner::new();
        Self { points, forward: planner.plan_fft_forward(points), backward: planner.plan_fft_inverse(points) }
    }

    /// Values at `2 pi j / points` of `sum c_k e^{i k theta}` with `c_{-k} = conj c_k`.
    fn values(&self, c: impl Iterator<Item = Complex64>) -> Vec<f64> {
        let mut spectrum = self.backward.make_input_vec();
        spectrum.iter_mut().zip(c).for_each(|(s, c)| *s = c);
        spectrum[0].im = 0.0;
        if let Some(last) = spectrum.last_mut() {
            last.im = 0.0;
        }
        let mut out = self.backward.make_output_vec();
        // The lengths are those of the plan, which is the only way to fail.
        let _ = self.backward.process(&mut spectrum, &mut out);
        out
    }

    /// Coefficients `0..=modes` of values on the grid.
    fn coefficients(&self, values: &[f64], modes: usize) -> Vec<Complex64> {
        let mut input = values.to_vec();
        let mut out = self.forward.make_output_vec();
        let _ = self.forward.process(&mut input, &mut out);
        out.truncate(modes + 1);
        out.iter_mut().for_each(|c| *c /= self.points as f64);
        out
    }
}

/// Fourier coefficients `I_k(beta) e^{-|beta|}` of the kernel `e^{beta cos - |beta|}`, k = 0..=modes.
pub(super) fn kernel(beta: f64, modes: usize) -> Vec<f64> {
    let mut i = scaled_bessel_i(modes, beta.abs());
    if beta < 0.0 {
        i.iter_mut().skip(1).step_by(2).for_each(|v| *v = -*v);
    }
    i
}

/// `I_k(beta) / beta` times `e^{-|beta|}`, with its limit at beta = 0.
pub(super) fn kernel_over_beta(beta: f64, modes: usize) -> Vec<f64> {
    if beta == 0.0 {
        return (0..=modes).map(|k| if k == 1 { 0.5 } else { 0.0 }).collect();
    }
    kernel(beta, modes).iter().map(|v| v / beta).collect()
}

/// Largest growth rate `k^2 I_k / beta` (over I_0 for SA) about the uniform density.
pub(super) fn growth_bound(medium: &Medium) -> f64 {
    let modes = 8 + 3 * medium.beta.abs().sqrt() as usize;
    let scale = if medium.weights == RowWeights::Exponential { medium.beta.abs().exp() } else { 1.0 / kernel(medium.beta, 0)[0] };
    kernel_over_beta(medium.beta, modes).iter().enumerate().map(|(k, w)| (k * k) as f64 * w.abs() * scale).fold(0.0, f64::max)
}

/// Refuses values below `-slack` and non-finite ones by their angle.
fn non_negative(values: &[f64], slack: f64) -> Result<()> {
    let Some(j) = values.iter().position(|v| !v.is_finite() || *v < -slack) else { return Ok(()) };
    let found = format!("{} at theta = {:.6}", values[j], TAU * j as f64 / values.len() as f64);
    Err(Error::parameter("density", found, "finite values >= 0 everywhere"))
}

/// The velocity field and its divergence on a grid.
struct Field {
    density: Vec<f64>,
    v: Vec<f64>,
    divergence: Vec<f64>,
    /// Of the Sinkhorn scaling, 0 for other laws.
    residual: f64,
}

impl Circle {
    /// From a density, with at least `modes` modes and as many as it needs ([`Density::degree`]). **Errors** negative values (the angle is named).
    pub fn from_density(density: &Density, modes: usize) -> Result<Self> {
        let modes = modes.max(density.degree(2));
        let points = 8 * modes.max(64);
        let values: Vec<f64> = (0..points).map(|j| density.on_circle(TAU * j as f64 / points as f64)).collect();
        non_negative(&values, 1e-12)?;
        Self::projected(&values, modes)
    }

    /// The trigonometric polynomial through values on an equispaced grid that begins at angle `from`, scaled to mass 1, with at least `modes` modes.
    ///
    /// **Errors** negative or non-finite values, values whose interpolant is negative (they have corners; the place is named), no mass.
    pub fn from_values(values: &[f64], from: f64, modes: usize) -> Result<Self> {
        non_negative(values, 1e-12)?;
        let mut out = Self::projected(values, values.len() / 2)?.trimmed();
        for (k, c) in out.c.iter_mut().enumerate() {
            *c *= Complex64::from_polar(1.0, -(k as f64) * from);
        }
        let between = out.values(8 * out.modes());
        let lowest = between.iter().copied().fold(0.0, f64::min);
        if lowest < -1e-9 * between.iter().copied().fold(1.0, f64::max) {
            let found = format!("values with corners, between which a Fourier series falls to {lowest:.3}");
            return Err(Error::parameter("values", found, "a smooth density, or the method volume"));
        }
        let modes = out.modes().max(modes);
        Ok(out.resized(modes))
    }

    /// The estimate of tokens at these angles with kernel `e^{bandwidth cos}`, with at least `modes` modes and as many as it needs.
    ///
    /// **Cost** modes per angle. **Errors** no angles, a bandwidth outside [0, 1e5].
    pub fn from_tokens(angles: &[f64], bandwidth: f64, modes: usize) -> Result<Self> {
        in_range("bandwidth", bandwidth, 0.0, 1e5)?;
        if angles.is_empty() {
            return Err(Error::parameter("tokens", "no angles", "at least one"));
        }
        let i = scaled_bessel_i(modes.max(bump_degree(2, bandwidth)), bandwidth);
        let (first, mut c) = (i[0], vec![Complex64::default(); i.len()]);
        for angle in angles {
            let turn = Complex64::from_polar(1.0, -angle);
            let mut wave = Complex64::new(1.0 / angles.len() as f64, 0.0);
            for (c, i) in c.iter_mut().zip(&i) {
                *c += wave * (i / first);
                wave *= turn;
            }
        }
        Ok(Self { c })
    }

    /// The first `modes` modes of values on an equispaced grid, scaled to mass 1, whatever they leave out. **Errors** no mass.
    pub fn projected(values: &[f64], modes: usize) -> Result<Self> {
        let half = values.len() / 2;
        let mut c = Grid::new(values.len()).coefficients(values, modes.min(half));
        if values.len().is_multiple_of(2) && c.len() > half {
            // The highest wave of an even grid stands for both signs.
            c[half] *= 0.5;
        }
        c.resize(modes + 1, Complex64::default());
        let mass = c[0].re;
        if mass.is_nan() || mass <= 0.0 {
            return Err(Error::parameter("density", "no mass", "a positive integral"));
        }
        c.iter_mut().for_each(|c| *c /= mass);
        Ok(Self { c })
    }

    /// Number of modes K.
    pub fn modes(&self) -> usize {
        self.c.len() - 1
    }

    /// Coefficients of `cos k theta`, k = 0..=K, `1` first.
    pub fn cosines(&self) -> Vec<f64> {
        self.c.iter().enumerate().map(|(k, c)| if k == 0 { c.re } else { 2.0 * c.re }).collect()
    }

    /// Coefficients of `sin k theta`.
    pub fn sines(&self) -> Vec<f64> {
        self.c.iter().map(|c| -2.0 * c.im + 0.0).collect()
    }

    /// Values at `2 pi j / points`.
    pub fn values(&self, points: usize) -> Vec<f64> {
        let points = points.max(2 * self.modes() + 2);
        Grid::new(points).values(self.c.iter().copied())
    }

    /// The value at one angle. **Cost** one complex product per mode.
    pub fn at(&self, theta: f64) -> f64 {
        let turn = Complex64::from_polar(1.0, theta);
        // Horner's rule.
        let sum = self.c[1..].iter().rev().fold(Complex64::default(), |s, c| (s + c) * turn);
        self.c[0].re + 2.0 * sum.re
    }

    fn field(&self, medium: &Medium, grid: &Grid) -> Field {
        let (beta, modes) = (medium.beta, self.modes());
        let i = Complex64::i();
        let over = kernel_over_beta(beta, modes);
        let density = grid.values(self.c.iter().copied());
        let potential =
            |order: u32| grid.values(self.c.iter().zip(&over).enumerate().map(|(k, (c, w))| c * *w * (i * k as f64).powu(order)));
        let (slope, curvature) = (potential(1), potential(2));
        match medium.weights {
            RowWeights::Exponential => {
                let scale = beta.abs().exp();
                let [v, divergence] = [slope, curvature].map(|f| f.iter().map(|s| scale * s).collect());
                Field { density, v, divergence, residual: 0.0 }
            }
            RowWeights::Softmax => {
                let w = grid.values(self.c.iter().zip(kernel(beta, modes)).map(|(c, w)| c * w));
                let v: Vec<f64> = slope.iter().zip(&w).map(|(s, w)| s / w).collect();
                // (W'/W)' = W''/W - (W'/W)^2, with W' = beta slope.
                let divergence = curvature.iter().zip(&w).zip(&v).map(|((c, w), v)| c / w - beta * v * v).collect();
                Field { density, v, divergence, residual: 0.0 }
            }
            RowWeights::Sinkhorn => self.sinkhorn(beta, grid, density),
        }
    }

    /// `v = -(1/beta) (log f)'` with `f (k * (f rho)) = 1`, by the symmetric fixed point `f <- sqrt(f / (k * (f rho)))`; a velocity that is no number where it does
    /// not converge (see [`scaling_converged`]).
    fn sinkhorn(&self, beta: f64, grid: &Grid, density: Vec<f64>) -> Field {
        let half = grid.points / 2;
        let weights = kernel(beta, half);
        let convolve = |values: &[f64]| grid.values(grid.coefficients(values, half).iter().zip(&weights).map(|(c, w)| c * *w));
        let mut f = vec![1.0; grid.points];
        let mut residual = f64::INFINITY;
        for _ in 0..10_000 {
            let product: Vec<f64> = f.iter().zip(&density).map(|(f, r)| f * r).collect();
            let s = convolve(&product);
            residual = scaling_residual(&f, &s);
            // Rounding of a transform.
            if residual < 2e-14 {
                break;
            }
            f.iter_mut().zip(&s).for_each(|(f, s)| *f = (*f / s.max(f64::MIN_POSITIVE)).sqrt());
        }
        let c = grid.coefficients(&f.iter().map(|f| -f.ln()).collect::<Vec<_>>(), half - 1);
        let i = Complex64::i();
        let scale = if scaling_converged(residual).is_err() {
            f64::NAN
        } else if beta == 0.0 {
            0.0
        } else {
            1.0 / beta
        };
        let derivative = |order: u32| grid.values(c.iter().enumerate().map(|(k, c)| c * scale * (i * k as f64).powu(order)));
        Field { density, v: derivative(1), divergence: derivative(2), residual }
    }

    /// Time derivatives of the coefficients.
    fn rates(&self, medium: &Medium, grid: &Grid) -> Vec<Complex64> {
        let field = self.field(medium, grid);
        let flux: Vec<f64> = field.density.iter().zip(&field.v).map(|(r, v)| r * v).collect();
        let f = grid.coefficients(&flux, self.modes());
        let i = Complex64::i();
        f.iter().zip(&self.c).enumerate().map(|(k, (f, c))| -i * k as f64 * f - c * medium.diffusion * (k * k) as f64).collect()
    }

    /// One right-hand side, the time derivatives of `c_0..c_K`, on a prepared grid.
    pub fn right_hand_side(&self, medium: &Medium) -> impl Fn(&[Complex64]) -> Vec<Complex64> + use<> {
        let (grid, medium) = (Grid::new(4 * self.modes().max(8)), *medium);
        move |c| Self { c: c.to_vec() }.rates(&medium, &grid)
    }

    /// Negentropy `integral rho log rho d sigma`, 0 at the uniform measure.
    pub fn negentropy(&self) -> f64 {
        let values = self.values(8 * self.modes().max(16));
        values.iter().map(|r| if *r > 0.0 { r * r.ln() } else { 0.0 }).sum::<f64>() / values.len() as f64
    }

    /// Its production `-integral rho div v d sigma` minus what noise destroys, `(1/kappa) integral |grad rho|^2 / rho`; not a number where a Sinkhorn scaling does not
    /// converge.
    pub fn negentropy_rate(&self, medium: &Medium) -> f64 {
        let grid = Grid::new(8 * self.modes().max(16));
        let field = self.field(medium, &grid);
        let produced = -field.density.iter().zip(&field.divergence).map(|(r, v)| r * v).sum::<f64>() / grid.points as f64;
        if medium.diffusion == 0.0 {
            return produced;
        }
        let slope = self.slope(grid.points);
        let fisher =
            slope.iter().zip(&field.density).map(|(s, r)| if *r > 0.0 { s * s / r } else { 0.0 }).sum::<f64>() / grid.points as f64;
        produced - medium.diffusion * fisher
    }

    /// The same by the spectral time derivative, `integral log rho d_t rho d sigma`.
    pub fn negentropy_rate_by_derivative(&self, medium: &Medium) -> f64 {
        let grid = Grid::new(8 * self.modes().max(16));
        let change = grid.values(self.rates(medium, &grid).into_iter());
        let density = grid.values(self.c.iter().copied());
        density.iter().zip(&change).map(|(r, d)| if *r > 0.0 { r.ln() * d } else { 0.0 }).sum::<f64>() / grid.points as f64
    }

    /// Interaction energy `(1/2 beta) integral integral e^{beta <x,y>} d mu d mu` above that of the uniform measure.
    pub fn energy(&self, medium: &Medium) -> f64 {
        let over = kernel_over_beta(medium.beta, self.modes());
        medium.beta.abs().exp() * self.c.iter().zip(&over).skip(1).map(|(c, w)| w * c.norm_sqr()).sum::<f64>()
    }

    /// Its rate of change by the dissipation identity, `integral <grad W / beta, v - (1/kappa) grad log rho> d mu` (arXiv:2312.10794, (3.6) and Lemma 3.7).
    pub fn energy_rate(&self, medium: &Medium) -> f64 {
        let grid = Grid::new(8 * self.modes().max(16));
        let field = self.field(medium, &grid);
        let over = kernel_over_beta(medium.beta, self.modes());
        let pull = grid.values(self.c.iter().zip(&over).enumerate().map(|(k, (c, w))| c * *w * Complex64::i() * k as f64));
        let gained = pull.iter().zip(&field.v).zip(&field.density).map(|((p, v), r)| p * v * r).sum::<f64>() / grid.points as f64;
        let lost: f64 = self.c.iter().zip(&over).enumerate().map(|(k, (c, w))| 2.0 * (k * k) as f64 * w * c.norm_sqr()).sum();
        medium.beta.abs().exp() * (gained - medium.diffusion * lost)
    }

    /// Slopes of the density at `2 pi j / points`.
    pub fn slope(&self, points: usize) -> Vec<f64> {
        let grid = Grid::new(points.max(2 * self.modes() + 2));
        grid.values(self.c.iter().enumerate().map(|(k, c)| c * Complex64::i() * k as f64))
    }

    /// Velocities at `2 pi j / points`.
    pub fn velocity(&self, medium: &Medium, points: usize) -> Vec<f64> {
        self.field(medium, &Grid::new(points.max(2 * self.modes() + 2))).v
    }

    /// Mean velocity `integral v d mu`: 0 for USA at all times, so its mean angle stands still.
    pub fn momentum(&self, medium: &Medium) -> f64 {
        let grid = Grid::new(8 * self.modes().max(16));
        let field = self.field(medium, &grid);
        field.v.iter().zip(&field.density).map(|(v, r)| v * r).sum::<f64>() / grid.points as f64
    }

    /// Share of the size of the coefficients that sits in the highest fifth of the modes.
    pub fn tail(&self) -> f64 {
        let most = self.c.iter().map(|c| c.norm()).fold(0.0, f64::max);
        self.c[self.c.len() * 4 / 5..].iter().map(|c| c.norm()).fold(0.0, f64::max) / most
    }

    /// The same function with another number of modes.
    pub fn resized(&self, modes: usize) -> Self {
        let mut c = self.c.clone();
        c.resize(modes + 1, Complex64::default());
        Self { c }
    }

    /// Evolves by time `t` with the modes it has, resolved or not, for studies of convergence. **Errors** the integrator's.
    pub fn evolve_unchecked(&self, medium: &Medium, t: f64) -> Result<Self> {
        self.leg(medium, &Grid::new(4 * self.modes().max(8)), t, (1e-13, 1e-15), 100_000)
    }

    fn leg(&self, medium: &Medium, grid: &Grid, t: f64, tolerance: (f64, f64), most: u32) -> Result<Self> {
        let modes = self.modes();
        let derivative = |y: &[f64], dy: &mut [f64]| {
            let rates = Self::unpacked(y, modes).rates(medium, grid);
            rates[1..].iter().enumerate().for_each(|(k, r)| (dy[2 * k], dy[2 * k + 1]) = (r.re, r.im));
        };
        let packed: Vec<f64> = self.c[1..].iter().flat_map(|c| [c.re, c.im]).collect();
        advance(derivative, &packed, t, tolerance, most).map(|y| Self::unpacked(&y, modes))
    }

    /// The same function without the highest modes that are rounding only.
    pub fn trimmed(&self) -> Self {
        let most = self.c.iter().map(|c| c.norm()).fold(0.0, f64::max);
        let last = self.c.iter().rposition(|c| c.norm() > 1e-15 * most).unwrap_or(0);
        self.resized(last.max(1))
    }

    /// Evolves by time `t` (order 8, tolerance 1e-11), doubling the modes up to `most` whenever the tail exceeds 1e-10 (both times [`Limits::relax`]); `watch` sees the state after every
    /// leg and says whether to go on.
    ///
    /// **Returns** the state, the time it belongs to, and how it ended: never an under-resolved state. **Errors** a Sinkhorn scaling that does not converge.
    pub fn evolve(
        mut self,
        medium: &Medium,
        t: f64,
        most: impl Into<Limits>,
        watch: impl FnMut(f64, &Self) -> bool,
    ) -> Result<Evolved<Self>> {
        let limits: Limits = most.into();
        let Limits { modes: most, relax } = limits;
        let resolved = 1e-10 * relax;
        let fastest = growth_bound(medium);
        while self.tail() > resolved && self.modes() < most {
            self = self.resized((2 * self.modes()).min(most));
        }
        let leg = |density: Self, left: f64| {
            let grid = Grid::new(4 * density.modes().max(8));
            let field = density.field(medium, &grid);
            scaling_converged(field.residual)?;
            let steepest = field.divergence.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            // A share of the time of the steepest gradient and of the fastest growth about the uniform density.
            let leg = clipped(limits.leg() / steepest.max(fastest).max(1e-3), left, t);
            // A leg that needs so many steps is one whose highest modes run away.
            let next = density.leg(medium, &grid, leg, (1e-11 * relax, 1e-13 * relax), 2_000);
            Ok(match next.ok().filter(|n| n.tail() <= resolved) {
                Some(next) => Leg::Moved(next, leg),
                None if density.modes() >= most => Leg::UnderResolved(density),
                None => Leg::Finer(density.resized((2 * density.modes()).min(most))),
            })
        };
        by_legs(self, t, leg, watch)
    }

    fn unpacked(y: &[f64], modes: usize) -> Self {
        let mut c = Vec::with_capacity(modes + 1);
        c.push(Complex64::new(1.0, 0.0));
        c.extend(y.chunks_exact(2).map(|p| Complex64::new(p[0], p[1])));
        Self { c }
    }
}
