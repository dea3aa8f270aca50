//! Decoding: one token after another, with the keys and values of those before it kept.

use super::{BlockPart, Projected, Real, TransformerBlock};
use crate::attention::pattern::{Bias, Extent, Pattern};
use crate::error::Result;
use crate::num::dd::Dd;
use std::ops::Range;
use std::sync::Arc;

/// Keys and values of the tokens so far, of every attention sublayer.
pub struct Cache<T = f64> {
    kept: Vec<(Vec<T>, Vec<T>)>,
    /// Tokens so far.
    count: usize,
}

/// A pattern as the query number `first` sees it.
struct Later {
    pattern: Arc<dyn Pattern>,
    first: usize,
}

impl Pattern for Later {
    fn check(&self, extent: &Extent) -> Result<()> {
        self.pattern.check(&Extent { queries: extent.sources, ..*extent })
    }
    fn seen(&self, i: usize, sources: usize) -> Range<usize> {
        self.pattern.seen(self.first + i, sources)
    }
    fn bias(&self, head: usize, i: usize, j: usize) -> f64 {
        self.pattern.bias(head, self.first + i, j)
    }
    fn form(&self, head: usize) -> Bias {
        self.pattern.form(head)
    }
    fn turns(&self) -> bool {
        self.pattern.turns()
    }
    fn place(&self, i: usize, image: &mut [f64]) {
        self.pattern.place(i, image);
    }
    fn place_exactly(&self, i: usize, image: &mut [Dd]) {
        self.pattern.place_exactly(i, image);
    }
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
    let (mut q, mut k) = (of.query.apply(x), of.key.apply(x));
    of.place(&mut q, of.grouping.heads, at);
    of.place(&mut k, of.grouping.sets, at);
    keys.extend(k);
    values.extend(of.value.apply(x));
    let placed = Projected { pattern: Arc::new(Later { pattern: of.pattern.clone(), first: at }), ..of.clone() };
    of.output.apply(&placed.mix(&q, keys, values, false).0)
}
