//! The energy of any interaction.

use super::Interaction;
use super::attention::{InteractionAttention, RowSum, check_coupling};
use crate::attention::kernel::{EXACT_ACCURACY, MIN_PARALLEL_WORK, OutputForm, Workspace};
use crate::attention::sublayer::{Input, Sublayer};
use crate::attention::{Energy, Head, HessianSpectrum, Matrix, PairEnergy};
use crate::error::Result;
use crate::num::aligned::AlignedVec;
use crate::num::dense::mat_vec;
use crate::num::threads::{enter_pool, parallel_allowed};
use crate::num::vector::{axpy, length, norm, scale};
use crate::num::{sum::Compensated, sum::dot};
use crate::sphere::Tokens;
use crate::sphere::geometry::{chord2, project, tangent_basis};
use rayon::prelude::*;

/// `E = (1/2) sum_ij m_i m_j W(<x_i, D x_j>)` with `W' = phi` and a symmetric matrix D, the
/// identity by default. The flow `x_i' = P_i sum_j m_j phi(<x_i, D x_j>) D x_j` is its gradient in
/// the metric `sum_i m_i |u_i|^2` (arXiv:2501.03096 for `e^{<x, D y>}`).
///
/// ```
/// use metastable::attention::interaction::{Interaction, InteractionEnergy};
/// use metastable::sphere::Tokens;
/// let energy = InteractionEnergy::new(Interaction::parse("power:p=3", &[])?);
/// // One point: W(1)/2 = 1/8.
/// assert!((energy.value(&Tokens::from_angles(&[0.3, 0.3])?) - 0.125).abs() < 1e-16);
/// # Ok::<(), metastable::Error>(())
/// ```
#[derive(Clone)]
pub struct InteractionEnergy {
    flow: InteractionAttention,
    form: Option<Vec<f64>>,
}

/// Gradients with a larger relative error are evaluated again.
const LOST: f64 = 1e-12;

impl InteractionEnergy {
    /// The energy with `D = I`.
    pub fn new(interaction: Interaction) -> Self {
        // Plain weights may have any sign.
        Self { flow: InteractionAttention::plain(interaction), form: None }
    }

    /// The energy that belongs to a flow, whatever its row sums, masks and sign: with D if its only
    /// head has `Q = I` and `K = V = D` with a symmetric D, else with `D = I`.
    pub fn of_flow(flow: &InteractionAttention) -> Self {
        let form = match &flow.heads[..] {
            [head] => match head.matrices() {
                [None, Some(k), Some(v)] if k == v => {
                    let form = (head.dimension(), k.to_vec());
                    check_coupling(form.0, &form).is_ok().then_some(form.1)
                }
                _ => None,
            },
            _ => None,
        };
        let heads = if form.is_some() { flow.heads.clone() } else { vec![Head::default()] };
        let flow = InteractionAttention {
            row_sum: RowSum::Plain,
            row_weights: None,
            heads,
            pattern: None,
            causal: false,
            sign: 1.0,
            accuracy: EXACT_ACCURACY,
            ..flow.clone()
        };
        Self { flow, form }
    }

    /// Sets D.
    ///
    /// **Errors** a matrix that is not d x d and symmetric; an interaction that is not finite on
    /// the larger interval of inner products.
    pub fn with_form(self, d: usize, form: Matrix) -> Result<Self> {
        Ok(Self { flow: self.flow.with_form(d, form.clone())?, form: Some(form.1) })
    }

    /// The interaction.
    pub fn interaction(&self) -> &Interaction {
        self.flow.interaction()
    }

    /// D, if it is not the identity.
    pub fn form(&self) -> Option<&[f64]> {
        self.form.as_deref()
    }

    /// `D x_j` of all tokens.
    fn images(&self, rows: &[f64], d: usize) -> Vec<f64> {
        let Some(form) = &self.form else { return rows.to_vec() };
        let mut out = vec![0.0; rows.len()];
        for (row, out) in rows.chunks_exact(d).zip(out.chunks_exact_mut(d)) {
            mat_vec(form, row, out);
        }
        out
    }

    /// `reach - s_ij` for `j <= i`, from chords if D is the identity.
    fn distances(&self, x: &Tokens, images: &[f64], i: usize, out: &mut [f64]) {
        let (reach, d) = (self.interaction().reach(), x.d());
        for (j, z) in out.iter_mut().enumerate() {
            *z = match self.form {
                None => (reach - 1.0) + 0.5 * chord2(x.row(i), x.row(j)),
                Some(_) => reach - dot(x.row(i), &images[j * d..][..d]),
            };
        }
    }

    /// E.
    ///
    /// **Accuracy** 1e-15 of the largest W. **Cost** `n^2/2` values of W.
    pub fn value(&self, x: &Tokens) -> f64 {
        let (n, m, images) = (x.n(), x.masses(), self.images(x.coordinates(), x.d()));
        let row = |values: &mut AlignedVec<f64>, i: usize| {
            values.reset((i + 1).next_multiple_of(16));
            self.distances(x, &images, i, &mut values[..i + 1]);
            self.interaction().potentials().replace(self.flow.isa, values);
            let mut sum = Compensated::default();
            for (j, (w, m)) in values.iter().zip(m).take(i + 1).enumerate() {
                sum.add(if j == i { 0.5 * m * w } else { m * w });
            }
            m[i] * sum.value()
        };
        let shares = n * n * x.d() >= MIN_PARALLEL_WORK;
        let rows: Vec<f64> = enter_pool(shares, || {
            if shares && parallel_allowed() {
                (0..n).into_par_iter().map_init(AlignedVec::default, row).collect()
            } else {
                let mut values = AlignedVec::default();
                (0..n).map(|i| row(&mut values, i)).collect()
            }
        });
        crate::num::sum::block_sum(&rows)
    }

    /// The Riemannian gradient `m_i P_i sum_j m_j phi(s_ij) D x_j`, n x d.
    ///
    /// **Accuracy** as the velocity. **Cost** one velocity.
    pub fn grad(&self, x: &Tokens) -> Vec<f64> {
        let mut out = vec![0.0; x.coordinates().len()];
        let input = Input { t: 0.0, tokens: x };
        self.flow.evaluate(&input, OutputForm::Tangent, &mut Workspace::default(), &mut out);
        for ((row, m), xi) in out.chunks_exact_mut(x.d()).zip(x.masses()).zip(x.rows()) {
            project(xi, row);
            scale(*m, row);
        }
        out
    }

    /// [`InteractionEnergy::grad`], by slower arithmetic where small weights would be lost. Its rows
    /// then have the errors of [`Sublayer::resolved_velocities`].
    pub fn resolved_grad(&self, x: &Tokens) -> Vec<f64> {
        let mut grad = self.grad(x);
        let velocities: Vec<f64> = (grad.chunks_exact(x.d()).zip(x.masses()))
            .flat_map(|(row, m)| row.iter().map(move |v| v / m))
            .collect();
        let error = self.flow.relative_error(x, &velocities);
        let lost = error.is_some_and(|error| error > LOST);
        let resolved = lost.then(|| self.flow.resolved_velocities(x)).flatten();
        if let Some(Ok((resolved, _))) = resolved {
            grad = resolved;
            let rows = grad.chunks_exact_mut(x.d()).zip(x.masses());
            rows.for_each(|(row, m)| scale(*m, row));
        }
        grad
    }

    /// The Hessian times a tangent vector u, n x d:
    /// `m_i P_i sum_j m_j [phi D u_j + phi' (<u_i, D x_j> + <x_i, D u_j>) D x_j] - <x_i, g_i> u_i`,
    /// where g is the gradient before projection; in differences if D is the identity.
    ///
    /// **Cost** `2 n^2` weights, `8 n^2 d` operations.
    /// **Errors** a kink of phi at an inner product of two tokens is not noticed here; see
    /// [`InteractionEnergy::hessian`].
    pub fn hess_vec(&self, x: &Tokens, u: &[f64]) -> Vec<f64> {
        let (n, d) = (x.n(), x.d());
        let mut out = vec![0.0; n * d];
        let (dx, du) = (self.images(x.coordinates(), d), self.images(u, d));
        let row = |[phi, slope]: &mut [AlignedVec<f64>; 2], (i, out): (usize, &mut [f64])| {
            self.hess_row(x, u, (&dx, &du), [phi, slope], i, out);
        };
        let shares = n * n * d >= MIN_PARALLEL_WORK;
        enter_pool(shares, || {
            if shares && parallel_allowed() {
                out.par_chunks_exact_mut(d).enumerate().for_each_init(Default::default, row);
            } else {
                let mut buffers = Default::default();
                out.chunks_exact_mut(d).enumerate().for_each(|o| row(&mut buffers, o));
            }
        });
        out
    }

    fn hess_row(
        &self,
        x: &Tokens,
        u: &[f64],
        (dx, du): (&[f64], &[f64]),
        [phi, slope]: [&mut AlignedVec<f64>; 2],
        i: usize,
        out: &mut [f64],
    ) {
        let (n, d) = (x.n(), x.d());
        let (xi, ui) = (x.row(i), &u[i * d..][..d]);
        phi.reset(n.next_multiple_of(16));
        self.distances(x, dx, i, &mut phi[..n]);
        self.interaction().replace_with_slopes(self.flow.isa, phi, slope);
        out.fill(0.0);
        // The factor of u_i.
        let mut own = Compensated::default();
        let mut change = vec![0.0; d];
        for j in 0..n {
            let (w, b) = (x.masses()[j] * phi[j], x.masses()[j] * slope[j]);
            let (y, v) = (&dx[j * d..][..d], &du[j * d..][..d]);
            if self.form.is_none() {
                if i == j {
                    continue;
                }
                // phi (u_j - u_i) + phi |x_i - x_j|^2 / 2 u_i - phi' <u_j - u_i, x_j - x_i> (x_j -
                // x_i).
                let mut tilt = 0.0;
                for k in 0..d {
                    change[k] = y[k] - xi[k];
                    tilt -= (v[k] - ui[k]) * change[k];
                    out[k] += w * (v[k] - ui[k]);
                }
                own.add(0.5 * w * dot(&change, &change));
                axpy(b * tilt, &change, out);
            } else {
                axpy(w, v, out);
                axpy(b * (dot(ui, y) + dot(xi, v)), y, out);
                own.add(-w * dot(xi, y));
            }
        }
        axpy(own.value(), ui, out);
        project(xi, out);
        scale(x.masses()[i], out);
    }

    /// The dense Hessian in orthonormal tangent bases ([`tangent_basis`]), `n(d-1)` square,
    /// row-major, symmetric. Values come from the formula, so small weights are relatively
    /// accurate.
    ///
    /// **Cost** `n^2/2` formulas and `n^2 d^3` operations.
    /// **Errors** more than 6000 unknowns, an inner product at a kink of phi.
    pub fn hessian(&self, x: &Tokens) -> Result<Vec<f64>> {
        Energy::check_hessian_size(x)?;
        let (n, d, m) = (x.n(), x.d(), x.masses());
        let t = d - 1;
        let size = n * t;
        let bases: Vec<Vec<f64>> = x.rows().map(tangent_basis).collect();
        let dx = self.images(x.coordinates(), d);
        let coordinates = |i: usize, y: &[f64]| -> Vec<f64> {
            bases[i].chunks_exact(d).map(|e| dot(e, y)).collect()
        };
        let mut h = vec![0.0; size * size];
        for i in 0..n {
            // Without a matrix, a token does not act on itself.
            let last = if self.form.is_some() { i + 1 } else { i };
            for j in 0..last {
                let (yi, yj) = (&dx[i * d..][..d], &dx[j * d..][..d]);
                let s = match self.form {
                    None => 1.0 - 0.5 * chord2(x.row(i), x.row(j)),
                    Some(_) => dot(x.row(i), yj),
                };
                let (phi, slope) = self.interaction().pair(s)?;
                let (w, b) = (m[i] * m[j] * phi, m[i] * m[j] * slope);
                let (ij, ji) = (coordinates(i, yj), coordinates(j, yi));
                let images = self.images(&bases[j], d);
                for a in 0..t {
                    let ea = &bases[i][a * d..][..d];
                    for c in 0..t {
                        // Off-diagonal P_i (phi D + phi' D x_j (D x_i)^T) P_j, and the diagonal
                        // blocks P_i (phi' D x_j (D x_j)^T - phi s I) P_i.
                        let off = w * dot(ea, &images[c * d..][..d]) + b * ij[a] * ji[c];
                        let radial = if a == c { w * s } else { 0.0 };
                        if i == j {
                            h[(i * t + a) * size + i * t + c] += off + b * ij[a] * ij[c] - radial;
                            continue;
                        }
                        h[(i * t + a) * size + j * t + c] = off;
                        h[(j * t + c) * size + i * t + a] = off;
                        h[(i * t + a) * size + i * t + c] += b * ij[a] * ij[c] - radial;
                        h[(j * t + a) * size + j * t + c] += b * ji[a] * ji[c] - radial;
                    }
                }
            }
        }
        Ok(h)
    }

    /// All `n(d-1)` eigenvalues of the Hessian, ascending, in the metric `sum_i |u_i|^2`, with
    /// their errors.
    ///
    /// **Accuracy** as [`Energy::hessian_spectrum`]; with a matrix D 1e-13 of the largest.
    /// **Cost** `O((nd)^3)`. **Errors** as [`InteractionEnergy::hessian`]; a failed iteration.
    pub fn hessian_spectrum(&self, x: &Tokens) -> Result<HessianSpectrum> {
        Energy::check_hessian_size(x)?;
        if self.form.is_none() {
            let pair = |i, j| {
                let s = 1.0 - 0.5 * chord2(x.row(i), x.row(j));
                let (phi, slope) = self.interaction().pair(s)?;
                Ok([phi, slope, self.interaction().steepness(s)])
            };
            if let Some(found) = HessianSpectrum::of_pairs(x, pair)? {
                return Ok(found);
            }
        }
        HessianSpectrum::of_matrix(&self.hessian(x)?, x.n() * (x.d() - 1))
    }

    /// [`InteractionEnergy::hessian_spectrum`] without errors.
    pub fn hessian_eigenvalues(&self, x: &Tokens) -> Result<Vec<f64>> {
        Ok(self.hessian_spectrum(x)?.values)
    }
}

impl PairEnergy for InteractionEnergy {
    fn value(&self, x: &Tokens) -> f64 {
        Self::value(self, x)
    }

    fn log_unit(&self, x: &Tokens) -> f64 {
        (2.0 * Self::value(self, x) / self.interaction().potential(1.0)).ln()
    }

    fn log_grad_norm(&self, x: &Tokens) -> f64 {
        (length(&self.grad(x)) / self.interaction().sizes().0.max(f64::MIN_POSITIVE)).ln()
    }

    fn relative_gradient_norm(&self, x: &Tokens) -> f64 {
        let scale = self.interaction().sizes().0.max(f64::MIN_POSITIVE);
        let gradient = self.grad(x);
        let rows = gradient.chunks_exact(x.d()).zip(x.masses());
        rows.map(|(g, m)| norm(g) / (m * scale)).fold(0.0, f64::max)
    }

    fn width(&self) -> f64 {
        self.interaction().length_scale()
    }

    fn describe(&self) -> &'static str {
        match self.form {
            None => "(1/2) sum_ij m_i m_j W(<x_i, x_j>), W' = phi",
            Some(_) => "(1/2) sum_ij m_i m_j W(<x_i, D x_j>), W' = phi",
        }
    }
}
