//! Densities on the circle by Fourier series.

use super::density::{Density, bump_degree};
use super::evolution::evolve;
use super::series::{NodeValues, Nodes, Operator, Series, energy, energy_with_error};
use super::{
    Evolution, Limits, MeasureDynamics, check_non_negative, positive_mass, sinkhorn_scaling,
};
use crate::error::{Error, Result, in_range};
use crate::num::bessel::scaled_bessel_i;
use crate::num::fft::{Complex64, RealFft, plan};
use std::f64::consts::TAU;

/// A density `rho(theta) = sum_{|k| <= K} c_k e^{i k theta}`, `c_0 = 1`, relative to the uniform
/// measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Circle {
    /// `c_0, ..., c_K`.
    pub c: Vec<Complex64>,
}

/// A grid of equispaced points.
pub(super) struct Grid(RealFft);

/// The coefficients of the derivative.
fn derivative(c: &[Complex64]) -> impl Iterator<Item = Complex64> {
    c.iter().enumerate().map(|(k, c)| Complex64::new(-(k as f64) * c.im, k as f64 * c.re))
}

impl Nodes for Grid {
    type Coefficient = Complex64;

    fn d(&self) -> usize {
        2
    }

    fn values(&self, c: &[Complex64]) -> Vec<f64> {
        self.0.values(c.iter().copied())
    }

    fn gradient(&self, c: &[Complex64]) -> Vec<Vec<f64>> {
        vec![self.0.values(derivative(c))]
    }

    fn divergence(&self, flux: &[Vec<f64>], count: usize) -> Vec<Complex64> {
        derivative(&self.0.coefficients(&flux[0], count - 1)).map(|c| -c).collect()
    }

    fn mean(&self, values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    fn power(c: &[Complex64]) -> Vec<f64> {
        c.iter().map(|c| 2.0 * c.norm_sqr()).collect()
    }

    fn scaling_modes(&self) -> Option<usize> {
        Some(self.0.points() / 2)
    }

    fn scaling(&self, density: &[f64], kernel: &[f64], beta: f64) -> Result<Vec<Complex64>> {
        let sums = |f: &[f64]| {
            let product: Vec<f64> = f.iter().zip(density).map(|(f, r)| f * r).collect();
            self.0.convolution(&product, kernel)
        };
        // The tolerance is the rounding of a transform.
        let f = sinkhorn_scaling(density.len(), 2e-14, sums)?;
        let over_beta = if beta == 0.0 { 0.0 } else { 1.0 / beta };
        let potential: Vec<f64> = f.iter().map(|f| -f.ln()).collect();
        let mut c = self.0.coefficients(&potential, self.0.points() / 2 - 1);
        c.iter_mut().for_each(|c| *c *= over_beta);
        Ok(c)
    }
}

impl Series for Circle {
    type Nodes = Grid;
    const RESOLVED_TAIL: f64 = 1e-10;
    const MAX_DEGREE: usize = usize::MAX;

    fn degree(&self) -> usize {
        self.modes()
    }

    fn coefficients(&self) -> &[Complex64] {
        &self.c
    }

    fn with_coefficients(&self, _: usize, c: Vec<Complex64>) -> Self {
        Self { c }
    }

    fn count_below(degree: usize) -> usize {
        degree
    }

    fn nodes(&self, fine: bool) -> Result<Grid> {
        Ok(if fine { self.fine() } else { Grid(plan(4 * self.modes().max(8))) })
    }
}

impl Circle {
    /// From a density, with at least `modes` modes and as many as it needs ([`Density::degree`]).
    /// **Errors** negative values (the error names the angle).
    pub fn from_density(density: &Density, modes: usize) -> Result<Self> {
        let modes = modes.max(density.degree(2));
        let points = 8 * modes.max(64);
        let values: Vec<f64> =
            (0..points).map(|j| density.on_circle(TAU * j as f64 / points as f64)).collect();
        Self::check_values(&values)?;
        Self::from_values_truncated(&values, modes)
    }

    /// The trigonometric polynomial through values on an equispaced grid that begins at angle
    /// `from`, scaled to mass 1, with at least `modes` modes.
    ///
    /// **Errors** negative or non-finite values, values with corners, whose interpolant is
    /// negative; no mass.
    pub fn from_values(values: &[f64], from: f64, modes: usize) -> Result<Self> {
        Self::check_values(values)?;
        let mut out =
            Self::from_values_truncated(values, values.len() / 2)?.without_negligible_modes();
        for (k, c) in out.c.iter_mut().enumerate() {
            *c *= Complex64::from_polar(1.0, -(k as f64) * from);
        }
        let between = out.values(8 * out.modes());
        let lowest = between.iter().copied().fold(0.0, f64::min);
        if lowest < -1e-9 * between.iter().copied().fold(1.0, f64::max) {
            let found =
                format!("values with corners, whose Fourier series has the minimum {lowest:.3}");
            return Err(Error::parameter("values", found, "a smooth density, or --method volume"));
        }
        let modes = out.modes().max(modes);
        Ok(out.with_modes(modes))
    }

    fn check_values(values: &[f64]) -> Result<()> {
        check_non_negative(values, 1e-12, |j| {
            format!("theta = {:.6}", TAU * j as f64 / values.len() as f64)
        })
    }

    /// The kernel density estimate of tokens at these angles with kernel `e^{bandwidth cos}`, with
    /// at least `modes` modes and as many as it needs.
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

    /// The first `modes` modes of values on an equispaced grid, scaled to mass 1; higher modes are
    /// dropped. **Errors** no mass.
    pub fn from_values_truncated(values: &[f64], modes: usize) -> Result<Self> {
        let half = values.len() / 2;
        let mut c = plan(values.len()).coefficients(values, modes.min(half));
        if values.len().is_multiple_of(2) && c.len() > half {
            // The highest mode of an even grid holds the waves of both signs.
            c[half] *= 0.5;
        }
        c.resize(modes + 1, Complex64::default());
        let mass = positive_mass(c[0].re)?;
        c.iter_mut().for_each(|c| *c /= mass);
        Ok(Self { c })
    }

    /// Number of modes K.
    pub fn modes(&self) -> usize {
        self.c.len() - 1
    }

    /// Coefficients of `cos k theta`, k = 0..=K; the first is 1.
    pub fn cosines(&self) -> Vec<f64> {
        self.c.iter().enumerate().map(|(k, c)| if k == 0 { c.re } else { 2.0 * c.re }).collect()
    }

    /// Coefficients of `sin k theta`.
    pub fn sines(&self) -> Vec<f64> {
        self.c.iter().map(|c| -2.0 * c.im + 0.0).collect()
    }

    /// A grid for integrals of functions other than quadratic products.
    fn fine(&self) -> Grid {
        Grid(plan(8 * self.modes().max(16)))
    }

    /// An equispaced grid from angle 0 with at least as many points as the modes need.
    fn grid(&self, points: usize) -> Grid {
        Grid(plan(points.max(2 * self.modes() + 2)))
    }

    /// Values at `2 pi j / points`.
    pub fn values(&self, points: usize) -> Vec<f64> {
        Nodes::values(&self.grid(points), &self.c)
    }

    /// The value at one angle. **Cost** one complex product per mode.
    pub fn value_at(&self, theta: f64) -> f64 {
        let turn = Complex64::from_polar(1.0, theta);
        // Horner's rule.
        let sum = self.c[1..].iter().rev().fold(Complex64::default(), |s, c| (s + c) * turn);
        self.c[0].re + 2.0 * sum.re
    }

    /// The right-hand side, as a function of `c_0..c_K`, on a prepared grid.
    ///
    /// **Errors** a Sinkhorn scaling that does not converge.
    pub fn right_hand_side(
        &self,
        dynamics: &MeasureDynamics,
    ) -> Result<impl Fn(&[Complex64]) -> Result<Vec<Complex64>> + use<>> {
        let operator = self.operator(dynamics, false)?;
        Ok(move |c: &[Complex64]| operator.rates(c))
    }

    /// Negentropy `integral rho log rho d sigma`, 0 at the uniform measure.
    pub fn negentropy(&self) -> f64 {
        self.fine().negentropy(&self.c)
    }

    /// The negentropy and its rate, each with a bound of its rounding error.
    ///
    /// **Errors** as [`Self::negentropy_rate`].
    pub fn negentropy_and_rate(&self, dynamics: &MeasureDynamics) -> Result<[(f64, f64); 2]> {
        let rate = self.operator(dynamics, true)?.negentropy_rate_with_error(&self.c)?;
        Ok([self.fine().negentropy_with_error(&self.c), rate])
    }

    /// Production of negentropy, `-integral rho div v d sigma`, minus the loss by noise,
    /// `(1/kappa) integral |grad rho|^2 / rho`.
    ///
    /// **Errors** a Sinkhorn scaling that does not converge.
    pub fn negentropy_rate(&self, dynamics: &MeasureDynamics) -> Result<f64> {
        self.operator(dynamics, true)?.negentropy_rate(&self.c)
    }

    /// The same rate from the time derivative of the series, `integral log rho d_t rho d sigma`.
    ///
    /// **Errors** as [`Self::negentropy_rate`].
    pub fn negentropy_rate_by_derivative(&self, dynamics: &MeasureDynamics) -> Result<f64> {
        let operator = self.operator(dynamics, true)?;
        let rates = operator.rates(&self.c)?;
        let (density, change) = (operator.nodes.values(&self.c), operator.nodes.values(&rates));
        let terms: Vec<f64> = density
            .iter()
            .zip(&change)
            .map(|(r, d)| if *r > 0.0 { r.ln() * d } else { 0.0 })
            .collect();
        Ok(operator.nodes.mean(&terms))
    }

    /// Interaction energy `(1/(2 beta)) integral integral e^{beta <x,y>} d mu d mu` relative to the
    /// uniform measure.
    pub fn energy(&self, dynamics: &MeasureDynamics) -> f64 {
        energy(2, dynamics, &Grid::power(&self.c))
    }

    /// The energy with a bound of its rounding error.
    pub fn energy_with_error(&self, dynamics: &MeasureDynamics) -> (f64, f64) {
        energy_with_error(2, dynamics, &Grid::power(&self.c))
    }

    /// Rate of change of the energy by the dissipation identity,
    /// `integral <grad W / beta, v - (1/kappa) grad log rho> d mu` (arXiv:2312.10794, (3.6) and
    /// Lemma 3.7).
    pub fn energy_rate(&self, dynamics: &MeasureDynamics) -> Result<f64> {
        self.operator(dynamics, true)?.energy_rate(&self.c)
    }

    /// Derivatives of the density at `2 pi j / points`.
    pub fn slope(&self, points: usize) -> Vec<f64> {
        self.grid(points).0.values(derivative(&self.c))
    }

    /// Velocities at `2 pi j / points`.
    ///
    /// **Errors** a Sinkhorn scaling that does not converge.
    pub fn velocity(&self, dynamics: &MeasureDynamics, points: usize) -> Result<Vec<f64>> {
        let operator = Operator::new(self.grid(points), dynamics, self.modes())?;
        Ok(operator.field(&self.c, false)?.velocity.concat())
    }

    /// Mean velocity `integral v d mu`; 0 for USA at all times, so the mean angle does not move.
    ///
    /// **Errors** a Sinkhorn scaling that does not converge.
    pub fn momentum(&self, dynamics: &MeasureDynamics) -> Result<f64> {
        let operator = self.operator(dynamics, true)?;
        let NodeValues { density, velocity, .. } = operator.field(&self.c, false)?;
        let products: Vec<f64> = velocity[0].iter().zip(&density).map(|(v, r)| v * r).collect();
        Ok(operator.nodes.mean(&products))
    }

    /// Largest coefficient in the highest fifth of the modes, relative to the largest of all.
    pub fn tail(&self) -> f64 {
        Series::tail(self)
    }

    /// This function with another number of modes.
    pub fn with_modes(&self, modes: usize) -> Self {
        self.with_degree(modes)
    }

    /// Evolves by time `t` with its present modes, resolved or not, for convergence studies.
    /// **Errors** those of the integrator.
    pub fn evolve_unchecked(&self, dynamics: &MeasureDynamics, t: f64) -> Result<Self> {
        evolve(self.clone(), dynamics, t, &(1e-13, 1e-15), |_, _| true)?.reached()
    }

    /// This function without the highest modes, if they are rounding only.
    pub fn without_negligible_modes(&self) -> Self {
        let largest = self.c.iter().map(|c| c.norm()).fold(0.0, f64::max);
        let last = self.c.iter().rposition(|c| c.norm() > 1e-15 * largest).unwrap_or(0);
        self.with_modes(last.max(1))
    }

    /// Evolves by time `t` (order 8, tolerance 1e-11). The modes are doubled, up to `limits`, when
    /// the tail exceeds 1e-10. Both numbers are multiplied by [`Limits::tolerance_factor`]. `watch`
    /// sees the state after every step and returns whether to continue.
    ///
    /// **Returns** the last resolved state, its time, and how the evolution ended. **Errors** a
    /// Sinkhorn scaling that does not converge.
    pub fn evolve(
        mut self,
        dynamics: &MeasureDynamics,
        t: f64,
        limits: impl Into<Limits>,
        watch: impl FnMut(f64, &Self) -> bool,
    ) -> Result<Evolution<Self>> {
        let limits: Limits = limits.into();
        while self.tail() > Self::RESOLVED_TAIL * limits.tolerance_factor
            && self.modes() < limits.max_modes
        {
            self = self.with_modes((2 * self.modes()).min(limits.max_modes));
        }
        self.evolve_resolved(dynamics, t, limits, watch)
    }
}
