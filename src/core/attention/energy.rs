//! The interaction energy `E_beta = (1/(2 beta)) sum_ij m_i m_j e^{beta <x_i, x_j>}` on the product
//! of spheres: value, log value, Riemannian gradient, Hessian-vector product and dense Hessian, in
//! the metric `sum_i |u_i|^2` (derivatives of arXiv:2312.10794, (3.4)).
//!
//! All sums are computed without the factor `e^{|beta|}` (kernel `e^{beta G - |beta|}`, from
//! chords), so logarithms are finite for every beta.

use super::kernel::{
    Attention, OutputForm, Sums, Workspace, exact_sums, exp_shifted, hessian_sums, log_kernel,
};
use super::{EnergyScale, HessianSpectrum};
use crate::error::{Error, Result};
use crate::num::vector::{axpy, divide, max_abs, scale};
use crate::num::{sum::Compensated, sum::dot};
use crate::sphere::{
    Tokens,
    geometry::{chord2, project, tangent_basis},
};

/// The energy at one inverse temperature and normalisation.
///
/// ```
/// use metastable::{attention::{Energy, EnergyScale}, sphere::Tokens};
/// let one = Tokens::from_angles(&[0.3, 0.3]).unwrap();
/// let e = Energy::new(2.0, EnergyScale::Mean).value(&one).unwrap();
/// assert!((e - 2f64.exp() / 4.0).abs() < 1e-15); // a Dirac mass: e^beta / (2 beta)
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Energy {
    /// Inverse temperature.
    pub beta: f64,
    /// Normalisation.
    pub scale: EnergyScale,
}

impl Energy {
    /// The energy at `beta`.
    pub fn new(beta: f64, scale: EnergyScale) -> Self {
        Self { beta, scale }
    }

    /// The exact sums of plain attention; writes the tangent sums into `drift`.
    fn sums<'a>(&self, x: &Tokens, work: &'a mut Workspace, drift: &mut [f64]) -> &'a Sums {
        exact_sums(&Attention::new(self.beta).problem(x, OutputForm::Tangent), work, drift)
    }

    /// `log sum_ij m_i m_j e^{beta (G_ij - 1)}`: in `[-2 beta, 0]` for positive beta and in
    /// `[0, 2 |beta|]` for negative beta, 0 at consensus.
    ///
    /// **Accuracy** absolute error below `4u (1 + |beta|)`, and below `16u` near consensus for
    /// positive beta. **Cost** `n^2/2` exponentials.
    pub fn log_unit(&self, x: &Tokens) -> f64 {
        self.log_unit_from_scaled(self.log_scaled(x))
    }

    fn log_unit_from_scaled(&self, log_scaled: f64) -> f64 {
        // Exact: 0 or 2 |beta|.
        log_scaled + (self.beta.abs() - self.beta)
    }

    /// `log sum_ij m_i m_j e^{beta G_ij - |beta|}`, at most 0; for positive beta the same as
    /// [`Energy::log_unit`].
    ///
    /// **Accuracy**, **Cost** as [`Energy::log_unit`].
    pub fn log_scaled(&self, x: &Tokens) -> f64 {
        let m = x.masses();
        let (mut work, mut total) = (Workspace::default(), Compensated::default());
        let sums = self.sums(x, &mut work, &mut vec![0.0; x.n() * x.d()]);
        m.iter().zip(&sums.mass).for_each(|(m, z)| total.add(m * z));
        let total = total.value();
        // For negative beta all weights may underflow.
        if total > 1e-200 { total.ln() } else { self.log_shifted(x) }
    }

    /// [`Energy::log_scaled`] with all exponents shifted by the largest one.
    fn log_shifted(&self, x: &Tokens) -> f64 {
        let (m, beta) = (x.masses(), self.beta);
        let row_max = |i: usize| {
            (0..=i).map(|j| log_kernel(beta, x.row(i), x.row(j))).fold(f64::NEG_INFINITY, f64::max)
        };
        let top = (0..x.n()).map(row_max).fold(f64::NEG_INFINITY, f64::max);
        let mut sum = Compensated::default();
        for i in 0..x.n() {
            for j in 0..=i {
                let twice = if j == i { 1.0 } else { 2.0 };
                sum.add(twice * m[i] * m[j] * (log_kernel(beta, x.row(i), x.row(j)) - top).exp());
            }
        }
        top + sum.value().ln()
    }

    /// `log |E|` in the chosen normalisation; finite for every `beta != 0`.
    ///
    /// **Errors** `beta = 0`, where `1/(2 beta)` is infinite, in every normalisation except `unit`.
    pub fn log_value(&self, x: &Tokens) -> Result<f64> {
        self.log_value_from_scaled(self.log_scaled(x), x.n())
    }

    fn log_value_from_scaled(&self, log_scaled: f64, n: usize) -> Result<f64> {
        if self.scale == EnergyScale::Unit {
            return Ok(self.log_unit_from_scaled(log_scaled));
        }
        if self.beta == 0.0 {
            return Err(Error::Beyond {
                quantity: "E_beta at beta = 0 (its factor 1/(2 beta))".into(),
                hint: "use the normalisation `unit`; the gradient is finite".into(),
            });
        }
        let factor = self.scale.log_factor(self.beta, n);
        // The two large terms are added first.
        Ok(log_scaled - (2.0 * self.beta.abs()).ln() + (self.beta.abs() + factor))
    }

    /// `E`. **Errors** if it exceeds `f64` (use [`Energy::log_value`] or the normalisations
    /// `shifted`, `unit`).
    pub fn value(&self, x: &Tokens) -> Result<f64> {
        self.value_and_log_unit(x).0
    }

    /// `E` and [`Energy::log_unit`] in one pass over the pairs.
    ///
    /// **Errors** of `E`: those of [`Energy::value`].
    pub fn value_and_log_unit(&self, x: &Tokens) -> (Result<f64>, f64) {
        let log_scaled = self.log_scaled(x);
        (self.value_from_scaled(log_scaled, x.n()), self.log_unit_from_scaled(log_scaled))
    }

    fn value_from_scaled(&self, log_scaled: f64, n: usize) -> Result<f64> {
        if self.log_value_from_scaled(log_scaled, n)? > 709.78 {
            return Err(self.overflow_error("E_beta"));
        }
        let sign = if self.scale != EnergyScale::Unit && self.beta < 0.0 { -1.0 } else { 1.0 };
        // Near consensus exp(log) alone would lose log * u; the factor e^{|beta|} is applied once.
        let prefix = if self.scale == EnergyScale::Unit { 1.0 } else { 0.5 / self.beta.abs() };
        let shift = match self.scale {
            EnergyScale::Unit => self.beta.abs() - self.beta,
            _ => self.beta.abs() + self.scale.log_factor(self.beta, n),
        };
        Ok(sign * prefix * exp_shifted(log_scaled, shift))
    }

    /// The error for a quantity that exceeds `f64`.
    fn overflow_error(&self, quantity: &str) -> Error {
        Error::Beyond {
            quantity: format!(
                "{quantity} at beta = {} in normalisation {}",
                self.beta,
                self.scale.describe()
            ),
            hint: "use log_energy, or --energy-scale shifted or unit".into(),
        }
    }

    /// Logarithm of the factor between scaled derivatives (kernel `e^{beta G - |beta|}`, no
    /// `1/beta`) and those of `E`; the sign of the factor `2 beta` of the `unit` normalisation is
    /// returned separately.
    fn log_derivative_factor(&self, n: usize) -> (f64, f64) {
        let sign = if self.scale == EnergyScale::Unit && self.beta < 0.0 { -1.0 } else { 1.0 };
        (sign, self.beta.abs() + self.scale.log_factor(self.beta, n))
    }

    /// Scaled Riemannian gradient: `e^{-|beta|}` times that of the `mean` normalisation,
    /// `grad_i = m_i sum_j m_j e^{beta G_ij - |beta|} P_{x_i} x_j`, in difference form.
    ///
    /// **Accuracy** `1e-14` relative to each row. **Cost** as one right-hand side.
    pub fn scaled_grad(&self, x: &Tokens, work: &mut Workspace, out: &mut [f64]) {
        let (d, m) = (x.d(), x.masses());
        self.sums(x, work, out);
        for (i, row) in out.chunks_exact_mut(d).enumerate() {
            project(x.row(i), row);
            scale(m[i], row);
        }
    }

    /// Riemannian gradient in the chosen normalisation.
    ///
    /// **Errors** if its scale exceeds `f64`.
    pub fn grad(&self, x: &Tokens) -> Result<Vec<f64>> {
        let (mut g, shift) = self.gradient_and_shift(x);
        scale(self.factor(x.n(), shift, "the gradient of E_beta")?, &mut g);
        Ok(g)
    }

    /// The scaled gradient divided by `e^shift`. The shift is 0 unless the kernel underflows for
    /// all pairs of different tokens; then it is their largest exponent.
    fn gradient_and_shift(&self, x: &Tokens) -> (Vec<f64>, f64) {
        let d = x.d();
        let mut g = vec![0.0; x.coordinates().len()];
        self.scaled_grad(x, &mut Workspace::default(), &mut g);
        if max_abs(&g) > 1e-200 {
            return (g, 0.0);
        }
        let top = self.exponents(x).1;
        if top > -400.0 {
            return (g, 0.0);
        }
        for (i, row) in g.chunks_exact_mut(d).enumerate() {
            row.fill(0.0);
            for j in (0..x.n()).filter(|j| *j != i) {
                let w = (log_kernel(self.beta, x.row(i), x.row(j)) - top).exp();
                let change: Vec<f64> = x.row(j).iter().zip(x.row(i)).map(|(y, x)| y - x).collect();
                axpy(x.masses()[j] * w, &change, row);
            }
            project(x.row(i), row);
            scale(x.masses()[i], row);
        }
        (g, top)
    }

    /// The least and the largest `beta G_ij - |beta|` of tokens at different points; 0 if there are
    /// none.
    fn exponents(&self, x: &Tokens) -> (f64, f64) {
        let different =
            crate::num::pairs(x.n()).filter(|(i, j)| chord2(x.row(*i), x.row(*j)) > 0.0);
        let all = different.map(|(i, j)| log_kernel(self.beta, x.row(i), x.row(j)));
        let ends = all.fold(None, |ends: Option<(f64, f64)>, e| {
            Some(ends.map_or((e, e), |(low, high)| (low.min(e), high.max(e))))
        });
        ends.unwrap_or_default()
    }

    /// `log |grad E|`; `-inf` at an exact critical point.
    pub fn log_grad_norm(&self, x: &Tokens) -> f64 {
        let (mut g, shift) = self.gradient_and_shift(x);
        // Squares of entries below 1e-154 underflow: scale the largest to 1.
        let top = max_abs(&g);
        if top == 0.0 {
            return f64::NEG_INFINITY;
        }
        divide(&mut g, top);
        top.ln() + 0.5 * dot(&g, &g).ln() + (shift + self.log_derivative_factor(x.n()).1)
    }

    fn rescale(&self, mut values: Vec<f64>, n: usize, what: &str) -> Result<Vec<f64>> {
        scale(self.factor(n, 0.0, what)?, &mut values);
        Ok(values)
    }

    /// The factor of scaled derivatives that were divided by `e^shift`.
    fn factor(&self, n: usize, shift: f64, what: &str) -> Result<f64> {
        let (sign, log) = self.log_derivative_factor(n);
        if shift + log > 709.0 {
            return Err(self.overflow_error(what));
        }
        Ok(sign * (shift + log).exp())
    }

    /// Scaled Hessian-vector product (factor as [`Energy::scaled_grad`]): for tangent `u`,
    /// `(H u)_i = m_i P_i sum_{j != i} m_j w_ij [u_j + beta (a_ij + a_ji) x_j - G_ij u_i]`,
    /// `a_ij = <u_i, x_j>`.
    ///
    /// **Cost** `n^2` exponentials and `8 n^2 d` flops, no matrix.
    pub fn scaled_hess_vec(&self, x: &Tokens, u: &[f64], work: &mut Workspace, out: &mut [f64]) {
        hessian_sums(self.beta, x, u, work, out);
        for (i, row) in out.chunks_exact_mut(x.d()).enumerate() {
            project(x.row(i), row);
            scale(x.masses()[i], row);
        }
    }

    /// Hessian-vector product in the chosen normalisation. **Errors** as [`Energy::grad`].
    pub fn hess_vec(&self, x: &Tokens, u: &[f64]) -> Result<Vec<f64>> {
        let mut out = vec![0.0; u.len()];
        self.scaled_hess_vec(x, u, &mut Workspace::default(), &mut out);
        self.rescale(out, x.n(), "the Hessian of E_beta")
    }

    /// Dense scaled Hessian in orthonormal tangent bases ([`tangent_basis`]), `n(d-1)` square,
    /// row-major and exactly symmetric.
    pub fn scaled_hessian(&self, x: &Tokens) -> Vec<f64> {
        let (n, d, m, beta) = (x.n(), x.d(), x.masses(), self.beta);
        let t = d - 1;
        let size = n * t;
        let bases: Vec<Vec<f64>> = x.rows().map(tangent_basis).collect();
        let mut h = vec![0.0; size * size];
        for i in 0..n {
            for j in 0..i {
                let (xi, xj, g) = (x.row(i), x.row(j), x.inner(i, j));
                let w = m[i] * m[j] * log_kernel(beta, xi, xj).exp();
                let coordinates = |b: &[f64], y: &[f64]| {
                    b.chunks_exact(d).map(|e| dot(e, y)).collect::<Vec<f64>>()
                };
                let (ij, ji) = (coordinates(&bases[i], xj), coordinates(&bases[j], xi));
                for a in 0..t {
                    for b in 0..t {
                        let ea = &bases[i][a * d..(a + 1) * d];
                        let eb = &bases[j][b * d..(b + 1) * d];
                        // Off-diagonal block P_i (I + beta x_j x_i^T) P_j and the two diagonal
                        // blocks P_i (beta x_j x_j^T - G I) P_i.
                        let off = w * (dot(ea, eb) + beta * ij[a] * ji[b]);
                        h[(i * t + a) * size + j * t + b] = off;
                        h[(j * t + b) * size + i * t + a] = off;
                        let diagonal = if a == b { g } else { 0.0 };
                        h[(i * t + a) * size + i * t + b] +=
                            w * (beta * (ij[a] * ij[b]) - diagonal);
                        h[(j * t + a) * size + j * t + b] +=
                            w * (beta * (ji[a] * ji[b]) - diagonal);
                    }
                }
            }
        }
        h
    }

    /// Dense Hessian in the chosen normalisation, in the bases of [`Energy::scaled_hessian`].
    ///
    /// **Errors** more than 6000 unknowns, and as [`Energy::grad`].
    pub fn hessian(&self, x: &Tokens) -> Result<Vec<f64>> {
        Self::check_hessian_size(x)?;
        self.rescale(self.scaled_hessian(x), x.n(), "the Hessian of E_beta")
    }

    /// **Errors** more than 6000 unknowns.
    pub fn check_hessian_size(x: &Tokens) -> Result<()> {
        match x.n() * (x.d() - 1) {
            size if size > 6000 => {
                Err(Error::parameter("n (d-1)", size, "at most 6000 unknowns for a dense Hessian"))
            }
            _ => Ok(()),
        }
    }

    /// All `n(d-1)` eigenvalues of the Riemannian Hessian of `E`, ascending, in the metric
    /// `sum_i |u_i|^2`, with their errors.
    ///
    /// **Accuracy** relative for every eigenvalue, also beside clusters, up to 256 unknowns; else
    /// `1e-13` of the largest. **Cost** `O((nd)^3)`. **Errors** values that exceed `f64`, more than
    /// 6000 unknowns, a failed iteration.
    ///
    /// ```
    /// use metastable::{attention::{Energy, EnergyScale}, sphere::Tokens};
    /// let x = Tokens::from_angles(&[0.0, 0.0, 2.0, 4.0])?;
    /// let found = Energy::new(30.0, EnergyScale::Mean).hessian_spectrum(&x)?;
    /// assert_eq!(found.inertia(), (1, 1, 2));
    /// assert!((found.values[2] - 5.97684e-6).abs() < 1e-11);
    /// # Ok::<(), metastable::Error>(())
    /// ```
    pub fn hessian_spectrum(&self, x: &Tokens) -> Result<HessianSpectrum> {
        Self::check_hessian_size(x)?;
        let (least, largest) = self.exponents(x);
        let one_point = crate::num::pairs(x.n()).any(|(i, j)| chord2(x.row(i), x.row(j)) == 0.0);
        let together = if one_point { self.beta - self.beta.abs() } else { f64::NEG_INFINITY };
        let top = largest.max(together);
        let pair = |i: usize, j: usize| {
            let w = (log_kernel(self.beta, x.row(i), x.row(j)) - top).exp();
            Ok([w, self.beta * w, self.beta * self.beta * w])
        };
        let what = "the Hessian of E_beta";
        let (found, shift) = match HessianSpectrum::of_pairs(x, pair)? {
            // What is beyond the range of doubles is lost.
            Some(found) => (HessianSpectrum { is_relative: least - top > -700.0, ..found }, top),
            None => {
                let size = x.n() * (x.d() - 1);
                (HessianSpectrum::of_matrix(&self.scaled_hessian(x), size)?, 0.0)
            }
        };
        Ok(found.scaled(self.factor(x.n(), shift, what)?))
    }

    /// [`Energy::hessian_spectrum`] without errors.
    pub fn hessian_eigenvalues(&self, x: &Tokens) -> Result<Vec<f64>> {
        Ok(self.hessian_spectrum(x)?.values)
    }
}
