//! Decoding: one token after another, with the keys and values of those before it kept.

use super::{BlockPart, Projected, Real, TransformerBlock};
use crate::error::Result;

/// Keys and values of the tokens so far, of every attention sublayer.
pub struct Cache<T = f64> {
    kept: Vec<(Vec<T>, Vec<T>)>,
    /// Tokens so far.
    count: usize,
}

impl<T: Real> Cache<T> {
    /// Nothing yet.
    pub fn new(block: &TransformerBlock<T>) -> Self {
        Self { kept: vec![(Vec::new(), Vec::new()); block.parts.len()], count: 0 }
    }

    /// The next token through the block: equal, bit by bit, to its row of a pass over all tokens so far under the block's causal pattern.
    ///
    /// **Cost** of the maps one token filled up to a piece of 64, of attention the tokens so far. **Errors** as [`super::Placed::output`].
    pub fn next(&mut self, block: &TransformerBlock<T>, x: &[T], memory: Option<&[T]>) -> Result<Vec<T>> {
        let mut x = x.to_vec();
        for (part, kept) in block.parts.iter().zip(&mut self.kept) {
            let f = match &part.part {
                BlockPart::Attention(a) => part.branch(&x, |x| Ok((one(a, x, kept, self.count), ())))?.0,
                _ => part.output(&x, memory, false)?.0,
            };
            x = part.close(&x, &f, 1.0);
        }
        self.count += 1;
        Ok(x)
    }
}

/// Attention of the token number `at`, whose keys and values are added to those kept.
fn one<T: Real>(of: &Projected<T>, x: &[T], (keys, values): &mut (Vec<T>, Vec<T>), at: usize) -> Vec<T> {
    let [q, k, v] = of.images(x, x, at);
    keys.extend(k);
    values.extend(v);
    of.output.apply(&of.mix(&q, keys, values, at, false).0)
}
