//! What many layers make of small changes: Lyapunov exponents by QR, mixing matrices.

use super::block::TransformerBlock;
use super::tangent::BlockAt;
use crate::error::Result;
use crate::num::stream::Stream;
use crate::num::sum::dot;

/// An orthonormal frame of small changes that is taken through layers.
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

    /// Means over the layers so far of the logarithms by which the directions grew: the first Lyapunov exponents. Minus infinity where one died.
    pub fn exponents(&self) -> Vec<f64> {
        self.sums.iter().map(|s| s / self.layers.max(1) as f64).collect()
    }
}

/// The first `count` Lyapunov exponents of these layers from tokens x.
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

/// Brings a frame to an orthonormal one and returns the lengths that were left; a direction that dies is left as zeros.
fn orthonormalise(frame: &mut [Vec<f64>]) -> Vec<f64> {
    let mut lengths = Vec::with_capacity(frame.len());
    for k in 0..frame.len() {
        let (before, rest) = frame.split_at_mut(k);
        let own = &mut rest[0];
        for _ in 0..2 {
            for other in before.iter() {
                let along = dot(other, own);
                own.iter_mut().zip(other).for_each(|(o, b)| *o -= along * b);
            }
        }
        let length = dot(own, own).sqrt();
        own.iter_mut().for_each(|v| *v = if length > 0.0 { *v / length } else { 0.0 });
        lengths.push(length);
    }
    lengths
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
