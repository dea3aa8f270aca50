//! The prefix property of whole blocks.

use super::super::trained::block_collapse::{block, tokens};
use crate::attention::pattern::{
    Alibi, Causal, CombinedPattern, FullAttention, Pairs, Pattern, Rotary,
};
use crate::theorem::prelude::*;

/// Norms, feed-forward layers and residuals act on each token alone; matrix products are computed
/// in pieces of fixed shape.
///
/// # Derivation
///
/// Under a causal mask `P_ij = 0` for j > i, and all other operations act on each token alone. The
/// sums of a token are computed in pieces whose shapes do not depend on later tokens.
pub static ENTRY: Claim = Claim {
    name: "block-prefix",
    title: "Causal blocks: earlier tokens do not depend on later ones, bit for bit",
    then: "The output of a pre-norm block (causal heads with rotary positions, ALiBi or neither; \
           feed-forward layer) for the first k tokens is, bit for bit, the output for these \
           tokens without the n - k later ones.",
    domain: Domain { n: Sizes::Range(2, 90), laws: &["normal"], ..Domain::BLOCKS },
    narrower: "normal weights, two heads",
    source: "derived; Vaswani et al. 2017",
    trials: (6, 60),
    trial: |case, ctx| changed(case, ctx, true),
    control: Control {
        what: "without the mask",
        trial: |ctx| changed(&Case::new(6, 4, 1.0, "sa"), ctx, false),
    },
    ..Claim::IDENTITY
};

/// Causal heads with one of three kinds of positions, or heads without a mask.
pub(crate) fn pattern(ctx: &mut Context, d: usize, causal: bool) -> Result<Arc<dyn Pattern>> {
    if !causal {
        return Ok(Arc::new(FullAttention));
    }
    let positions: Option<Box<dyn Pattern>> = match ctx.index(3) {
        0 => Some(Box::new(Rotary::new(100.0, Pairs::Halves, d / 2)?)),
        1 => Some(Box::new(Alibi::new(2)?)),
        _ => None,
    };
    Ok(Arc::new(CombinedPattern::new(
        [Box::new(Causal) as Box<dyn Pattern>].into_iter().chain(positions).collect(),
    )))
}

fn changed(case: &Case, ctx: &mut Context, causal: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let pattern = pattern(ctx, d, causal)?;
    let (block, x, k) = (block(ctx, d, 1.0, pattern)?, tokens(ctx, n, d), 1 + ctx.index(n - 1));
    let (all, first) = (block.step(&x, None, 1.0)?, block.step(&x[..k * d], None, 1.0)?);
    let bits = first.iter().zip(&all).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
    Ok(Finding::identity(bits as f64, 0.5))
}
