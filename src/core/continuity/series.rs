//! Common parts of densities by series: the coefficients of the kernel, the velocity at nodes,
//! entropy, energy and their rates.

use super::evolution::{DensityState, RefinementRule, evolve};
use super::{Evolution, Limits, MeasureDynamics, negentropy_terms};
use crate::attention::RowWeights;
use crate::error::{Error, Result};
use crate::flow::OdeSystem;
use crate::num::vector::max_abs;
use crate::num::{bessel::scaled_bessel_i, fft::Complex64, gegenbauer::scaled_funk_hecke};
use std::ops::{AddAssign, Mul};

/// A coefficient of a series, real or complex.
pub(super) trait Coefficient:
    Copy + Default + Into<Complex64> + Mul<f64, Output = Self> + AddAssign
{
    /// Number of real numbers per coefficient.
    const REAL_PARTS: usize;
    /// The coefficient with these real numbers.
    fn from_parts(parts: &[f64]) -> Self;

    /// `|c|^2`.
    fn square(self) -> f64 {
        self.into().norm_sqr()
    }
}

impl Coefficient for f64 {
    const REAL_PARTS: usize = 1;

    fn from_parts(parts: &[f64]) -> Self {
        parts[0]
    }
}

impl Coefficient for Complex64 {
    const REAL_PARTS: usize = 2;

    fn from_parts(parts: &[f64]) -> Self {
        Self::new(parts[0], parts[1])
    }
}

fn unpack<C: Coefficient>(y: &[f64]) -> Vec<C> {
    y.chunks_exact(C::REAL_PARTS).map(C::from_parts).collect()
}

fn pack<C: Coefficient>(c: &[C], y: &mut [f64]) {
    for (y, c) in y.chunks_exact_mut(C::REAL_PARTS).zip(c) {
        let c: Complex64 = (*c).into();
        y.copy_from_slice(&[c.re, c.im][..C::REAL_PARTS]);
    }
}

/// Quadrature nodes for the uniform measure of `S^{d-1}`, at which series in harmonics and their
/// products are evaluated.
pub(super) trait Nodes {
    /// Type of the coefficients of the series.
    type Coefficient: Coefficient;
    /// Dimension of the ambient space.
    fn d(&self) -> usize;
    /// Values of a series.
    fn values(&self, c: &[Self::Coefficient]) -> Vec<f64>;
    /// Components of the gradient of a series.
    fn gradient(&self, c: &[Self::Coefficient]) -> Vec<Vec<f64>>;
    /// `integral flux . grad conj(e_k) d sigma` for the first `count` harmonics `e_k`.
    fn divergence(&self, flux: &[Vec<f64>], count: usize) -> Vec<Self::Coefficient>;
    /// The mean of a function for the uniform measure.
    fn mean(&self, values: &[f64]) -> f64;

    /// Degree of each harmonic.
    fn degrees() -> impl Iterator<Item = usize> {
        0..
    }

    /// Sum of `|c|^2` over each degree, counting complex waves of both signs.
    fn power(c: &[Self::Coefficient]) -> Vec<f64> {
        c.iter().map(|c| c.square()).collect()
    }

    /// Number of degrees of the kernel that a Sinkhorn scaling needs, if the nodes have one.
    fn scaling_modes(&self) -> Option<usize> {
        None
    }

    /// The series of `-(1/beta) log f`, `f (k * (f rho)) = 1`, for a density given at the nodes.
    ///
    /// **Errors** a Sinkhorn scaling that does not converge.
    fn scaling(
        &self,
        density: &[f64],
        kernel: &[f64],
        beta: f64,
    ) -> Result<Vec<Self::Coefficient>> {
        let _ = (density, kernel, beta);
        Ok(Vec::new())
    }

    /// Negentropy `integral rho log rho d sigma` of a series.
    fn negentropy(&self, c: &[Self::Coefficient]) -> f64 {
        self.mean(&negentropy_terms(&self.values(c)))
    }

    /// [`Nodes::negentropy`] with a bound of its rounding error: where the density is small, its
    /// values have the rounding error of the largest one.
    fn negentropy_with_error(&self, c: &[Self::Coefficient]) -> (f64, f64) {
        let values = self.values(c);
        let noise = noise(&values);
        let changes = values.iter().map(|r| noise * (1.0 + r.max(noise).ln().abs()));
        (self.mean(&negentropy_terms(&values)), self.mean(&changes.collect::<Vec<_>>()))
    }
}

/// Rounding error of the values of a series: a transform loses some roundings of the largest one.
fn noise(values: &[f64]) -> f64 {
    4.0 * f64::EPSILON * max_abs(values).max(f64::MIN_POSITIVE)
}

/// `e^{-|beta|}` times the Funk-Hecke coefficients of `e^{beta s}` on `S^{d-1}`, any sign of beta.
pub(super) fn kernel(d: usize, beta: f64, modes: usize) -> Vec<f64> {
    let size = beta.abs();
    let mut lambda =
        if d == 2 { scaled_bessel_i(modes, size) } else { scaled_funk_hecke(d, modes, size) };
    if beta < 0.0 {
        lambda.iter_mut().skip(1).step_by(2).for_each(|v| *v = -*v);
    }
    lambda
}

/// [`kernel`] divided by beta, with its limit at beta = 0; the entry of degree 0 is not used.
pub(super) fn kernel_over_beta(d: usize, beta: f64, modes: usize) -> Vec<f64> {
    if beta == 0.0 {
        return (0..=modes).map(|k| if k == 1 { 1.0 / d as f64 } else { 0.0 }).collect();
    }
    kernel(d, beta, modes).iter().map(|l| l / beta).collect()
}

/// Coefficients of the kernel of one dynamics on one sphere.
pub(super) struct KernelSeries {
    /// Those of the weights `e^{beta s}` or phi, divided by `scale`.
    pub weights: Vec<f64>,
    /// Those of the potential `e^{beta s} / beta` or W, divided by `scale`; the entry of degree 0
    /// is not used.
    pub potential: Vec<f64>,
    /// `e^{|beta|}`; 1 for an interaction.
    pub scale: f64,
}

impl KernelSeries {
    /// Weights up to one degree, the potential up to another one.
    ///
    /// **Errors** those of the coefficients of an interaction.
    pub fn new(dynamics: &MeasureDynamics, d: usize, [of, over]: [usize; 2]) -> Result<Self> {
        let beta = dynamics.beta;
        Ok(match &dynamics.interaction {
            None => Self {
                weights: kernel(d, beta, of),
                potential: kernel_over_beta(d, beta, over),
                scale: beta.abs().exp(),
            },
            Some(own) => {
                let found = own.coefficients(d, of.max(over))?;
                let (weights, potential) = (found.weights.clone(), found.potential.clone());
                Self { weights, potential, scale: 1.0 }
            }
        })
    }
}

/// Interaction energy of a series with this [`Nodes::power`], relative to the uniform measure. NaN
/// if an interaction has no coefficients.
pub(super) fn energy(d: usize, dynamics: &MeasureDynamics, power: &[f64]) -> f64 {
    energy_with_error(d, dynamics, power).0
}

/// [`energy`] with a bound of its rounding error: amplitudes have some roundings of the root mean
/// square of the density, coefficients of the exponential one for each degree and dimension, those
/// of an interaction some of its largest value.
pub(super) fn energy_with_error(d: usize, dynamics: &MeasureDynamics, power: &[f64]) -> (f64, f64) {
    let Ok(kernel) = KernelSeries::new(dynamics, d, [0, power.len() - 1]) else {
        return (f64::NAN, f64::NAN);
    };
    let amplitude = 4.0 * f64::EPSILON * power.iter().sum::<f64>().sqrt();
    let absolute = match &dynamics.interaction {
        None => 0.0,
        Some(_) => 8.0 * f64::EPSILON * dynamics.largest_energy(),
    };
    let (mut value, mut error) = (0.0, 0.0);
    for (k, (w, p)) in kernel.potential.iter().zip(power).enumerate().skip(1) {
        value += w * p;
        let change = (2.0 * p.sqrt() + amplitude) * amplitude;
        let relative = f64::EPSILON * (16 + d + k) as f64;
        error += w.abs() * (change + relative * p) + absolute * p;
    }
    (0.5 * kernel.scale * value, 0.5 * kernel.scale * error)
}

/// The right-hand side of the continuity equation for one dynamics at one set of nodes.
pub(super) struct Operator<N> {
    pub nodes: N,
    dynamics: MeasureDynamics,
    kernel: KernelSeries,
}

/// Row sums of an interaction below this part of its largest value are rounding errors of the
/// series, which are about 1e-15.
const MIN_ROW_SUM: f64 = 1e-13;

/// Density and velocity at the nodes.
pub(super) struct NodeValues {
    pub density: Vec<f64>,
    /// One entry per component of the gradient.
    pub velocity: Vec<Vec<f64>>,
    /// `-div v`, if requested.
    minus_divergence: Vec<f64>,
}

impl<N: Nodes> Operator<N> {
    /// For series up to this degree. **Errors** Sinkhorn attention on nodes without a scaling.
    pub fn new(nodes: N, dynamics: &MeasureDynamics, modes: usize) -> Result<Self> {
        let d = nodes.d();
        let unsupported = || {
            Error::parameter(
                "dynamics",
                "sinkhorn",
                "sa or usa (Sinkhorn attention only on the circle)",
            )
        };
        let needed = if dynamics.weights == RowWeights::Sinkhorn {
            nodes.scaling_modes().ok_or_else(unsupported)?
        } else {
            modes
        };
        let kernel = KernelSeries::new(dynamics, d, [needed, modes])?;
        Ok(Self { nodes, dynamics: dynamics.clone(), kernel })
    }

    /// The coefficients times a factor that depends on their degree.
    fn by_degree(c: &[N::Coefficient], factor: impl Fn(usize) -> f64) -> Vec<N::Coefficient> {
        c.iter().zip(N::degrees()).map(|(c, k)| *c * factor(k)).collect()
    }

    /// Eigenvalue of `-Lap`: `k (k + d - 2)`.
    fn eigenvalue(&self, k: usize) -> f64 {
        (k * (k + self.nodes.d() - 2)) as f64
    }

    /// The potential of USA in units of [`KernelSeries::scale`].
    fn usa_potential(&self, c: &[N::Coefficient]) -> Vec<N::Coefficient> {
        Self::by_degree(c, |k| self.kernel.potential[k])
    }

    /// Density and velocity, and `-div v` if requested. **Errors** a scaling that does not
    /// converge.
    pub fn field(&self, c: &[N::Coefficient], with_divergence: bool) -> Result<NodeValues> {
        let (nodes, beta) = (&self.nodes, self.dynamics.beta);
        let density = nodes.values(c);
        let potential = match self.dynamics.weights {
            RowWeights::Sinkhorn => nodes.scaling(&density, &self.kernel.weights, beta)?,
            _ => self.usa_potential(c),
        };
        let mut velocity = nodes.gradient(&potential);
        let mut minus_divergence = Vec::new();
        if with_divergence {
            minus_divergence = nodes.values(&Self::by_degree(&potential, |k| self.eigenvalue(k)));
        }
        match self.dynamics.weights {
            RowWeights::Sinkhorn => {}
            RowWeights::Exponential => {
                let scale = self.kernel.scale;
                velocity
                    .iter_mut()
                    .chain([&mut minus_divergence])
                    .flatten()
                    .for_each(|v| *v *= scale);
            }
            RowWeights::Softmax => {
                let weights = Self::by_degree(c, |k| self.kernel.weights[k]);
                let w = nodes.values(&weights);
                self.check_row_sums(&density, &w)?;
                for part in velocity.iter_mut().chain([&mut minus_divergence]) {
                    part.iter_mut().zip(&w).for_each(|(v, w)| *v /= w);
                }
                if self.dynamics.interaction.is_some() && with_divergence {
                    // div (A / B) = div A / B - <A / B, grad B> / B.
                    let slope = nodes.gradient(&weights);
                    for (j, minus_divergence) in minus_divergence.iter_mut().enumerate() {
                        let along = velocity.iter().zip(&slope).map(|(v, b)| v[j] * b[j]);
                        *minus_divergence += along.sum::<f64>() / w[j];
                    }
                } else {
                    // div (grad W / W) = Lap W / W - |grad W / W|^2.
                    for (j, minus_divergence) in minus_divergence.iter_mut().enumerate() {
                        *minus_divergence +=
                            beta * velocity.iter().map(|v| v[j] * v[j]).sum::<f64>();
                    }
                }
            }
        }
        Ok(NodeValues { density, velocity, minus_divergence })
    }

    /// **Errors** row sums of an interaction that vanish to rounding for a density that is
    /// positive: the velocity is a quotient by them.
    fn check_row_sums(&self, density: &[f64], sums: &[f64]) -> Result<()> {
        let Some(own) = &self.dynamics.interaction else { return Ok(()) };
        let least = |v: &[f64]| v.iter().copied().fold(f64::INFINITY, f64::min);
        let (lowest, size) = (least(sums), own.interaction().sizes().0);
        if lowest > MIN_ROW_SUM * size || least(density) < -1e-9 || lowest.is_nan() {
            return Ok(());
        }
        Err(Error::Numerical {
            what: format!(
                "the row sum of the interaction is {lowest:.1e} at a point of the sphere, which is \
                 0 to rounding: weights of the form `sa` are not defined there"
            ),
        })
    }

    /// Time derivatives of the coefficients,
    /// `integral rho v . grad conj(e_k) d sigma - (1/kappa) k (k + d - 2) c_k`.
    ///
    /// **Errors** a Sinkhorn scaling that does not converge.
    pub fn rates(&self, c: &[N::Coefficient]) -> Result<Vec<N::Coefficient>> {
        let NodeValues { density, mut velocity, .. } = self.field(c, false)?;
        velocity
            .iter_mut()
            .for_each(|part| part.iter_mut().zip(&density).for_each(|(v, r)| *v *= r));
        let mut out = self.nodes.divergence(&velocity, c.len());
        if self.dynamics.diffusion != 0.0 {
            let loss = Self::by_degree(c, |k| -self.dynamics.diffusion * self.eigenvalue(k));
            out.iter_mut().zip(loss).for_each(|(o, l)| *o += l);
        }
        Ok(out)
    }

    /// Production of negentropy, `-integral rho div v d sigma`, minus the loss by noise,
    /// `(1/kappa) integral |grad rho|^2 / rho`. **Errors** as [`Operator::rates`].
    pub fn negentropy_rate(&self, c: &[N::Coefficient]) -> Result<f64> {
        Ok(self.negentropy_rate_with_error(c)?.0)
    }

    /// [`Operator::negentropy_rate`] with a bound of its rounding error. **Errors** as
    /// [`Operator::rates`].
    pub fn negentropy_rate_with_error(&self, c: &[N::Coefficient]) -> Result<(f64, f64)> {
        let NodeValues { density, minus_divergence, .. } = self.field(c, true)?;
        let noise = noise(&density);
        let terms = density.iter().zip(&minus_divergence).map(|(r, f)| r * f);
        let produced = self.nodes.mean(&terms.collect::<Vec<_>>());
        let sizes: Vec<f64> = minus_divergence.iter().map(|f| f.abs()).collect();
        let error = noise * self.nodes.mean(&sizes) + 4.0 * f64::EPSILON * max_abs(&sizes);
        let diffusion = self.dynamics.diffusion;
        if diffusion == 0.0 {
            return Ok((produced, error));
        }
        let slope = self.nodes.gradient(c);
        let square = |j: usize| slope.iter().map(|s| s[j] * s[j]).sum::<f64>();
        let fisher =
            density.iter().enumerate().map(|(j, r)| if *r > 0.0 { square(j) / r } else { 0.0 });
        let lost = self.nodes.mean(&fisher.collect::<Vec<_>>());
        let degree = N::degrees().take(c.len()).last().unwrap_or(0) as f64;
        let changes = density.iter().enumerate().map(|(j, r)| {
            let (square, r, change) = (square(j), r.max(noise), noise * degree);
            (square * noise / r + 2.0 * square.sqrt() * change + change * change) / r
        });
        let change = self.nodes.mean(&changes.collect::<Vec<_>>());
        Ok((produced - diffusion * lost, error + diffusion * change))
    }

    /// Rate of change of the [`energy`] by the dissipation identity,
    /// `integral <grad W / beta, v - (1/kappa) grad log rho> d mu` (arXiv:2312.10794, (3.6) and
    /// Lemma 3.7). **Errors** as [`Operator::rates`].
    pub fn energy_rate(&self, c: &[N::Coefficient]) -> Result<f64> {
        let NodeValues { density, velocity, .. } = self.field(c, false)?;
        let pull = self.nodes.gradient(&self.usa_potential(c));
        let power = |j: usize| {
            velocity.iter().zip(&pull).map(|(v, p)| p[j] * v[j]).sum::<f64>() * density[j]
        };
        let gained = self.nodes.mean(&(0..density.len()).map(power).collect::<Vec<_>>());
        let loss: f64 = N::power(c)
            .iter()
            .enumerate()
            .map(|(k, p)| self.eigenvalue(k) * self.kernel.potential[k] * p)
            .sum();
        Ok(self.kernel.scale * (gained - self.dynamics.diffusion * loss))
    }
}

impl<N: Nodes> OdeSystem for Operator<N> {
    fn rates(&mut self, _: f64, y: &[f64], dy: &mut [f64]) -> Result<()> {
        pack(&Self::rates(self, &unpack(y))?, dy);
        Ok(())
    }

    /// Every coefficient meets the tolerance, small ones too.
    fn block(&self, _: usize) -> usize {
        N::Coefficient::REAL_PARTS
    }
}

/// A density by a truncated series.
pub(super) trait Series: Sized {
    /// The nodes at which products are evaluated.
    type Nodes: Nodes;
    /// Largest [`Series::tail`] of a resolved density.
    const RESOLVED_TAIL: f64;
    /// Largest degree in an evolution.
    const MAX_DEGREE: usize;

    /// Largest degree.
    fn degree(&self) -> usize;
    /// The coefficients in the order of the series.
    fn coefficients(&self) -> &[Coefficients<Self>];
    /// The series with these coefficients.
    fn with_coefficients(&self, degree: usize, c: Vec<Coefficients<Self>>) -> Self;
    /// Number of coefficients below a degree.
    fn count_below(degree: usize) -> usize;
    /// Nodes that are exact for `d rho/dt`; twice as many (`fine`) for integrals of other
    /// functions.
    fn nodes(&self, fine: bool) -> Result<Self::Nodes>;

    /// This function with coefficients up to another degree.
    fn with_degree(&self, degree: usize) -> Self {
        let mut c = self.coefficients().to_vec();
        c.resize(Self::count_below(degree + 1), Default::default());
        self.with_coefficients(degree, c)
    }

    /// Largest coefficient in the highest fifth of the degrees, relative to the largest of all.
    fn tail(&self) -> f64 {
        let (c, from) = (self.coefficients(), Self::count_below(self.degree() * 4 / 5));
        let largest =
            |c: &[Coefficients<Self>]| c.iter().map(|c| c.square().sqrt()).fold(0.0, f64::max);
        largest(&c[from..]) / largest(c)
    }

    /// The right-hand side at the nodes. **Errors** those of the nodes, Sinkhorn attention except
    /// on the circle.
    fn operator(&self, dynamics: &MeasureDynamics, fine: bool) -> Result<Operator<Self::Nodes>> {
        Operator::new(self.nodes(fine)?, dynamics, self.degree())
    }

    /// Evolves by time `t` with as many coefficients as the density needs.
    fn evolve_resolved(
        self,
        dynamics: &MeasureDynamics,
        t: f64,
        limits: Limits,
        watch: impl FnMut(f64, &Self) -> bool,
    ) -> Result<Evolution<Self>> {
        let rule = DegreeDoubling {
            resolved: Self::RESOLVED_TAIL * limits.tolerance_factor,
            max_degree: limits.max_modes.min(Self::MAX_DEGREE),
        };
        evolve(self, dynamics, t, &rule, watch)
    }
}

/// The type of the coefficients of a series.
pub(super) type Coefficients<S> = <<S as Series>::Nodes as Nodes>::Coefficient;

impl<S: Series> DensityState for S {
    type System = Operator<S::Nodes>;

    fn system(&self, dynamics: &MeasureDynamics) -> Result<Self::System> {
        self.operator(dynamics, false)
    }

    fn coordinates(&self) -> Vec<f64> {
        let mut y = vec![0.0; self.coefficients().len() * Coefficients::<S>::REAL_PARTS];
        pack(self.coefficients(), &mut y);
        y
    }

    fn with_coordinates(&self, y: &[f64]) -> Result<Self> {
        Ok(self.with_coefficients(self.degree(), unpack(y)))
    }
}

/// Doubles the degree if the tail is too large, up to a largest degree.
struct DegreeDoubling {
    resolved: f64,
    max_degree: usize,
}

impl<S: Series> RefinementRule<S> for DegreeDoubling {
    fn tolerances(&self) -> (f64, f64) {
        (0.1 * self.resolved, 1e-3 * self.resolved)
    }

    fn resolves(&self, state: &S) -> bool {
        state.tail() <= self.resolved
    }

    fn refine(&self, state: &S, _: Option<S>) -> Option<S> {
        (state.degree() < self.max_degree)
            .then(|| state.with_degree((2 * state.degree()).min(self.max_degree)))
    }
}
