//! Where the parameters of a block are.

use crate::theorem::prelude::*;

/// Four square matrices of attention beside two of four times the width.
///
/// # Derivation
///
/// Attention has 4 (d^2 + d) parameters, the feed-forward part 8 d^2 + 5 d, two norms 4 d: the share is (8 d + 5)/(12 d + 13), and 2/3
/// less that is 11/(36 d + 39) < 1/(3 d).
pub static ENTRY: Claim = Claim {
    name: "ffn-share",
    title: "The feed-forward part has two thirds of the parameters of a block, within 1/(3 d)",
    statement: "A block with matrices and biases for Q, K, V and the output, a feed-forward part of width 4 d, two layer norms: its feed-forward share is (8 d + 5)/(12 d + 13), below 2/3 by less than 1/(3 d).",
    domain: Domain { n: Sizes::Unused, d: Sizes::Range(4, 4096), laws: &["uniform"], ..Domain::MAPS },
    citation: "arXiv:1706.03762, section 3.3 (widths); count derived",
    trials: (8, 60),
    trial: |case, ctx| {
        let bound = ctx.stated(1.0) / (3.0 * case.d as f64);
        Ok(below(case.d, 4, bound))
    },
    perturbed: "the bound 1/(3 d)",
    control: Control { what: "width 2 d", trial: |_| Ok(below(768, 2, 1.0 / (3.0 * 768.0))) },
    ..Claim::INEQUALITY
};

/// The share is (8 d + 5)/(12 d + 13), above 2/3 less the bound, and below 2/3.
fn below(d: usize, w: usize, bound: f64) -> Finding {
    let (share, size) = (share(d, w), d as f64);
    let less = 2.0 / 3.0 - share;
    let counted = Finding::identity((share - (8.0 * size + 5.0) / (12.0 * size + 13.0)).abs(), f64::EPSILON);
    Finding::at_most(less, bound).and(Finding::nonnegative(less, 1.0 / (3.0 * size))).and(counted)
}

/// Share of the feed-forward part of width `w d`, with the shapes of all parameters added up.
pub(super) fn share(d: usize, w: usize) -> f64 {
    let attention: usize = [(d, d); 4].iter().map(|(r, c)| r * c + r).sum();
    let feed_forward: usize = [(w * d, d), (d, w * d)].iter().map(|(r, c)| r * c + r).sum();
    feed_forward as f64 / (attention + feed_forward + 2 * 2 * d) as f64
}
