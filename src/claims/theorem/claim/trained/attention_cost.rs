//! The additional work of attention in a decoder.

use crate::recurrent::{
    alignment::{Alignment, EncoderDecoder},
    linearise_layer,
};
use crate::theorem::prelude::*;

/// Scores and means need n d multiplications each, for every output.
///
/// # Derivation
///
/// Each of the n outputs needs n products of d numbers for the scores, n divisions for the weights,
/// and n d products for the mean. All other work is the same.
pub static ENTRY: Claim = Claim {
    name: "attention-cost",
    title: "Attention adds n (2 d + 1) multiplications per output",
    then: "Consider an encoder and a decoder with n inputs, n outputs and scores s^T h. Attention \
           needs n^2 (2 d + 1) multiplications more than a fixed context, counted operation by \
           operation, where a division of the softmax counts as one.",
    domain: Domain { n: Sizes::Range(1, 20), d: Sizes::Range(1, 16), ..Domain::MAPS },
    source: "arXiv:1706.03762, table 1 (orders); the count derived",
    trials: (10, 60),
    trial: |case, ctx| {
        let (more, n, d) = (added(ctx, case), case.n as f64, case.d as f64);
        Ok(Finding::identity((more - n * n * (2.0 * d + 1.0)).abs(), 0.5))
    },
    control: Control {
        what: "the scores alone",
        trial: |ctx| {
            let more = added(ctx, &Case::new(6, 4, 0.0, "maps of rows"));
            Ok(Finding::identity((more - 36.0 * 4.0).abs(), 0.5))
        },
    },
    ..Claim::IDENTITY
};

/// The number of multiplications with attention minus the number without.
pub(crate) fn added(ctx: &mut Context, case: &Case) -> f64 {
    let x = ctx.normals(case.n * case.d);
    let seed = ctx.seed();
    let count = |alignment| {
        linearise_layer(&EncoderDecoder::normal(seed, case.d, 1.0, alignment), 0, case.d, &x)
            .multiplications() as f64
    };
    count(Alignment::Dot) - count(Alignment::Fixed)
}
