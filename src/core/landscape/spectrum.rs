//! Spectra of the Riemannian Hessian modulo rotations: all eigenvalues by a dense method, or
//! extreme eigenvalues by a matrix-free method.

use crate::attention::{Energy, EnergyScale, kernel::Workspace, kernel::log_kernel};
use crate::error::{Error, Result};
use crate::num::vector::{axpy, divide, max_abs, norm};
use crate::num::{dense, stream::Stream, sum::dot, threads::parallel_allowed};
use crate::sphere::{Tokens, geometry::tangent_basis};
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::matrix_free::LinOp;
use faer::matrix_free::eigen::{
    PartialEigenParams, partial_self_adjoint_eigen, partial_self_adjoint_eigen_scratch,
};
use faer::{Col, Mat, MatMut, MatRef, Par};
use std::sync::{Mutex, PoisonError};

/// Spectrum of the Hessian of `E_beta` at clusters of tokens, in the metric `sum_i m_i |u_i|^2` and
/// scaled by `e^{-|beta|}`: the growth rates of the gradient flow (USA in U2).
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// All `n (d-1)` eigenvalues, ascending.
    pub values: Vec<f64>,
    /// Morse index of E: negative eigenvalues.
    pub morse_index: usize,
    /// Unstable directions of the flow: positive eigenvalues.
    pub unstable: usize,
    /// Number of zero eigenvalues that do not belong to rotations; 0 at a nondegenerate critical
    /// point.
    pub nullity: usize,
    /// Dimension of the orbit under rotations, `d(d-1)/2` for generic tokens.
    pub rotations: usize,
    /// Largest `|H (B x)| / max |H|` over rotations B: of the order of rounding at a critical
    /// point.
    pub rotation_defect: f64,
    /// Smallest modulus of an eigenvalue of the equilibrated Hessian modulo rotations, over its
    /// rounding error. The point is degenerate below 1 and nearly degenerate below 1000.
    pub margin: f64,
    /// Smallest modulus of an eigenvalue of the equilibrated Hessian modulo rotations.
    pub smallest_modulus: f64,
    /// Error of each eigenvalue: rounding of the entries and of the iteration.
    pub rounding: f64,
}

impl Spectrum {
    /// The spectrum at `x`, whose rows are clusters of `sizes` tokens (mass of a row = sum over its
    /// tokens).
    ///
    /// **Accuracy** signs are determined from the equilibrated matrix, so a rate of `e^{-2 beta}`
    /// has the right sign even beside rates of 1; values have an error of `1e-13` times the
    /// largest. **Cost** `O((K d)^3)`. **Errors** more than 6000 unknowns, a failed iteration.
    pub fn of_clusters(beta: f64, x: &Tokens, sizes: &[usize]) -> Result<Self> {
        Energy::check_hessian_size(x)?;
        let h = mass_hessian(beta, x);
        let rotations = rotations(x);
        let (size, r) = (x.n() * (x.d() - 1), rotations.len());
        let scaled = bordered(&equilibrated(beta, x, &h).0, &rotations);
        let failed = || Error::Numerical {
            what: format!("the eigenvalues of a {size} x {size} Hessian did not converge"),
        };
        let between = dense::symmetric_eigenvalues(&scaled, size + r).ok_or_else(failed)?;
        // Entries are at most about 1 after equilibration.
        let noise = 64.0 * f64::EPSILON * (size + r) as f64;
        let smallest_modulus = between.iter().fold(f64::INFINITY, |m, v| m.min(v.abs()));
        let mut margin = smallest_modulus / noise;
        // The border adds r positive and r negative eigenvalues.
        let mut positive = between.iter().filter(|v| **v > noise).count().saturating_sub(r);
        let mut negative = between.iter().filter(|v| **v < -noise).count().saturating_sub(r);
        let mut values = dense::symmetric_eigenvalues(&h, size).ok_or_else(failed)?;
        let terms = row_term_sums(beta, x);
        for (q, &tokens) in sizes.iter().enumerate().filter(|(_, s)| **s > 1) {
            let own = within_cluster_eigenvalues(beta, x, q).ok_or_else(failed)?;
            let noise = 64.0 * f64::EPSILON * x.n() as f64 * (terms[q] + x.masses()[q]);
            margin = own.iter().fold(margin, |m, v| m.min(v.abs() / noise));
            positive += (tokens - 1) * own.iter().filter(|v| **v > noise).count();
            negative += (tokens - 1) * own.iter().filter(|v| **v < -noise).count();
            (1..tokens).for_each(|_| values.extend(&own));
        }
        values.sort_by(f64::total_cmp);
        let nullity = values.len() - (positive + negative + r).min(values.len());
        // Errors of the entries come from rounding exponents of at most 2 |beta|; entries with
        // exponents above about 5 are negligible. The eigenvalue iteration is backward stable.
        let entries = terms.iter().zip(x.masses()).map(|(t, m)| t + m).fold(0.0, f64::max)
            * (16.0 + 8.0 * beta.abs().min(5.0));
        let top = max_abs(&values);
        let rounding = 0.5 * f64::EPSILON * (entries + (size + r) as f64 * top);
        let force = max_abs(&h);
        let rotation_defect = rotations
            .iter()
            .map(|b| product_norm(&h, b) / force.max(f64::MIN_POSITIVE))
            .fold(0.0, f64::max);
        Ok(Self {
            values,
            morse_index: negative,
            unstable: positive,
            nullity,
            rotations: r,
            rotation_defect,
            margin,
            smallest_modulus,
            rounding,
        })
    }

    /// The spectrum of separate tokens.
    pub fn of_tokens(beta: f64, x: &Tokens) -> Result<Self> {
        Self::of_clusters(beta, x, &vec![1; x.n()])
    }

    /// True if an eigenvalue modulo rotations is smaller than a thousand times its rounding error.
    pub fn is_nearly_degenerate(&self) -> bool {
        self.nullity > 0 || self.margin < 1e3
    }
}

fn product_norm(h: &[f64], b: &[f64]) -> f64 {
    let mut out = vec![0.0; b.len()];
    dense::mat_vec(h, b, &mut out);
    norm(&out)
}

/// The scaled Hessian in tangent bases and the mass metric, `M^{-1/2} H M^{-1/2}`.
pub fn mass_hessian(beta: f64, x: &Tokens) -> Vec<f64> {
    in_mass_metric(x, Energy::new(beta, EnergyScale::Mean).scaled_hessian(x))
}

/// Divides a Hessian in tangent bases by the roots of the masses: `M^{-1/2} H M^{-1/2}`.
pub(super) fn in_mass_metric(x: &Tokens, mut h: Vec<f64>) -> Vec<f64> {
    let t = x.d() - 1;
    let size = x.n() * t;
    let root: Vec<f64> = x.masses().iter().map(|m| m.sqrt()).collect();
    for (k, v) in h.iter_mut().enumerate() {
        *v /= root[k / size / t] * root[k % size / t];
    }
    h
}

/// The scaled matrix `S H S` with `S = e_q^{-1/2}` for each cluster q, or 1 where `e_q = 0`, and S
/// per coordinate.
pub(super) fn scaled_by_rows(h: &[f64], sums: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let size = h.len().isqrt();
    let t = size / sums.len().max(1);
    let scale = |e: &f64| if *e > 0.0 { e.sqrt().recip() } else { 1.0 };
    let s: Vec<f64> = sums.iter().flat_map(|e| vec![scale(e); t]).collect();
    ((0..size * size).map(|k| s[k / size] * h[k] * s[k % size]).collect(), s)
}

/// Converts coordinates c in the tangent bases e to rows `sum_k c_ik e_ik / sqrt(m_i)`. The
/// Euclidean length of c is the length in the mass metric.
pub(super) fn to_ambient(x: &Tokens, bases: &[Vec<f64>], c: &[f64]) -> Vec<f64> {
    let d = x.d();
    let mut rows = vec![0.0; x.coordinates().len()];
    for (i, row) in rows.chunks_exact_mut(d).enumerate() {
        let root = x.masses()[i].sqrt();
        for (e, c) in bases[i].chunks_exact(d).zip(&c[i * (d - 1)..]) {
            axpy(c / root, e, row);
        }
    }
    rows
}

/// Converts rows u to coordinates `<e_ik, u_i> / sqrt(m_i)` in the tangent bases e.
pub(super) fn to_coordinates(x: &Tokens, bases: &[Vec<f64>], rows: &[f64]) -> Vec<f64> {
    let own = |(i, row): (usize, &[f64])| {
        let root = x.masses()[i].sqrt();
        bases[i].chunks_exact(x.d()).map(|e| dot(e, row) / root).collect::<Vec<_>>()
    };
    rows.chunks_exact(x.d()).enumerate().flat_map(own).collect()
}

/// Orthonormal basis of the rotation directions `sqrt(m_i) B x_i`, in tangent bases.
pub fn rotations(x: &Tokens) -> Vec<Vec<f64>> {
    let (n, d) = (x.n(), x.d());
    let bases: Vec<Vec<f64>> = x.rows().map(tangent_basis).collect();
    let mut out: Vec<Vec<f64>> = Vec::new();
    for a in 0..d {
        for b in 0..a {
            let mut v = Vec::with_capacity(n * (d - 1));
            for (i, row) in x.rows().enumerate() {
                let root = x.masses()[i].sqrt();
                v.extend(bases[i].chunks_exact(d).map(|e| root * (e[a] * row[b] - e[b] * row[a])));
            }
            dense::project_out(&out, &mut v);
            let norm = norm(&v);
            // Drop rotations that fix all tokens (up to rounding); other vectors have length about
            // 1.
            if norm > 1e-7 {
                divide(&mut v, norm);
                out.push(v);
            }
        }
    }
    out
}

/// `[[H, R^T], [R, 0]]`: nonsingular if H is nondegenerate modulo rotations. H may be scaled by a
/// positive diagonal on both sides although R is not: the null space of R stays a complement of the
/// null space of the scaled H, and the inertia is still that of H plus r eigenvalues of each sign.
pub(super) fn bordered(h: &[f64], rotations: &[Vec<f64>]) -> Vec<f64> {
    let (size, r) = (h.len().isqrt(), rotations.len());
    let all = size + r;
    let mut out = vec![0.0; all * all];
    for i in 0..size {
        out[i * all..i * all + size].copy_from_slice(&h[i * size..(i + 1) * size]);
        for (k, b) in rotations.iter().enumerate() {
            out[i * all + size + k] = b[i];
            out[(size + k) * all + i] = b[i];
        }
    }
    out
}

/// Sum of the absolute terms of the Hessian's diagonal block of each cluster,
/// `t_q = sum_{p != q} M_p w_qp (|beta| |P_q y_p|^2 + |G_qp|)`. Rounding errors of the block are
/// relative to it.
fn row_term_sums(beta: f64, x: &Tokens) -> Vec<f64> {
    let row = |q: usize| {
        let others = (0..x.n()).filter(|p| *p != q);
        others
            .map(|p| {
                let g = x.inner(q, p);
                x.masses()[p]
                    * log_kernel(beta, x.row(q), x.row(p)).exp()
                    * (beta.abs() * (1.0 - g * g).max(0.0) + g.abs())
            })
            .sum()
    };
    (0..x.n()).map(row).collect()
}

/// `t_q^{-1/2}` per cluster; 1 if `t_q = 0`.
pub(super) fn row_scales(beta: f64, x: &Tokens) -> Vec<f64> {
    row_term_sums(beta, x).iter().map(|v| if *v > 0.0 { v.sqrt().recip() } else { 1.0 }).collect()
}

/// The equilibrated Hessian `S H S` with the diagonal `S = t^{-1/2}`, and S per coordinate. Its
/// entries are at most about 1, with rounding errors relative to 1, and it has the inertia of H.
pub(super) fn equilibrated(beta: f64, x: &Tokens, h: &[f64]) -> (Vec<f64>, Vec<f64>) {
    scaled_by_rows(h, &row_term_sums(beta, x))
}

/// Eigenvalues for directions in which the tokens of cluster q separate and their centre stays:
/// those of `P [sum_{p != q} M_p w_qp (beta y_p y_p^T - G_qp I)] P - M_q`, each `tokens - 1` times.
fn within_cluster_eigenvalues(beta: f64, x: &Tokens, q: usize) -> Option<Vec<f64>> {
    let (d, t) = (x.d(), x.d() - 1);
    let basis = tangent_basis(x.row(q));
    // The kernel e^{beta G - |beta|} of a token with itself.
    let own = if beta < 0.0 { (2.0 * beta).exp() } else { 1.0 };
    let mut b = vec![0.0; t * t];
    for p in 0..x.n() {
        if p == q {
            (0..t).for_each(|a| b[a * t + a] -= x.masses()[q] * own);
            continue;
        }
        let w = x.masses()[p] * log_kernel(beta, x.row(q), x.row(p)).exp();
        let c: Vec<f64> = basis.chunks_exact(d).map(|e| dot(e, x.row(p))).collect();
        for k in 0..t * t {
            b[k] +=
                w * (beta * c[k / t] * c[k % t] - if k / t == k % t { x.inner(q, p) } else { 0.0 });
        }
    }
    dense::symmetric_eigenvalues(&b, t)
}

/// A Hessian-vector product as an operator on tangent coordinates in the mass metric, shifted by
/// `-shift`.
struct HessianOperator<'a> {
    beta: f64,
    x: &'a Tokens,
    bases: Vec<Vec<f64>>,
    shift: f64,
    /// The eigenvalue solver needs a shared operator, so the workspace is behind an uncontended
    /// lock.
    work: Mutex<Workspace>,
}

impl std::fmt::Debug for HessianOperator<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Hessian of {} tokens at beta = {}", self.x.n(), self.beta)
    }
}

impl HessianOperator<'_> {
    fn product(&self, v: &[f64], out: &mut [f64]) {
        let u = to_ambient(self.x, &self.bases, v);
        let mut h = vec![0.0; u.len()];
        Energy::new(self.beta, EnergyScale::Mean).scaled_hess_vec(
            self.x,
            &u,
            &mut self.work.lock().unwrap_or_else(PoisonError::into_inner),
            &mut h,
        );
        for ((out, c), v) in out.iter_mut().zip(to_coordinates(self.x, &self.bases, &h)).zip(v) {
            *out = c - self.shift * v;
        }
    }
}

impl LinOp<f64> for HessianOperator<'_> {
    fn apply_scratch(&self, _columns: usize, _par: Par) -> StackReq {
        StackReq::EMPTY
    }

    fn nrows(&self) -> usize {
        self.x.n() * (self.x.d() - 1)
    }

    fn ncols(&self) -> usize {
        self.nrows()
    }

    fn apply(
        &self,
        mut out: MatMut<'_, f64>,
        rhs: MatRef<'_, f64>,
        _par: Par,
        _stack: &mut MemStack,
    ) {
        let mut product = vec![0.0; self.nrows()];
        for c in 0..rhs.ncols() {
            let v: Vec<f64> = (0..rhs.nrows()).map(|i| rhs[(i, c)]).collect();
            self.product(&v, &mut product);
            product.iter().enumerate().for_each(|(i, p)| out[(i, c)] = *p);
        }
    }

    fn conj_apply(
        &self,
        out: MatMut<'_, f64>,
        rhs: MatRef<'_, f64>,
        par: Par,
        stack: &mut MemStack,
    ) {
        self.apply(out, rhs, par, stack);
    }
}

/// The extreme eigenvalues of a spectrum.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtremeEigenvalues {
    /// The smallest eigenvalues, ascending.
    pub lowest: Vec<f64>,
    /// The largest eigenvalues, ascending.
    pub highest: Vec<f64>,
    /// Largest residual `|H v - lambda v|` of a unit vector: a bound of the error of each value.
    pub residual: f64,
}

/// The `count` smallest and largest eigenvalues without forming the matrix (metric and scale as
/// [`Spectrum`]), by faer's Krylov-Schur iteration on shifted operators.
///
/// **Cost** one Hessian-vector product per step, a few hundred. **Errors** an iteration that does
/// not converge to 1e-8 of the largest eigenvalue.
pub fn extreme_eigenvalues(beta: f64, x: &Tokens, count: usize) -> Result<ExtremeEigenvalues> {
    let bases: Vec<Vec<f64>> = x.rows().map(tangent_basis).collect();
    let size = x.n() * (x.d() - 1);
    let count = count.clamp(1, (size / 4).max(1));
    let mut operator = HessianOperator { beta, x, bases, shift: 0.0, work: Mutex::default() };
    // If the eigenvalues of largest magnitude have one sign, they are one end of the spectrum. A
    // shift by their magnitude makes the other end the largest.
    let (first, mut residual) = largest_in_magnitude(&operator, count)?;
    let top = first.iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
    let mut end = |sign: f64| -> Result<(Vec<f64>, f64)> {
        if first.iter().all(|v| v * sign > 0.0) {
            return Ok((first.clone(), 0.0));
        }
        operator.shift = -sign * top;
        let (values, error) = largest_in_magnitude(&operator, count)?;
        residual = residual.max(error);
        Ok((values, -sign * top))
    };
    let ((highest, up), (lowest, down)) = (end(1.0)?, end(-1.0)?);
    let sorted = |values: Vec<f64>, shift: f64| {
        let mut v: Vec<f64> = values.iter().map(|v| v + shift).collect();
        v.sort_by(f64::total_cmp);
        v
    };
    Ok(ExtremeEigenvalues { lowest: sorted(lowest, down), highest: sorted(highest, up), residual })
}

/// The `count` eigenvalues of largest magnitude and their largest residual.
fn largest_in_magnitude(operator: &HessianOperator, count: usize) -> Result<(Vec<f64>, f64)> {
    let size = operator.nrows();
    let mut stream = Stream::new(1, &["landscape", "krylov"]);
    let start: Vec<f64> = (0..size).map(|_| stream.normal()).collect();
    let length = norm(&start);
    let start = Col::from_fn(size, |i| start[i] / length);
    let (mut vectors, mut values) = (Mat::zeros(size, count), vec![0.0; count]);
    let params = PartialEigenParams {
        min_dim: 2 * count + 8,
        max_dim: 4 * count + 24,
        max_restarts: 400,
        ..PartialEigenParams::default()
    };
    let par = if parallel_allowed() { Par::rayon(0) } else { Par::Seq };
    let mut memory =
        MemBuffer::new(partial_self_adjoint_eigen_scratch(operator, count, par, params));
    let info = partial_self_adjoint_eigen(
        vectors.as_mut(),
        &mut values,
        operator,
        start.as_ref(),
        1e-9,
        par,
        MemStack::new(&mut memory),
        params,
    );
    if info.n_converged_eigen < count {
        let what =
            format!("only {} of {count} extreme eigenvalues converged", info.n_converged_eigen);
        return Err(Error::Numerical { what });
    }
    let mut residual = 0.0f64;
    let mut product = vec![0.0; size];
    for (c, value) in values.iter().enumerate() {
        let v: Vec<f64> = (0..size).map(|i| vectors[(i, c)]).collect();
        operator.product(&v, &mut product);
        let square: f64 = product.iter().zip(&v).map(|(p, v)| (p - value * v).powi(2)).sum();
        residual = residual.max(square.sqrt() / norm(&v));
    }
    Ok((values, residual))
}
