//! Small dense linear algebra on row-major slices. Factorisations and spectra are computed by faer.

use super::sum::dot;
use crate::vector::{axpy, max_abs, norm};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, evd_real, evd_scratch};
use faer::{Mat, Par, Side, diag::Diag, prelude::Solve};

/// `y = A x` for a row-major `rows x x.len()` matrix.
#[inline]
pub fn mat_vec(a: &[f64], x: &[f64], y: &mut [f64]) {
    for (row, out) in a.chunks_exact(x.len()).zip(y.iter_mut()) {
        *out = row.iter().zip(x).map(|(p, q)| p * q).sum();
    }
}

/// `A^T B` for row-major `A: r x p`, `B: r x q`.
pub fn transpose_mul(a: &[f64], b: &[f64], rows: usize) -> Vec<f64> {
    let (p, q) = (a.len() / rows, b.len() / rows);
    let mut out = vec![0.0; p * q];
    for r in 0..rows {
        for i in 0..p {
            for j in 0..q {
                out[i * q + j] += a[r * p + i] * b[r * q + j];
            }
        }
    }
    out
}

/// `A B` of row-major matrices, B with n columns.
#[inline]
pub fn mul(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
    let mut out = vec![0.0; a.len() / (b.len() / n) * n];
    mul_into(a, b, n, &mut out);
    out
}

/// [`mul`] into `out`.
#[inline]
pub fn mul_into(a: &[f64], b: &[f64], n: usize, out: &mut [f64]) {
    out.fill(0.0);
    for (row, a) in out.chunks_exact_mut(n).zip(a.chunks_exact(b.len() / n)) {
        for (factor, b) in a.iter().zip(b.chunks_exact(n)) {
            axpy(*factor, b, row);
        }
    }
}

/// `1/k!`
const INVERSE_FACTORIALS: [f64; 17] = {
    let (mut all, mut factorial, mut k) = ([1.0; 17], 1.0, 1);
    while k < 17 {
        factorial *= k as f64;
        all[k] = 1.0 / factorial;
        k += 1;
    }
    all
};

/// `e^A` of an n x n matrix: the Taylor polynomial of degree 16 of `A / 2^s`, squared s times. The
/// largest row sum of `A / 2^s` is at most 1/2, so the truncation error is below 1e-19. NaN if A is
/// not finite.
///
/// **Accuracy** `(20 + 2^s) n u e^{|A|}`, where `|A|` is the largest row sum.
/// **Cost** `6 + s` products.
///
/// ```
/// let e = metastable::num::dense::exponential(&[0.0, -3.0, 3.0, 0.0], 2);
/// assert!((e[0] - 3f64.cos()).abs() < 1e-14 && (e[2] - 3f64.sin()).abs() < 1e-14);
/// ```
pub fn exponential(a: &[f64], n: usize) -> Vec<f64> {
    let size =
        a.chunks_exact(n).map(|row| row.iter().map(|v| v.abs()).sum::<f64>()).fold(0.0, f64::max);
    if !size.is_finite() || a.iter().any(|v| v.is_nan()) {
        return vec![f64::NAN; a.len()];
    }
    let halvings = (2.0 * size).log2().ceil().max(0.0) as i32;
    // By powers of A^4 (Paterson and Stockmeyer): sum_k A^{4k} (c_{4k} + c_{4k+1} A + c_{4k+2} A^2
    // + c_{4k+3} A^3).
    let mut powers = vec![0.0; 4 * n * n];
    let (low, high) = powers.split_at_mut(2 * n * n);
    let ((small, square), (cube, fourth)) = (low.split_at_mut(n * n), high.split_at_mut(n * n));
    let scale = (-f64::from(halvings)).exp2();
    small.iter_mut().zip(a).for_each(|(s, a)| *s = a * scale);
    mul_into(small, small, n, square);
    mul_into(square, small, n, cube);
    mul_into(square, square, n, fourth);
    let mut sum: Vec<f64> = fourth.iter().map(|v| INVERSE_FACTORIALS[16] * v).collect();
    let mut next = vec![0.0; n * n];
    for k in (0..4).rev() {
        let c = &INVERSE_FACTORIALS[4 * k..];
        sum.iter_mut()
            .enumerate()
            .for_each(|(i, s)| *s += c[1] * small[i] + c[2] * square[i] + c[3] * cube[i]);
        sum.iter_mut().step_by(n + 1).for_each(|s| *s += c[0]);
        if k > 0 {
            mul_into(&sum, fourth, n, &mut next);
            std::mem::swap(&mut sum, &mut next);
        }
    }
    for _ in 0..halvings {
        mul_into(&sum, &sum, n, &mut next);
        std::mem::swap(&mut sum, &mut next);
    }
    sum
}

/// The d x d identity.
#[inline]
pub fn identity(d: usize) -> Vec<f64> {
    (0..d * d).map(|k| f64::from(u8::from(k / d == k % d))).collect()
}

/// Makes k rows of d numbers orthonormal by Gram-Schmidt, each row twice ("twice is enough").
/// Returns the lower triangular k x k matrix R with `A = R Q`, where Q are the new rows. A row that
/// is exactly a combination of earlier rows becomes zero.
///
/// **Accuracy** rows are orthogonal to `3 k u` for any condition number. A row that depends on
/// earlier ones up to rounding becomes some unit row.
/// **Cost** `4 k^2 d` operations.
///
/// ```
/// let mut rows = [3.0, 4.0, 1.0, 0.0];
/// let r = metastable::num::dense::orthonormalise(&mut rows, 2);
/// assert!((rows[2] - 0.8).abs() < 1e-15 && (r[2] - 0.6).abs() < 1e-15);
/// ```
pub fn orthonormalise(rows: &mut [f64], d: usize) -> Vec<f64> {
    let k = rows.len() / d;
    let mut r = vec![0.0; k * k];
    for (i, entries) in r.chunks_exact_mut(k.max(1)).enumerate() {
        let (before, rest) = rows.split_at_mut(i * d);
        let own = &mut rest[..d];
        for _ in 0..2 {
            for (other, entry) in before.chunks_exact(d).zip(&mut *entries) {
                let along = dot(other, own);
                axpy(-along, other, own);
                *entry += along;
            }
        }
        let length = norm(own);
        own.iter_mut().for_each(|v| *v = if length > 0.0 { *v / length } else { 0.0 });
        entries[i] = length;
    }
    r
}

/// Subtracts from v its projection to orthonormal rows. Applied twice, because one pass leaves a
/// rounding error in the removed part.
#[inline]
pub fn project_out(rows: &[Vec<f64>], v: &mut [f64]) {
    for row in rows.iter().chain(rows) {
        axpy(-dot(row, v), row, v);
    }
}

/// Ascending eigenvalues of a symmetric row-major matrix (only the lower triangle is read); `None`
/// if the iteration fails or the input is not finite.
pub fn symmetric_eigenvalues(a: &[f64], n: usize) -> Option<Vec<f64>> {
    if a.iter().any(|v| !v.is_finite()) {
        return None;
    }
    // faer squares entries, which may under- or overflow: scale the largest entry to 1.
    let scale = max_abs(a);
    if scale == 0.0 {
        return Some(vec![0.0; n]);
    }
    let m = Mat::from_fn(n, n, |i, j| a[i * n + j] / scale);
    let values = m.self_adjoint_eigenvalues(Side::Lower).ok()?;
    Some(values.into_iter().map(|v| v * scale).collect())
}

/// Largest singular value of a row-major matrix with this number of rows; NaN if it cannot be
/// computed.
#[inline]
pub fn spectral_norm(a: &[f64], rows: usize) -> f64 {
    let values = symmetric_eigenvalues(&transpose_mul(a, a, rows), a.len() / rows);
    values.and_then(|v| v.last().copied()).map_or(f64::NAN, |v| v.max(0.0).sqrt())
}

/// Ascending eigenvalues, and unit eigenvectors (one per row), of a symmetric row-major matrix;
/// `None` as for [`symmetric_eigenvalues`].
pub fn symmetric_eigen(a: &[f64], n: usize) -> Option<(Vec<f64>, Vec<f64>)> {
    let scale = max_abs(a);
    if !scale.is_finite() {
        return None;
    }
    let scale = if scale > 0.0 { scale } else { 1.0 };
    let eigen =
        Mat::from_fn(n, n, |i, j| a[i * n + j] / scale).self_adjoint_eigen(Side::Lower).ok()?;
    let values = (0..n).map(|k| eigen.S()[k] * scale).collect();
    Some((values, (0..n * n).map(|k| eigen.U()[(k % n, k / n)]).collect()))
}

/// Eigenvalues of a general row-major matrix as (real, imaginary) pairs, sorted by real part. On
/// one thread, because the last digits would depend on the number of threads.
pub fn eigenvalues(a: &[f64], n: usize) -> Option<Vec<(f64, f64)>> {
    let m = Mat::from_fn(n, n, |i, j| a[i * n + j]);
    let (mut re, mut im) = (Diag::<f64>::zeros(n), Diag::<f64>::zeros(n));
    let no = ComputeEigenvectors::No;
    let mut memory = MemBuffer::new(evd_scratch::<f64>(n, no, no, Par::Seq, Default::default()));
    evd_real(
        m.as_ref(),
        re.as_mut(),
        im.as_mut(),
        None,
        None,
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    )
    .ok()?;
    let mut values: Vec<(f64, f64)> = (0..n).map(|k| (re[k], im[k])).collect();
    values.sort_by(|p, q| p.0.total_cmp(&q.0));
    Some(values)
}

/// Inverse of a row-major matrix by LU with partial pivoting; entries are not finite if it is
/// singular.
#[inline]
pub fn inverse(a: &[f64], n: usize) -> Vec<f64> {
    let m = Mat::from_fn(n, n, |i, j| a[i * n + j]);
    let x = m.partial_piv_lu().solve(&Mat::<f64>::identity(n, n));
    (0..n * n).map(|k| x[(k / n, k % n)]).collect()
}

/// Solves `A x = b` by LU with partial pivoting; entries are not finite if A is singular.
#[inline]
pub fn solve(a: &[f64], b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let m = Mat::from_fn(n, n, |i, j| a[i * n + j]);
    let rhs = Mat::from_fn(n, 1, |i, _| b[i]);
    let x = m.partial_piv_lu().solve(&rhs);
    (0..n).map(|i| x[(i, 0)]).collect()
}
