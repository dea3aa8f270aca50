//! Decoding: one token after another, with cached keys and values of the earlier tokens.

use super::{AttentionLayer, BlockPart, Float, TransformerBlock};
use crate::error::Result;

/// Keys and values of the tokens so far, of every attention sublayer.
pub struct KeyValueCache<T = f64> {
    cached: Vec<(Vec<T>, Vec<T>)>,
    /// Number of tokens so far.
    count: usize,
}

impl<T: Float> KeyValueCache<T> {
    /// An empty cache.
    pub fn new(block: &TransformerBlock<T>) -> Self {
        Self { cached: vec![(Vec::new(), Vec::new()); block.parts.len()], count: 0 }
    }

    /// The output for the next token. It equals, bit by bit, its row in a pass over all tokens so
    /// far with the causal pattern of the block.
    ///
    /// **Cost** the maps for 64 tokens (the smallest piece), and attention over all tokens so far.
    /// **Errors** as [`super::ResidualSublayer::output`].
    pub fn next(
        &mut self,
        block: &TransformerBlock<T>,
        x: &[T],
        memory: Option<&[T]>,
    ) -> Result<Vec<T>> {
        let mut x = x.to_vec();
        for (part, cached) in block.parts.iter().zip(&mut self.cached) {
            let f = match &part.part {
                BlockPart::Attention(a) => {
                    part.branch(&x, |x| Ok((attend_cached(a, x, cached, self.count), ())))?.0
                }
                _ => part.output(&x, memory, false)?.0,
            };
            x = part.add_and_norm(&x, &f, 1.0);
        }
        self.count += 1;
        Ok(x)
    }
}

/// Attention of the token at position `at`; adds its keys and values to the cache.
fn attend_cached<T: Float>(
    of: &AttentionLayer<T>,
    x: &[T],
    (keys, values): &mut (Vec<T>, Vec<T>),
    at: usize,
) -> Vec<T> {
    let [q, k, v] = of.project(x, x, at);
    keys.extend(k);
    values.extend(v);
    of.attend_images(&q, keys, values, at, false).out
}
