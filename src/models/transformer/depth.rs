//! What many layers make of small changes: exponents of growth by QR and by singular values, mixing
//! matrices.

use super::block::TransformerBlock;
use super::tangent::BlockAt;
use crate::error::Result;
use crate::num::stream::Stream;
use crate::num::sum::dot;
use crate::num::threads::parallel_allowed;
use rayon::prelude::*;

/// An orthonormal frame of small changes that is taken through layers.
///
/// Its exponents are those of the directions that were drawn: the Lyapunov exponents in the limit
/// of many layers, with a rest of order 1 / layers. At the depth of a model [`singular_exponents`]
/// says how much changes can grow.
pub struct Changes {
    frame: Vec<Vec<f64>>,
    sums: Vec<f64>,
    layers: usize,
}

impl Changes {
    /// `count` directions of `size` numbers, drawn from a seed.
    pub fn new(size: usize, count: usize, seed: u64) -> Self {
        let mut stream = Stream::new(seed, &["transformer", "exponents"]);
        let mut frame: Vec<Vec<f64>> = (0..count.min(size)).map(|_| (0..size).map(|_| stream.normal()).collect()).collect();
        orthonormalise(&mut frame);
        Self { sums: vec![0.0; frame.len()], frame, layers: 0 }
    }

    /// Takes them through a layer and makes them orthonormal again (QR by modified Gram-Schmidt, twice).
    pub fn through(&mut self, at: &BlockAt) {
        self.frame = self.frame.iter().map(|h| at.push(h)).collect();
        self.sums.iter_mut().zip(orthonormalise(&mut self.frame)).for_each(|(s, length)| *s += length.ln());
        self.layers += 1;
    }

    /// Means over the layers so far of the logarithms by which the directions grew: the first
    /// Lyapunov exponents where there are many layers. Minus infinity where one died.
    pub fn exponents(&self) -> Vec<f64> {
        self.sums.iter().map(|s| s / self.layers.max(1) as f64).collect()
    }
}

/// The first `count` Lyapunov exponents of these layers from tokens x, by QR of `count` random
/// directions.
///
/// **Cost** `count` products a layer. **Errors** as [`super::Placed::output`].
pub fn exponents(blocks: &[&TransformerBlock], x: &[f64], eta: f64, count: usize, seed: u64) -> Result<Vec<f64>> {
    let (mut changes, mut x) = (Changes::new(x.len(), count, seed), x.to_vec());
    for block in blocks {
        let at = BlockAt::new(block, &x, None, eta)?;
        changes.through(&at);
        x = at.next().to_vec();
    }
    Ok(changes.exponents())
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
/// use metastable::transformer::{BlockPart, Linear, Mlp, Placed, TransformerBlock, depth::singular_exponents, tangent::BlockAt};
/// use metastable::attention::feed_forward::Activation;
/// // x + relu(A x) at an x where relu is the identity: the derivative is 1 + A = [[1, 3], [0, 1]].
/// let (a, unit) = (Linear::new("a", 2, vec![0.0, 3.0, 0.0, 0.0], vec![])?, Linear::new("b", 2, vec![1.0, 0.0, 0.0, 1.0], vec![])?);
/// let part = BlockPart::Mlp(Mlp::new("mlp", a, None, unit, Activation::Relu)?);
/// let block = TransformerBlock { parts: vec![Placed { part, inner: None, outer: None, after: None }] };
/// let found = singular_exponents(2, 2, 1, |_, see| {
///     see(&BlockAt::new(&block, &[1.0, 1.0], None, 1.0)?);
///     Ok(())
/// })?;
/// let largest = ((11.0 + 117f64.sqrt()) / 2.0).sqrt();
/// assert!((found.values[0] - largest.ln()).abs() < 1e-12 && (found.values[1] + largest.ln()).abs() < 1e-12);
/// # Ok::<(), metastable::error::Error>(())
/// ```
///
/// **Accuracy** `error`; besides `1e-16` times the ratio of the largest to the k-th singular value
/// of one layer.
/// **Cost** `2 (count + 4)` products a layer and round. **Errors** those of `visit`.
pub fn singular_exponents(
    size: usize,
    count: usize,
    seed: u64,
    mut visit: impl FnMut(bool, &mut dyn FnMut(&BlockAt)) -> Result<()>,
) -> Result<SingularExponents> {
    let mut stream = Stream::new(seed, &["transformer", "singular"]);
    let mut frame: Vec<Vec<f64>> = (0..(count + SPARE).min(size)).map(|_| (0..size).map(|_| stream.normal()).collect()).collect();
    orthonormalise(&mut frame);
    let mut found = SingularExponents { values: Vec::new(), error: f64::INFINITY, rounds: 0 };
    let mut change = f64::INFINITY;
    for round in 1..=MOST_ROUNDS {
        let (mut product, mut layers) = (Triangle::new(frame.len()), 0u32);
        visit(false, &mut |at| {
            frame = taken(&frame, |h| at.push(h));
            product.extend(&triangular(&mut frame));
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
            frame = taken(&frame, |h| at.pull(h));
            orthonormalise(&mut frame);
        })?;
    }
    Ok(found)
}

/// What becomes of all directions of a frame.
fn taken(frame: &[Vec<f64>], image: impl Fn(&[f64]) -> Vec<f64> + Sync) -> Vec<Vec<f64>> {
    if parallel_allowed() { frame.par_iter().map(|h| image(h)).collect() } else { frame.iter().map(|h| image(h)).collect() }
}

/// A product of upper triangular matrices `R_L ... R_1`, by columns, over a power of e.
struct Triangle {
    columns: Vec<Vec<f64>>,
    log_scale: f64,
}

impl Triangle {
    fn new(k: usize) -> Self {
        Self { columns: (0..k).map(|c| (0..k).map(|r| f64::from(u8::from(r == c))).collect()).collect(), log_scale: 0.0 }
    }

    /// Puts one more matrix (by columns) before the product, and takes out its size.
    fn extend(&mut self, next: &[Vec<f64>]) {
        for column in &mut self.columns {
            let mut image = vec![0.0; column.len()];
            for (v, column) in column.iter().zip(next) {
                image.iter_mut().zip(column).for_each(|(o, r)| *o += v * r);
            }
            *column = image;
        }
        let largest = self.columns.iter().flatten().fold(0.0f64, |m, v| m.max(v.abs()));
        if largest > 0.0 {
            self.columns.iter_mut().flatten().for_each(|v| *v /= largest);
            self.log_scale += largest.ln();
        }
    }

    /// Logarithms of the singular values, descending: columns are turned in pairs until they are
    /// orthogonal (one-sided Jacobi), which keeps small ones beside large ones.
    fn logarithms(mut self) -> Vec<f64> {
        let k = self.columns.len();
        for _ in 0..40 {
            let mut still = true;
            for p in 0..k {
                for q in p + 1..k {
                    let (before, rest) = self.columns.split_at_mut(q);
                    still &= made_orthogonal(&mut before[p], &mut rest[0]);
                }
            }
            if still {
                break;
            }
        }
        let mut logs: Vec<f64> = self.columns.iter().map(|c| 0.5 * dot(c, c).ln() + self.log_scale).collect();
        logs.sort_by(|a, b| b.total_cmp(a));
        logs
    }
}

/// Turns two columns until they are orthogonal; true where they were.
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

/// Brings a frame to an orthonormal one and returns the lengths that were left; a direction that dies is left as zeros.
fn orthonormalise(frame: &mut [Vec<f64>]) -> Vec<f64> {
    triangular(frame).iter().enumerate().map(|(k, column)| column[k]).collect()
}

/// The same with the whole triangular matrix, by columns: column k says how direction k was made of
/// those that are left.
fn triangular(frame: &mut [Vec<f64>]) -> Vec<Vec<f64>> {
    let mut columns = vec![vec![0.0; frame.len()]; frame.len()];
    for (k, column) in columns.iter_mut().enumerate() {
        let (before, rest) = frame.split_at_mut(k);
        let own = &mut rest[0];
        for _ in 0..2 {
            for (other, entry) in before.iter().zip(column.iter_mut()) {
                let along = dot(other, own);
                own.iter_mut().zip(other).for_each(|(o, b)| *o -= along * b);
                *entry += along;
            }
        }
        let length = dot(own, own).sqrt();
        own.iter_mut().for_each(|v| *v = if length > 0.0 { *v / length } else { 0.0 });
        column[k] = length;
    }
    columns
}

/// The mixing matrix `|d x_i(L) / d x_j(0)|` (Frobenius norms of its d x d blocks, n x n) of these layers from tokens x of dimension d.
///
/// **Cost** `n d` products a layer. **Errors** as [`super::Placed::output`].
pub fn mixing(blocks: &[&TransformerBlock], x: &[f64], d: usize, eta: f64) -> Result<Vec<f64>> {
    let (mut at, mut x) = (Vec::with_capacity(blocks.len()), x.to_vec());
    for block in blocks {
        let here = BlockAt::new(block, &x, None, eta)?;
        x = here.next().to_vec();
        at.push(here);
    }
    let n = x.len() / d;
    let mut squares = vec![0.0; n * n];
    for c in 0..n * d {
        let mut h = vec![0.0; n * d];
        h[c] = 1.0;
        let h = at.iter().fold(h, |h, a| a.push(&h));
        for (i, row) in h.chunks_exact(d).enumerate() {
            squares[i * n + c / d] += dot(row, row);
        }
    }
    Ok(squares.into_iter().map(f64::sqrt).collect())
}

/// The largest factor by which a layer of these tokens stretches a small change, by power iteration on the product with its transpose, and its last
/// relative change.
///
/// **Errors** as [`super::Placed::output`].
pub fn stretch(block: &TransformerBlock, x: &[f64], eta: f64, steps: usize) -> Result<(f64, f64)> {
    let at = BlockAt::new(block, x, None, eta)?;
    let mut stream = Stream::new(1, &["transformer", "stretch"]);
    let mut h: Vec<f64> = (0..x.len()).map(|_| stream.normal()).collect();
    let (mut value, mut change) = (0.0, f64::INFINITY);
    for _ in 0..steps {
        let length = dot(&h, &h).sqrt();
        h.iter_mut().for_each(|v| *v /= length);
        let image = at.push(&h);
        let next = dot(&image, &image).sqrt();
        change = (next - value).abs() / next.max(f64::MIN_POSITIVE);
        value = next;
        h = at.pull(&image);
        if change < 1e-9 {
            break;
        }
    }
    Ok((value, change))
}
