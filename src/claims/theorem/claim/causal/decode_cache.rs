//! Decoding with cached keys and values.

use super::super::trained::block_collapse::{block, tokens};
use super::block_prefix::pattern;
use crate::theorem::prelude::*;
use crate::transformer::decode::KeyValueCache;

/// Keys and values of a token do not depend on later tokens.
///
/// # Derivation
///
/// Row i of a causal block needs its own query, and keys and values of the tokens `j <= i`, which
/// later tokens do not change (`block-prefix`). With the same order of summation both passes add
/// the same numbers, so the results agree bit for bit.
pub static ENTRY: Claim = Claim {
    name: "decode-cache",
    title: "Causal blocks: decoding with cached keys and values equals the masked pass, bit for \
            bit",
    then: "Decoding one token after the other with cached keys and values (rotary positions, \
           ALiBi or neither) gives, bit for bit, the rows of one pass over all tokens under the \
           causal mask.",
    domain: Domain { n: Sizes::Range(2, 70), laws: &["normal"], ..Domain::BLOCKS },
    narrower: "normal weights, two heads",
    source: "derived; Vaswani et al. 2017",
    trials: (5, 40),
    trial: |case, ctx| decoded(case, ctx, true),
    control: Control {
        what: "a pass without the mask",
        trial: |ctx| decoded(&Case::new(6, 4, 1.0, "sa"), ctx, false),
    },
    ..Claim::IDENTITY
};

fn decoded(case: &Case, ctx: &mut Context, causal: bool) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let pattern = pattern(ctx, d, causal)?;
    let (block, x) = (block(ctx, d, 1.0, pattern)?, tokens(ctx, n, d));
    let all = block.step(&x, None, 1.0)?;
    let mut cache = KeyValueCache::new(&block);
    let mut bits = 0;
    for (row, token) in all.chunks_exact(d).zip(x.chunks_exact(d)) {
        let next = cache.next(&block, token, None)?;
        bits += next.iter().zip(row).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
    }
    Ok(Finding::identity(bits as f64, 0.5))
}
