//! Blocks with random weights.

use super::{BlockPart, Centring, Grouping, Linear, Mlp, Norm, NormPlace, Placed, Projected, TransformerBlock};
use crate::attention::dense::Activation;
use crate::attention::pattern::Pattern;
use crate::error::Result;
use crate::num::stream::Stream;
use std::sync::Arc;

/// What a block with random weights looks like.
#[derive(Clone)]
pub struct BlockSizes {
    /// Dimension.
    pub d: usize,
    /// Heads; 0 leaves attention out.
    pub heads: usize,
    /// Hidden units; 0 leaves the feed-forward layer out.
    pub hidden: usize,
    /// Standard deviation of weights times the root of the number of inputs.
    pub size: f64,
    /// Where norms are.
    pub place: NormPlace,
}

/// A block of normal weights and no biases, GELU, norms of gain 1 and eps 1e-12; drawn from a stream.
///
/// **Errors** heads that do not divide the dimension.
pub fn block(stream: &mut Stream, sizes: &BlockSizes, pattern: Arc<dyn Pattern>) -> Result<TransformerBlock> {
    let BlockSizes { d, heads, hidden, size, place } = *sizes;
    let mut map = |inputs: usize, outputs: usize| {
        let mut w = vec![0.0; inputs * outputs];
        stream.normals(&mut w);
        w.iter_mut().for_each(|v| *v *= size / (inputs as f64).sqrt());
        Linear::new("random map", inputs, w, Vec::new())
    };
    let norm = || Norm::plain(d, Centring::Mean, 1e-12);
    let mut parts = Vec::new();
    if heads > 0 {
        let maps = [map(d, d)?, map(d, d)?, map(d, d)?, map(d, d)?];
        let attention = Projected::new("random heads", maps, Grouping { heads, sets: heads }, pattern)?;
        parts.push(Placed::new(BlockPart::Attention(attention), place, norm(), Some(norm())));
    }
    if hidden > 0 {
        let mlp = Mlp::new("random units", map(d, hidden)?, None, map(hidden, d)?, Activation::Gelu)?;
        parts.push(Placed::new(BlockPart::Mlp(mlp), place, norm(), Some(norm())));
    }
    Ok(TransformerBlock { parts })
}
