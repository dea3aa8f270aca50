//! The distribution of the parameters of a block.

use crate::theorem::prelude::*;

/// Attention has four square matrices, the feed-forward part two matrices of four times the width.
///
/// # Derivation
///
/// Attention has 4 (d^2 + d) parameters, the feed-forward part 8 d^2 + 5 d, two norms 4 d: the
/// share is (8 d + 5)/(12 d + 13), and 2/3 minus this share is 11/(36 d + 39) < 1/(3 d).
pub static ENTRY: Claim = Claim {
    name: "ffn-share",
    title: "The feed-forward part has two thirds of the parameters of a block, to 1/(3 d)",
    lets: "a block have matrices and biases for Q, K, V and the output, a feed-forward part of \
           width 4 d, and two layer norms",
    then: "The share of parameters in its feed-forward part is (8 d + 5)/(12 d + 13), which is \
           less than 2/3 by less than 1/(3 d).",
    domain: Domain {
        n: Sizes::Unused,
        d: Sizes::Range(4, 4096),
        laws: &["uniform"],
        ..Domain::MAPS
    },
    source: "arXiv:1706.03762, section 3.3 (widths); count derived",
    trials: (8, 60),
    trial: |case, ctx| {
        let bound = ctx.claimed_constant(1.0) / (3.0 * case.d as f64);
        Ok(below(case.d, 4, bound))
    },
    constant: "the bound 1/(3 d)",
    control: Control { what: "the width 2 d", trial: |_| Ok(below(768, 2, 1.0 / (3.0 * 768.0))) },
    ..Claim::INEQUALITY
};

/// Tests that the share is (8 d + 5)/(12 d + 13), above 2/3 minus the bound and below 2/3.
fn below(d: usize, w: usize, bound: f64) -> Finding {
    let (share, size) = (share(d, w), d as f64);
    let less = 2.0 / 3.0 - share;
    let counted =
        Finding::identity((share - (8.0 * size + 5.0) / (12.0 * size + 13.0)).abs(), f64::EPSILON);
    Finding::at_most(less, bound).and(Finding::nonnegative(less, 1.0 / (3.0 * size))).and(counted)
}

/// The share of the feed-forward part of width `w d`, from the sizes of all parameters.
pub(crate) fn share(d: usize, w: usize) -> f64 {
    let attention: usize = [(d, d); 4].iter().map(|(r, c)| r * c + r).sum();
    let feed_forward: usize = [(w * d, d), (d, w * d)].iter().map(|(r, c)| r * c + r).sum();
    feed_forward as f64 / (attention + feed_forward + 2 * 2 * d) as f64
}
