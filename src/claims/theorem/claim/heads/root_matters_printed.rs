//! "The square root of the distance cannot be dropped."

use super::nearest_by_dot::{by_dot, by_square, count_rank_exchanges, rows};
use crate::theorem::prelude::*;

/// This is false: the root is monotone, so squares rank like distances.
pub static ENTRY: Claim = Claim {
    name: "root-matters-printed",
    title: "Ranking by distance needs its square root (as printed)",
    then: "For n unit tokens, some two of the others are ranked differently by |x_1 - x_j|^2 and \
           by |x_1 - x_j|.",
    domain: Domain { n: Sizes::Range(3, 16), beta: Betas::Unused, ..Domain::SCORED },
    source: "a tutorial on attention",
    status: Status::Misprinted,
    correct: "The root is monotone: squares rank as distances do.",
    trials: (6, 40),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        Ok(Finding::nonnegative(count_rank_exchanges(&rows(&x), by_square, by_distance) - 0.5, 1.0))
    },
    control: Control {
        what: "inner products instead of squares, for the tokens 1, 1, 3 on the line",
        trial: |_| {
            Ok(Finding::nonnegative(
                count_rank_exchanges(&[vec![1.0], vec![1.0], vec![3.0]], by_dot, by_distance) - 0.5,
                1.0,
            ))
        },
    },
    ..Claim::INEQUALITY
};

fn by_distance(x: &[f64], y: &[f64]) -> f64 {
    -(-by_square(x, y)).sqrt()
}
