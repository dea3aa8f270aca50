//! The average of several heads.

use super::heads_sum::Heads;
use crate::theorem::prelude::*;

/// The matrix on the concatenation averages the heads only if its blocks are I/H.
pub static ENTRY: Claim = Claim {
    name: "heads-average",
    title: "Heads are averaged if W^O_h = I/H",
    lets: "two to four heads of size d have normal Q, K, V, and let W^O = (I, .., I)/H",
    then: "The matrix applied to the concatenation gives the mean of the heads.",
    tested: "in every coordinate to twice the bound of block-collapse; the concatenation is \
             computed by the heads of trained models, the mean by its definition",
    domain: Domain { n: Sizes::Range(1, 8), d: Sizes::Range(1, 5), ..Domain::MAPS },
    source: "arXiv:1706.03762, section 3.2.2 (the general matrix); arXiv:2312.10794, section 7 \
               (the mean)",
    trials: (10, 60),
    trial: |case, ctx| averaged(ctx, case, true),
    control: Control {
        what: "a normal W^O",
        trial: |ctx| averaged(ctx, &Case::new(5, 4, 0.0, "maps of rows"), false),
    },
    ..Claim::IDENTITY
};

fn averaged(ctx: &mut Context, case: &Case, blocks: bool) -> Result<Finding> {
    let mut h = Heads::draw(ctx, case);
    if blocks {
        let (d, count) = (case.d, h.count());
        h.last = (0..d * d * count)
            .map(|k| if k / (d * count) == k % d { 1.0 / count as f64 } else { 0.0 })
            .collect();
    }
    h.against(&h.mean())
}
