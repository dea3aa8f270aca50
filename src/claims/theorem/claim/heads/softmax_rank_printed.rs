//! "softmax(Q K^T / sqrt d) is a square matrix of rank at most d."

use super::logit_rank::matrices;
use super::shared_value_rank::singular_ratio;
use crate::theorem::prelude::*;

/// This is false: the scores have rank at most d, but their exponentials have full rank.
pub static ENTRY: Claim = Claim {
    name: "softmax-rank-printed",
    title: "Softmax of scores of rank d_head has rank at most d_head (as printed)",
    lets: "n rows of R^d be normal, d <= 4 < n",
    then: "The matrix of weights softmax_j(<Q x_i, K x_j>) has rank at most d.",
    tested: "as: the singular value number d + 1 is at most 1e-7 of the first",
    domain: Domain { n: Sizes::Range(6, 12), d: Sizes::Range(1, 4), ..Domain::MAPS },
    source: "a survey of sequence models",
    status: Status::Misprinted,
    trials: (6, 40),
    trial: |case, ctx| {
        let m = matrices(ctx, case);
        Ok(Finding::at_most(singular_ratio(&m.1, case.n, case.d), 1e-7))
    },
    control: Control {
        what: "the scores",
        trial: |ctx| {
            let m = matrices(ctx, &Case::new(8, 3, 0.0, "maps of rows"));
            Ok(Finding::at_most(singular_ratio(&m.0, 8, 3), 1e-7))
        },
    },
    ..Claim::INEQUALITY
};
