//! What many layers make of small changes: Lyapunov exponents by QR, the singular values of the
//! product of all layers, mixing matrices.

use super::dense::{identity, mul, orthonormalise};
use super::linearised::Linearised;
use super::stream::Stream;
use super::sum::dot;
use super::threads::parallel_allowed;
use rayon::prelude::*;

/// An orthonormal frame of small changes that is taken through layers.
///
/// Its exponents are those of the directions that were drawn: the Lyapunov exponents in the limit
/// of many layers, with a rest of order 1 / layers. At a finite depth [`singular_exponents`] says
/// how much changes can grow.
pub struct LyapunovFrame {
    rows: Vec<f64>,
    size: usize,
    sums: Vec<f64>,
    layers: usize,
}

impl LyapunovFrame {
    /// `count` directions of `size` numbers, drawn from a stream.
    pub fn new(size: usize, count: usize, stream: &mut Stream) -> Self {
        Self { rows: random_frame(size, count, stream), size, sums: vec![0.0; count.min(size)], layers: 0 }
    }

    /// Takes the frame through a layer and makes it orthonormal again.
    pub fn through(&mut self, at: &dyn Linearised) {
        self.rows = self.rows.chunks_exact(self.size).flat_map(|h| at.jvp(h)).collect();
        let (r, count) = (orthonormalise(&mut self.rows, self.size), self.sums.len());
        self.sums.iter_mut().enumerate().for_each(|(k, s)| *s += r[k * count + k].ln());
        self.layers += 1;
    }

    /// Mean logarithms of growth a layer, descending: the first Lyapunov exponents where there are
    /// many layers. Minus infinity where a direction died.
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

/// The first `count` Lyapunov exponents along the orbit of `start`: layers `0..skip` turn the
/// frame, the `layers` after them are measured. `linearise` is layer k at a point.
///
/// **Cost** `count` products and `2 count^2` inner products a layer. **Errors** those of
/// `linearise`.
pub fn exponents<L: Linearised, E>(
    start: &[f64],
    (skip, layers): (usize, usize),
    count: usize,
    stream: &mut Stream,
    linearise: impl FnMut(usize, &[f64]) -> Result<L, E>,
) -> Result<Vec<f64>, E> {
    let mut frame = LyapunovFrame::new(start.len(), count, stream);
    along(start, skip + layers, linearise, |layer, at| {
        if layer == skip {
            // Directions are kept, the growth so far is forgotten.
            (frame.layers, frame.sums) = (0, vec![0.0; frame.sums.len()]);
        }
        frame.through(at);
    })?;
    Ok(frame.exponents())
}

/// The mixing matrix `|d x_i(L) / d x_j(0)|`, n x n: Frobenius norms of d x d blocks of the
/// derivative of L layers. **Cost** `n d` products a layer. **Errors** those of `linearise`.
pub fn mixing<L: Linearised, E>(
    start: &[f64],
    d: usize,
    layers: usize,
    linearise: impl FnMut(usize, &[f64]) -> Result<L, E>,
) -> Result<Vec<f64>, E> {
    let (size, n) = (start.len(), start.len() / d);
    let mut columns = identity(size);
    along(start, layers, linearise, |_, at| columns = columns.chunks_exact(size).flat_map(|c| at.jvp(c)).collect())?;
    let mut squares = vec![0.0; n * n];
    for (c, column) in columns.chunks_exact(size).enumerate() {
        for (i, block) in column.chunks_exact(d).enumerate() {
            squares[i * n + c / d] += dot(block, block);
        }
    }
    Ok(squares.into_iter().map(f64::sqrt).collect())
}

/// Shows the layers linearised along an orbit.
fn along<L: Linearised, E>(
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

/// The growth of small changes over all layers at once.
#[derive(Clone, Debug, PartialEq)]
pub struct SingularExponents {
    /// `log sigma_k / L` for the largest singular values of the product of the derivatives of L
    /// layers, descending: the growth a layer of the changes that grow most. Each is at most the
    /// true one. Minus infinity where none is left.
    pub values: Vec<f64>,
    /// How far they may still be below the true ones, from the last two changes.
    pub error: f64,
    /// Rounds of the iteration.
    pub rounds: usize,
}

/// Directions beside those that are wanted: rounds then settle as `(sigma_{k + SPARE + 1} /
/// sigma_k)^2`.
const SPARE: usize = 4;

/// Rounds at most.
const MOST_ROUNDS: usize = 60;

/// Exponents within this of the true ones are settled.
const SETTLED: f64 = 1e-6;

/// The first `count` singular exponents of a product of layers acting on `size` numbers, by block
/// iteration with its transpose until they settle. `visit` shows the layers in turn, from the last
/// one back where its first argument is true.
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
/// **Accuracy** `error`; besides `1e-16` times the ratio of the largest to the k-th singular value
/// of one layer.
/// **Cost** `2 (count + 4)` products a layer and round. **Errors** those of `visit`.
pub fn singular_exponents<E>(
    size: usize,
    count: usize,
    stream: &mut Stream,
    mut visit: impl FnMut(bool, &mut dyn FnMut(&dyn Linearised)) -> Result<(), E>,
) -> Result<SingularExponents, E> {
    let mut frame = random_frame(size, count + SPARE, stream);
    let mut found = SingularExponents { values: Vec::new(), error: f64::INFINITY, rounds: 0 };
    let mut change = f64::INFINITY;
    for round in 1..=MOST_ROUNDS {
        let (mut product, mut layers) = (Triangle { rows: identity(frame.len() / size), k: frame.len() / size, log_scale: 0.0 }, 0u32);
        visit(false, &mut |at| {
            frame = images(&frame, size, |h| at.jvp(h));
            product.extend(&orthonormalise(&mut frame, size));
            layers += 1;
        })?;
        let mut values = product.logarithms();
        values.truncate(count);
        values.iter_mut().for_each(|v| *v /= f64::from(layers.max(1)));
        // Of two that are minus infinity the difference is no number, and no change.
        let pairs = values.iter().zip(&found.values).map(|(new, old)| (new - old).abs());
        let last = if round == 1 { f64::INFINITY } else { pairs.fold(0.0, f64::max) };
        // Changes shrink by a constant factor in the end: what is left is their geometric sum.
        let left = if change.is_finite() && last < change { last * last / (change - last) } else { last };
        found = SingularExponents { values, error: left, rounds: round };
        change = last;
        if round > 2 && left < SETTLED {
            break;
        }
        visit(true, &mut |at| {
            frame = images(&frame, size, |h| at.vjp(h));
            orthonormalise(&mut frame, size);
        })?;
    }
    Ok(found)
}

/// The images of all rows of a frame, by threads.
fn images(frame: &[f64], size: usize, image: impl Fn(&[f64]) -> Vec<f64> + Sync) -> Vec<f64> {
    let rows: Vec<Vec<f64>> =
        if parallel_allowed() { frame.par_chunks_exact(size).map(&image).collect() } else { frame.chunks_exact(size).map(image).collect() };
    rows.concat()
}

/// A product of triangular matrices `R_1^T ... R_L^T`, k x k, over a power of e.
struct Triangle {
    rows: Vec<f64>,
    k: usize,
    log_scale: f64,
}

impl Triangle {
    /// Multiplies by one more matrix, and takes out the size.
    fn extend(&mut self, next: &[f64]) {
        self.rows = mul(&self.rows, next, self.k);
        let largest = self.rows.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        if largest > 0.0 {
            self.rows.iter_mut().for_each(|v| *v /= largest);
            self.log_scale += largest.ln();
        }
    }

    /// Logarithms of the singular values, descending: rows are turned in pairs until they are
    /// orthogonal (one-sided Jacobi), which keeps small ones beside large ones.
    fn logarithms(mut self) -> Vec<f64> {
        let k = self.k;
        for _ in 0..40 {
            let mut orthogonal = true;
            for q in 1..k {
                let (before, rest) = self.rows.split_at_mut(q * k);
                for row in before.chunks_exact_mut(k) {
                    orthogonal &= made_orthogonal(row, &mut rest[..k]);
                }
            }
            if orthogonal {
                break;
            }
        }
        let mut logs: Vec<f64> = self.rows.chunks_exact(k.max(1)).map(|c| 0.5 * dot(c, c).ln() + self.log_scale).collect();
        logs.sort_by(|a, b| b.total_cmp(a));
        logs
    }
}

/// Turns two rows until they are orthogonal; true where they were.
fn made_orthogonal(a: &mut [f64], b: &mut [f64]) -> bool {
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
