//! "With Q = K = 0 attention is a feed-forward network, Z = V X."

use super::zero_query_is_mean::attended;
use crate::theorem::prelude::*;

/// This is false: every output is V times the mean of the tokens.
pub static ENTRY: Claim = Claim {
    name: "zero-query-is-ffn-printed",
    title: "Q = K = 0 turns attention into Z = V X, token by token (as printed)",
    lets: "n rows and V be normal and all scores 0",
    then: "Output i is V x_i.",
    tested: "to 1e-12",
    domain: Domain { n: Sizes::Range(2, 6), ..Domain::MAPS },
    source: "a survey of sequence models",
    status: Status::Misprinted,
    trials: (6, 40),
    trial: |case, ctx| tokenwise(ctx, case),
    control: Control {
        what: "a single token",
        trial: |ctx| tokenwise(ctx, &Case::new(1, 3, 0.0, "maps of rows")),
    },
    ..Claim::IDENTITY
};

fn tokenwise(ctx: &mut Context, case: &Case) -> Result<Finding> {
    let (x, v, out) = attended(ctx, case, 0.0);
    let d = case.d;
    let off = out
        .iter()
        .enumerate()
        .map(|(k, o)| (o - dot(&v[k % d * d..][..d], &x[k / d * d..][..d])).abs());
    Ok(Finding::identity(off.fold(0.0, nan_max), 1e-12))
}
