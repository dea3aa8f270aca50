//! Growth of small perturbations through many layers: Lyapunov exponents by QR, singular values of
//! the product of all derivatives, mixing matrices.

use super::dense::{identity, mul, orthonormalise};
use super::linearised::Linearised;
use super::stream::Stream;
use super::sum::dot;
use super::threads::parallel_allowed;
use rayon::prelude::*;

/// An orthonormal frame of perturbations that is carried through layers.
///
/// Its exponents converge to the Lyapunov exponents, with an error of order 1 / layers that depends
/// on the directions drawn. For a finite depth, [`singular_exponents`] gives the largest possible
/// growth.
pub struct LyapunovFrame {
    rows: Vec<f64>,
    size: usize,
    sums: Vec<f64>,
    layers: usize,
}

impl LyapunovFrame {
    /// `count` random directions of `size` numbers.
    pub fn new(size: usize, count: usize, stream: &mut Stream) -> Self {
        Self {
            rows: random_frame(size, count, stream),
            size,
            sums: vec![0.0; count.min(size)],
            layers: 0,
        }
    }

    /// Carries the frame through a layer and orthonormalises it.
    pub fn advance(&mut self, at: &dyn Linearised) {
        self.rows = self.rows.chunks_exact(self.size).flat_map(|h| at.jvp(h)).collect();
        let (r, count) = (orthonormalise(&mut self.rows, self.size), self.sums.len());
        self.sums.iter_mut().enumerate().for_each(|(k, s)| *s += r[k * count + k].ln());
        self.layers += 1;
    }

    /// Mean logarithmic growth per layer, descending: for many layers the first Lyapunov exponents.
    /// Minus infinity for a direction that became 0.
    pub fn exponents(&self) -> Vec<f64> {
        let mut out: Vec<f64> = self.sums.iter().map(|s| s / self.layers.max(1) as f64).collect();
        out.sort_by(|a, b| b.total_cmp(a));
        out
    }
}

fn random_frame(size: usize, count: usize, stream: &mut Stream) -> Vec<f64> {
    let mut rows = vec![0.0; count.min(size) * size];
    stream.normals(&mut rows);
    orthonormalise(&mut rows, size);
    rows
}

/// The first `count` Lyapunov exponents along the orbit of `start`. Layers `0..skip` only align the
/// frame; the next `layers` are measured. `linearise(k, x)` linearises layer k at x.
///
/// **Cost** `count` products and `2 count^2` inner products per layer.
/// **Errors** those of `linearise`.
pub fn exponents<L: Linearised, E>(
    start: &[f64],
    (skip, layers): (usize, usize),
    count: usize,
    stream: &mut Stream,
    linearise: impl FnMut(usize, &[f64]) -> Result<L, E>,
) -> Result<Vec<f64>, E> {
    let mut frame = LyapunovFrame::new(start.len(), count, stream);
    visit_layers(start, skip + layers, linearise, |layer, at| {
        if layer == skip {
            // Keep the directions, reset the growth.
            (frame.layers, frame.sums) = (0, vec![0.0; frame.sums.len()]);
        }
        frame.advance(at);
    })?;
    Ok(frame.exponents())
}

/// The mixing matrix `|d x_i(L) / d x_j(0)|`, n x n: Frobenius norms of the d x d blocks of the
/// derivative of L layers.
/// **Cost** `n d` products per layer.
/// **Errors** those of `linearise`.
pub fn mixing<L: Linearised, E>(
    start: &[f64],
    d: usize,
    layers: usize,
    linearise: impl FnMut(usize, &[f64]) -> Result<L, E>,
) -> Result<Vec<f64>, E> {
    let (size, n) = (start.len(), start.len() / d);
    let mut columns = identity(size);
    visit_layers(start, layers, linearise, |_, at| {
        columns = columns.chunks_exact(size).flat_map(|c| at.jvp(c)).collect()
    })?;
    let mut squares = vec![0.0; n * n];
    for (c, column) in columns.chunks_exact(size).enumerate() {
        for (i, block) in column.chunks_exact(d).enumerate() {
            squares[i * n + c / d] += dot(block, block);
        }
    }
    Ok(squares.into_iter().map(f64::sqrt).collect())
}

/// Linearises the layers along an orbit and passes each to `visit`.
fn visit_layers<L: Linearised, E>(
    start: &[f64],
    layers: usize,
    mut linearise: impl FnMut(usize, &[f64]) -> Result<L, E>,
    mut visit: impl FnMut(usize, &L),
) -> Result<(), E> {
    let mut x = start.to_vec();
    for layer in 0..layers {
        let at = linearise(layer, &x)?;
        visit(layer, &at);
        x = at.value().to_vec();
    }
    Ok(())
}

/// Growth of perturbations over all layers.
#[derive(Clone, Debug, PartialEq)]
pub struct SingularExponents {
    /// `log sigma_k / L`, descending, for the largest singular values sigma_k of the product of the
    /// derivatives of L layers: the largest growth rates per layer. Each is a lower bound. Minus
    /// infinity for a singular value 0.
    pub values: Vec<f64>,
    /// Estimated distance to the exact values, from the last two changes.
    pub error: f64,
    /// Number of iterations.
    pub rounds: usize,
}

/// Additional directions: the error then decreases by
/// `(sigma_{k + EXTRA_DIRECTIONS + 1} / sigma_k)^2` per iteration.
const EXTRA_DIRECTIONS: usize = 4;

/// Largest number of iterations.
const MAX_ROUNDS: usize = 60;

/// The iteration stops at this estimated error.
const TOLERANCE: f64 = 1e-6;

/// The first `count` singular exponents of a product of layers that act on `size` numbers, by block
/// iteration with the transpose. `visit` passes the linearised layers in order, or in reverse order
/// if its first argument is true.
///
/// ```
/// use metastable::num::{linearised::Linearised, lyapunov::singular_exponents, stream::Stream};
/// struct Shear;
/// impl Linearised for Shear {
///     fn value(&self) -> &[f64] { &[0.0, 0.0] }
///     fn jvp(&self, u: &[f64]) -> Vec<f64> { vec![u[0] + 3.0 * u[1], u[1]] }
///     fn vjp(&self, w: &[f64]) -> Vec<f64> { vec![w[0], 3.0 * w[0] + w[1]] }
/// }
/// let found = singular_exponents(2, 2, &mut Stream::new(1, &["frame"]), |_, see| {
///     see(&Shear);
///     Ok::<_, ()>(())
/// }).unwrap();
/// let largest = ((11.0 + 117f64.sqrt()) / 2.0).sqrt();
/// assert!((found.values[0] - largest.ln()).abs() < 1e-12 && (found.values[1] + largest.ln()).abs() < 1e-12);
/// ```
///
/// **Accuracy** `error`; in addition `1e-16` times the ratio of the largest to the k-th singular
/// value of one layer.
/// **Cost** `2 (count + 4)` products per layer and iteration.
/// **Errors** those of `visit`.
pub fn singular_exponents<E>(
    size: usize,
    count: usize,
    stream: &mut Stream,
    mut visit: impl FnMut(bool, &mut dyn FnMut(&dyn Linearised)) -> Result<(), E>,
) -> Result<SingularExponents, E> {
    let mut frame = random_frame(size, count + EXTRA_DIRECTIONS, stream);
    let mut found = SingularExponents { values: Vec::new(), error: f64::INFINITY, rounds: 0 };
    let mut change = f64::INFINITY;
    for round in 1..=MAX_ROUNDS {
        let (mut product, mut layers) = (
            TriangularProduct {
                rows: identity(frame.len() / size),
                k: frame.len() / size,
                log_scale: 0.0,
            },
            0u32,
        );
        visit(false, &mut |at| {
            frame = images(&frame, size, |h| at.jvp(h));
            product.extend(&orthonormalise(&mut frame, size));
            layers += 1;
        })?;
        let mut values = product.log_singular_values();
        values.truncate(count);
        values.iter_mut().for_each(|v| *v /= f64::from(layers.max(1)));
        // The difference of two minus infinities is NaN, which max ignores: no change.
        let pairs = values.iter().zip(&found.values).map(|(new, old)| (new - old).abs());
        let last = if round == 1 { f64::INFINITY } else { pairs.fold(0.0, f64::max) };
        // Changes finally shrink by a constant factor, so the error is a geometric sum.
        let left =
            if change.is_finite() && last < change { last * last / (change - last) } else { last };
        found = SingularExponents { values, error: left, rounds: round };
        change = last;
        if round > 2 && left < TOLERANCE {
            break;
        }
        visit(true, &mut |at| {
            frame = images(&frame, size, |h| at.vjp(h));
            orthonormalise(&mut frame, size);
        })?;
    }
    Ok(found)
}

/// Maps all rows of a frame, on several threads if allowed.
fn images(frame: &[f64], size: usize, image: impl Fn(&[f64]) -> Vec<f64> + Sync) -> Vec<f64> {
    let rows: Vec<Vec<f64>> = if parallel_allowed() {
        frame.par_chunks_exact(size).map(&image).collect()
    } else {
        frame.chunks_exact(size).map(image).collect()
    };
    rows.concat()
}

/// A product of triangular matrices `R_1^T ... R_L^T`, k x k, divided by a power of e.
struct TriangularProduct {
    rows: Vec<f64>,
    k: usize,
    log_scale: f64,
}

impl TriangularProduct {
    /// Multiplies by another matrix and moves the size into `log_scale`.
    fn extend(&mut self, next: &[f64]) {
        self.rows = mul(&self.rows, next, self.k);
        let largest = self.rows.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        if largest > 0.0 {
            self.rows.iter_mut().for_each(|v| *v /= largest);
            self.log_scale += largest.ln();
        }
    }

    /// Logarithms of the singular values, descending. Pairs of rows are rotated until they are
    /// orthogonal (one-sided Jacobi), which keeps small singular values accurate beside large ones.
    fn log_singular_values(mut self) -> Vec<f64> {
        let k = self.k;
        for _ in 0..40 {
            let mut orthogonal = true;
            for q in 1..k {
                let (before, rest) = self.rows.split_at_mut(q * k);
                for row in before.chunks_exact_mut(k) {
                    orthogonal &= rotate_to_orthogonal(row, &mut rest[..k]);
                }
            }
            if orthogonal {
                break;
            }
        }
        let mut logs: Vec<f64> = self
            .rows
            .chunks_exact(k.max(1))
            .map(|c| 0.5 * dot(c, c).ln() + self.log_scale)
            .collect();
        logs.sort_by(|a, b| b.total_cmp(a));
        logs
    }
}

/// Rotates two rows to be orthogonal; returns true if they already were.
fn rotate_to_orthogonal(a: &mut [f64], b: &mut [f64]) -> bool {
    let (aa, bb, ab) = (dot(a, a), dot(b, b), dot(a, b));
    if ab.abs() <= f64::EPSILON * aa.sqrt() * bb.sqrt() {
        return true;
    }
    let zeta = (bb - aa) / (2.0 * ab);
    let tan = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
    let cos = 1.0 / tan.hypot(1.0);
    for (a, b) in a.iter_mut().zip(b) {
        (*a, *b) = (cos * (*a - tan * *b), cos * (tan * *a + *b));
    }
    false
}
