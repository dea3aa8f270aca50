//! Blocks with random weights.

use super::{
    AttentionLayer, BlockPart, Centring, Grouping, Linear, Mlp, Norm, NormPlacement,
    ResidualSublayer, TransformerBlock,
};
use crate::attention::dense::Activation;
use crate::attention::pattern::Pattern;
use crate::error::Result;
use crate::num::stream::Stream;
use std::sync::Arc;

/// The sizes of a block with random weights.
#[derive(Clone)]
pub struct BlockSizes {
    /// Dimension.
    pub d: usize,
    /// Number of heads; 0 for no attention.
    pub heads: usize,
    /// Number of hidden units; 0 for no feed-forward layer.
    pub hidden: usize,
    /// Standard deviation of the weights, times the square root of the number of inputs.
    pub size: f64,
    /// Placement of the norms.
    pub place: NormPlacement,
}

/// A block with normally distributed weights from a stream: no biases, GELU, norms of gain 1 and
/// eps 1e-12.
///
/// **Errors** heads that do not divide the dimension.
pub fn random_block(
    stream: &mut Stream,
    sizes: &BlockSizes,
    pattern: Arc<dyn Pattern>,
) -> Result<TransformerBlock> {
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
        let attention = AttentionLayer::new(
            "random heads",
            maps,
            Grouping { heads, kv_heads: heads },
            pattern,
        )?;
        parts.push(ResidualSublayer::new(
            BlockPart::Attention(attention),
            place,
            norm(),
            Some(norm()),
        ));
    }
    if hidden > 0 {
        let mlp =
            Mlp::new("random units", map(d, hidden)?, None, map(hidden, d)?, Activation::Gelu)?;
        parts.push(ResidualSublayer::new(BlockPart::Mlp(mlp), place, norm(), Some(norm())));
    }
    Ok(TransformerBlock { parts })
}
