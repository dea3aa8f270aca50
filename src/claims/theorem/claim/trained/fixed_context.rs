//! Sequence-to-sequence models without attention.

use crate::recurrent::{
    alignment::{Alignment, EncoderDecoder},
    trace::Trace,
};
use crate::theorem::prelude::*;

/// All outputs use one vector; with attention every output has its own.
///
/// # Derivation
///
/// The weights do not depend on the output i, so the context c = sum_j a_j h_j does not, either:
/// the matrix of contexts has rank 1.
pub static ENTRY: Claim = Claim {
    name: "fixed-context",
    title: "Fixed context: every output uses the same vector; with attention it does not",
    then: "In an encoder and a decoder with normal weights, n inputs and n outputs, and all \
           weight on the last state, all contexts c_i are equal, exactly.",
    domain: Domain { n: Sizes::Range(2, 10), d: Sizes::Range(2, 6), ..Domain::MAPS },
    source: "arXiv:1409.0473, section 2.1",
    trials: (8, 60),
    trial: |case, ctx| spread(ctx, case, Alignment::Fixed),
    control: Control {
        what: "general products as scores",
        trial: |ctx| {
            let (n, d) = (6, 4);
            let general = Alignment::General(ctx.normals(d * d));
            spread(ctx, &Case::new(n, d, 0.0, "maps of rows"), general)
        },
    },
    ..Claim::IDENTITY
};

fn spread(ctx: &mut Context, case: &Case, alignment: Alignment) -> Result<Finding> {
    let (n, d) = (case.n, case.d);
    let net = EncoderDecoder::normal(ctx.seed(), d, 1.0, alignment);
    let x = ctx.normals(n * d);
    let mut trace = Trace::default();
    let rows: Vec<_> = x.chunks_exact(d).map(|row| trace.input(row)).collect();
    let encoded = net.encode(&mut trace, &rows);
    let contexts = net.decode(&mut trace, &encoded, n).1;
    let first = trace.value(contexts[0]);
    let off = contexts
        .iter()
        .flat_map(|c| trace.value(*c).iter().zip(first).map(|(a, b)| (a - b).abs()))
        .fold(0.0, nan_max);
    Ok(Finding::identity(off, 1e-30))
}
