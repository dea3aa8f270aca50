//! What densities by series share: the coefficients of the kernel, the velocity at nodes, entropy,
//! energy and their rates.

use super::evolution::{Evolving, Rule, evolve};
use super::{Evolved, Limits, Medium, negentropy_terms};
use crate::attention::RowWeights;
use crate::error::{Error, Result};
use crate::flow::OdeSystem;
use crate::num::{bessel::scaled_bessel_i, fft::Complex64, gegenbauer::scaled_funk_hecke};
use std::ops::{AddAssign, Mul};

/// A coefficient of a series, real or complex.
pub(super) trait Coefficient: Copy + Default + Into<Complex64> + Mul<f64, Output = Self> + AddAssign {
    /// Real numbers that it consists of.
    const PARTS: usize;
    /// The coefficient of these parts.
    fn read(parts: &[f64]) -> Self;

    /// `|c|^2`.
    fn square(self) -> f64 {
        self.into().norm_sqr()
    }
}

impl Coefficient for f64 {
    const PARTS: usize = 1;

    fn read(parts: &[f64]) -> Self {
        parts[0]
    }
}

impl Coefficient for Complex64 {
    const PARTS: usize = 2;

    fn read(parts: &[f64]) -> Self {
        Self::new(parts[0], parts[1])
    }
}

fn unpacked<C: Coefficient>(y: &[f64]) -> Vec<C> {
    y.chunks_exact(C::PARTS).map(C::read).collect()
}

fn pack<C: Coefficient>(c: &[C], y: &mut [f64]) {
    for (y, c) in y.chunks_exact_mut(C::PARTS).zip(c) {
        let c: Complex64 = (*c).into();
        y.copy_from_slice(&[c.re, c.im][..C::PARTS]);
    }
}

/// Nodes for the uniform measure of `S^{d-1}`, at which series in harmonics and their products are
/// evaluated.
pub(super) trait Nodes {
    /// Of the series.
    type Coefficient: Coefficient;
    /// Dimension of the ambient space.
    fn d(&self) -> usize;
    /// Values of a series.
    fn values(&self, c: &[Self::Coefficient]) -> Vec<f64>;
    /// Components of the gradient of a series.
    fn gradient(&self, c: &[Self::Coefficient]) -> Vec<Vec<f64>>;
    /// `integral flux . grad conj(e_k) d sigma` for the first `count` harmonics `e_k`.
    fn divergence(&self, flux: &[Vec<f64>], count: usize) -> Vec<Self::Coefficient>;
    /// The integral of a function for the uniform measure.
    fn mean(&self, values: &[f64]) -> f64;

    /// Degree of each harmonic.
    fn degrees() -> impl Iterator<Item = usize> {
        0..
    }

    /// Squared size of the part of each degree, both signs of complex waves included.
    fn power(c: &[Self::Coefficient]) -> Vec<f64> {
        c.iter().map(|c| c.square()).collect()
    }

    /// Degrees of the kernel that a Sinkhorn scaling needs, where there is one.
    fn scaling_modes(&self) -> Option<usize> {
        None
    }

    /// The series of `-(1/beta) log f`, `f (k * (f rho)) = 1`, for a density given at the nodes.
    ///
    /// **Errors** a Sinkhorn scaling that does not converge.
    fn scaling(&self, density: &[f64], kernel: &[f64], beta: f64) -> Result<Vec<Self::Coefficient>> {
        let _ = (density, kernel, beta);
        Ok(Vec::new())
    }

    /// Negentropy `integral rho log rho d sigma` of a series.
    fn negentropy(&self, c: &[Self::Coefficient]) -> f64 {
        self.mean(&negentropy_terms(&self.values(c)))
    }
}

/// `e^{-|beta|}` times the Funk-Hecke coefficients of `e^{beta s}` on `S^{d-1}`, any sign of beta.
pub(super) fn kernel(d: usize, beta: f64, modes: usize) -> Vec<f64> {
    let size = beta.abs();
    let mut lambda = if d == 2 { scaled_bessel_i(modes, size) } else { scaled_funk_hecke(d, modes, size) };
    if beta < 0.0 {
        lambda.iter_mut().skip(1).step_by(2).for_each(|v| *v = -*v);
    }
    lambda
}

/// [`kernel`] over beta, with the limit at beta = 0; the entry of degree 0 is not used.
pub(super) fn kernel_over_beta(d: usize, beta: f64, modes: usize) -> Vec<f64> {
    if beta == 0.0 {
        return (0..=modes).map(|k| if k == 1 { 1.0 / d as f64 } else { 0.0 }).collect();
    }
    kernel(d, beta, modes).iter().map(|l| l / beta).collect()
}

/// Interaction energy above that of the uniform measure of a series with this [`Nodes::power`].
pub(super) fn energy(d: usize, beta: f64, power: &[f64]) -> f64 {
    let over = kernel_over_beta(d, beta, power.len() - 1);
    0.5 * beta.abs().exp() * over.iter().zip(power).skip(1).map(|(w, p)| w * p).sum::<f64>()
}

/// The right-hand side of the continuity equation of one medium at one set of nodes.
pub(super) struct Operator<N> {
    pub nodes: N,
    medium: Medium,
    /// `e^{-|beta|}` times the coefficients of the kernel, and those over beta.
    kernel: Vec<f64>,
    over: Vec<f64>,
}

/// Density and velocity at nodes.
pub(super) struct Field {
    pub density: Vec<f64>,
    /// Components.
    pub velocity: Vec<Vec<f64>>,
    /// `-div v`, where it was asked for.
    fall: Vec<f64>,
}

impl<N: Nodes> Operator<N> {
    /// For series with this largest degree. **Errors** Sinkhorn attention where it has no scaling.
    pub fn new(nodes: N, medium: &Medium, modes: usize) -> Result<Self> {
        let (d, beta) = (nodes.d(), medium.beta);
        let none = || Error::parameter("dynamics", "sinkhorn", "sa or usa: Sinkhorn attention is scaled on the circle alone");
        let needed = if medium.weights == RowWeights::Sinkhorn { nodes.scaling_modes().ok_or_else(none)? } else { modes };
        Ok(Self { nodes, medium: *medium, kernel: kernel(d, beta, needed), over: kernel_over_beta(d, beta, modes) })
    }

    /// Coefficients times a factor of their degree.
    fn by_degree(c: &[N::Coefficient], factor: impl Fn(usize) -> f64) -> Vec<N::Coefficient> {
        c.iter().zip(N::degrees()).map(|(c, k)| *c * factor(k)).collect()
    }

    /// `k (k + d - 2)`.
    fn eigenvalue(&self, k: usize) -> f64 {
        (k * (k + self.nodes.d() - 2)) as f64
    }

    /// `grad W / beta` in units of `e^{|beta|}`.
    fn pull(&self, c: &[N::Coefficient]) -> Vec<N::Coefficient> {
        Self::by_degree(c, |k| self.over[k])
    }

    /// Density and velocity, and `-div v` if wanted. **Errors** a scaling that does not converge.
    pub fn field(&self, c: &[N::Coefficient], with_fall: bool) -> Result<Field> {
        let (nodes, beta) = (&self.nodes, self.medium.beta);
        let density = nodes.values(c);
        let potential = match self.medium.weights {
            RowWeights::Sinkhorn => nodes.scaling(&density, &self.kernel, beta)?,
            _ => self.pull(c),
        };
        let mut velocity = nodes.gradient(&potential);
        let mut fall = Vec::new();
        if with_fall {
            fall = nodes.values(&Self::by_degree(&potential, |k| self.eigenvalue(k)));
        }
        match self.medium.weights {
            RowWeights::Sinkhorn => {}
            RowWeights::Exponential => {
                let scale = beta.abs().exp();
                velocity.iter_mut().chain([&mut fall]).flatten().for_each(|v| *v *= scale);
            }
            RowWeights::Softmax => {
                let w = nodes.values(&Self::by_degree(c, |k| self.kernel[k]));
                for part in velocity.iter_mut().chain([&mut fall]) {
                    part.iter_mut().zip(&w).for_each(|(v, w)| *v /= w);
                }
                // div (grad W / W) = Lap W / W - |grad W / W|^2.
                for (j, fall) in fall.iter_mut().enumerate() {
                    *fall += beta * velocity.iter().map(|v| v[j] * v[j]).sum::<f64>();
                }
            }
        }
        Ok(Field { density, velocity, fall })
    }

    /// Time derivatives of the coefficients,
    /// `integral rho v . grad conj(e_k) d sigma - (1/kappa) k (k + d - 2) c_k`.
    ///
    /// **Errors** a Sinkhorn scaling that does not converge.
    pub fn rates(&self, c: &[N::Coefficient]) -> Result<Vec<N::Coefficient>> {
        let Field { density, mut velocity, .. } = self.field(c, false)?;
        velocity.iter_mut().for_each(|part| part.iter_mut().zip(&density).for_each(|(v, r)| *v *= r));
        let mut out = self.nodes.divergence(&velocity, c.len());
        if self.medium.diffusion != 0.0 {
            let lost = Self::by_degree(c, |k| -self.medium.diffusion * self.eigenvalue(k));
            out.iter_mut().zip(lost).for_each(|(o, l)| *o += l);
        }
        Ok(out)
    }

    /// Production of negentropy, `-integral rho div v d sigma` minus what noise destroys,
    /// `(1/kappa) integral |grad rho|^2 / rho`. **Errors** as [`Operator::rates`].
    pub fn negentropy_rate(&self, c: &[N::Coefficient]) -> Result<f64> {
        let Field { density, fall, .. } = self.field(c, true)?;
        let produced = self.nodes.mean(&density.iter().zip(&fall).map(|(r, f)| r * f).collect::<Vec<_>>());
        if self.medium.diffusion == 0.0 {
            return Ok(produced);
        }
        let slope = self.nodes.gradient(c);
        let square = |j: usize| slope.iter().map(|s| s[j] * s[j]).sum::<f64>();
        let fisher = density.iter().enumerate().map(|(j, r)| if *r > 0.0 { square(j) / r } else { 0.0 });
        Ok(produced - self.medium.diffusion * self.nodes.mean(&fisher.collect::<Vec<_>>()))
    }

    /// Rate of change of the [`energy`] by the dissipation identity,
    /// `integral <grad W / beta, v - (1/kappa) grad log rho> d mu` (arXiv:2312.10794, (3.6) and
    /// Lemma 3.7). **Errors** as [`Operator::rates`].
    pub fn energy_rate(&self, c: &[N::Coefficient]) -> Result<f64> {
        let Field { density, velocity, .. } = self.field(c, false)?;
        let pull = self.nodes.gradient(&self.pull(c));
        let power = |j: usize| velocity.iter().zip(&pull).map(|(v, p)| p[j] * v[j]).sum::<f64>() * density[j];
        let gained = self.nodes.mean(&(0..density.len()).map(power).collect::<Vec<_>>());
        let lost: f64 = N::power(c).iter().enumerate().map(|(k, p)| self.eigenvalue(k) * self.over[k] * p).sum();
        Ok(self.medium.beta.abs().exp() * (gained - self.medium.diffusion * lost))
    }
}

impl<N: Nodes> OdeSystem for Operator<N> {
    fn rates(&mut self, _: f64, y: &[f64], dy: &mut [f64]) -> Result<()> {
        pack(&Self::rates(self, &unpacked(y))?, dy);
        Ok(())
    }

    /// Every coefficient is right to the tolerance, the small ones as well.
    fn block(&self, _: usize) -> usize {
        N::Coefficient::PARTS
    }
}

/// A density by a truncated series.
pub(super) trait Series: Sized {
    /// At which its products are evaluated.
    type Nodes: Nodes;
    /// The largest [`Series::tail`] of a resolved density.
    const TAIL: f64;
    /// The largest degree that an evolution may need.
    const LARGEST: usize;

    /// Largest degree.
    fn degree(&self) -> usize;
    /// In the order of the series.
    fn coefficients(&self) -> &[Coefficients<Self>];
    /// The series of these coefficients.
    fn with(&self, degree: usize, c: Vec<Coefficients<Self>>) -> Self;
    /// Number of coefficients below a degree.
    fn below(degree: usize) -> usize;
    /// Nodes that are enough for `d rho/dt`; twice as many for integrals of other functions.
    fn nodes(&self, fine: bool) -> Result<Self::Nodes>;

    /// The same function with another number of coefficients.
    fn with_degree(&self, degree: usize) -> Self {
        let mut c = self.coefficients().to_vec();
        c.resize(Self::below(degree + 1), Default::default());
        self.with(degree, c)
    }

    /// Size of the highest fifth of the degrees over the largest coefficient.
    fn tail(&self) -> f64 {
        let (c, from) = (self.coefficients(), Self::below(self.degree() * 4 / 5));
        let largest = |c: &[Coefficients<Self>]| c.iter().map(|c| c.square().sqrt()).fold(0.0, f64::max);
        largest(&c[from..]) / largest(c)
    }

    /// The equation at the nodes. **Errors** those of the nodes, Sinkhorn attention off the circle.
    fn operator(&self, medium: &Medium, fine: bool) -> Result<Operator<Self::Nodes>> {
        Operator::new(self.nodes(fine)?, medium, self.degree())
    }

    /// Evolves by time `t` with as many coefficients as the density needs.
    fn evolve_resolved(self, medium: &Medium, t: f64, limits: Limits, watch: impl FnMut(f64, &Self) -> bool) -> Result<Evolved<Self>> {
        let rule = Doubling { resolved: Self::TAIL * limits.relax, most: limits.modes.min(Self::LARGEST) };
        evolve(self, medium, t, &rule, watch)
    }
}

/// The type of the coefficients of a series.
pub(super) type Coefficients<S> = <<S as Series>::Nodes as Nodes>::Coefficient;

impl<S: Series> Evolving for S {
    type System = Operator<S::Nodes>;

    fn system(&self, medium: &Medium) -> Result<Self::System> {
        self.operator(medium, false)
    }

    fn coordinates(&self) -> Vec<f64> {
        let mut y = vec![0.0; self.coefficients().len() * Coefficients::<S>::PARTS];
        pack(self.coefficients(), &mut y);
        y
    }

    fn at(&self, y: &[f64]) -> Result<Self> {
        Ok(self.with(self.degree(), unpacked(y)))
    }
}

/// Doubles the degree where the tail is too large, up to a largest degree.
struct Doubling {
    resolved: f64,
    most: usize,
}

impl<S: Series> Rule<S> for Doubling {
    fn tolerances(&self) -> (f64, f64) {
        (0.1 * self.resolved, 1e-3 * self.resolved)
    }

    fn resolves(&self, state: &S) -> bool {
        state.tail() <= self.resolved
    }

    fn refined(&self, state: &S, _: Option<S>) -> Option<S> {
        (state.degree() < self.most).then(|| state.with_degree((2 * state.degree()).min(self.most)))
    }
}
