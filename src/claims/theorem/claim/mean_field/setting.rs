//! What claims of this topic share: densities on the circle, and a block with normal weights.

use crate::attention::dense::Activation;
use crate::attention::pattern::FullAttention;
use crate::num::fft::Complex64;
use crate::theorem::prelude::*;
use crate::transformer::{
    AttentionLayer, Centring, Grouping, Linear, Mlp, Norm, NormPlacement, TransformerBlock,
};

/// The numbers of modes of [`density`].
pub(super) const MODES: (usize, usize) = (2, 6);
/// A lower bound on the values of [`density`].
pub(super) const LEAST_DENSITY: f64 = 0.05;
/// The size of the weights of [`block`], times the root of the number of inputs.
pub(super) const WEIGHTS: f64 = 0.5;
/// The size of its biases.
pub(super) const BIASES: f64 = 0.3;

/// The density 1 plus random modes whose amplitudes sum to at most `1 - LEAST_DENSITY`.
pub(super) fn density(ctx: &mut Context) -> Result<Circle> {
    let modes = MODES.0 + ctx.index(MODES.1 - MODES.0 + 1);
    let raw = ctx.normals(2 * modes);
    let waves: Vec<Complex64> =
        (0..modes).map(|k| Complex64::new(raw[2 * k], raw[2 * k + 1])).collect();
    let total: f64 = waves.iter().map(|w| w.norm()).sum();
    let size = 0.5 * ctx.uniform_in(0.05, 1.0 - LEAST_DENSITY) / total.max(f64::MIN_POSITIVE);
    Ok(Circle {
        c: std::iter::once(Complex64::new(1.0, 0.0))
            .chain(waves.iter().map(|w| w * size))
            .collect(),
    })
}

/// A pre-norm block on `R^d` with normal weights of half the usual size: two heads, then 2 d hidden
/// units.
pub(super) fn block(ctx: &mut Context, d: usize) -> Result<TransformerBlock> {
    let mut map = |inputs: usize, outputs: usize| -> Result<Linear> {
        let scale = WEIGHTS / (inputs as f64).sqrt();
        Linear::new(
            "map",
            inputs,
            normals(ctx, inputs * outputs, scale),
            normals(ctx, outputs, BIASES),
        )
    };
    let maps = [map(d, d)?, map(d, d)?, map(d, d)?, map(d, d)?];
    let units = Mlp::new("units", map(d, 2 * d)?, None, map(2 * d, d)?, Activation::Gelu)?;
    let grouping = Grouping { heads: 2, kv_heads: 2 };
    let attention = AttentionLayer::new("heads", maps, grouping, Arc::new(FullAttention))?;
    let norm = || Norm::plain(d, Centring::Mean, 1e-5);
    Ok(TransformerBlock::new(NormPlacement::Pre, (attention, norm()), (units, norm())))
}
