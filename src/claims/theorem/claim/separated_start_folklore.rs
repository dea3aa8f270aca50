//! Uniform tokens in high dimension are separated, however many: what is said without a condition on n.

use super::separated_start;
use crate::theorem::prelude::*;

/// False from n near `16 log d` on: the frame is about `sqrt((n-1)/(4d))` away, which exceeds `sqrt(4 log d / d)`. At n = 200, d = 3000
/// it is 1.4 times as far as said, although the condition on eps and beta is met.
///
/// # Derivation
///
/// The frame is about `sqrt((n-1)/(4d))` away from the tokens (`separated-start`), and `sqrt(eps)` is `sqrt(4 log d/d)`: from n near `16
/// log d` on the first exceeds the second. At n = 200, d = 3000 it is 1.4 times as far as said, although the condition on eps and beta is
/// met.
pub static ENTRY: Claim = Claim {
    name: "separated-start-folklore",
    title: "High dimension: uniform tokens are (beta, eps)-separated, with no condition on n",
    statement: "n uniform tokens, eps = 4 log d / d: the nearest orthonormal frame (polar factor) is within sqrt(eps) of them, every token lies in the cap <x, q_i> >= 1 - eps of its own frame vector, and \
                gamma = 1 - alpha - 8 eps - log(2 n^2/eps)/beta > 0.",
    domain: Domain {
        n: Sizes::Range(2, 200),
        d: Sizes::Range(1000, 3000),
        beta: Betas::Log(30.0, 1e5),
        dynamics: &["sa"],
        also: Some(Also { text: "4 sqrt(eps) + 12 eps + log(n^2 d / (2 log d))/beta < 1", holds: separated_start::spread }),
        ..Domain::EQUAL_MASSES
    },
    citation: "the reading of arXiv:2410.06833, section 4, without its probability; corrected in `separated-start`",
    status: Status::Folklore,
    kind: Kind::Every(0.05),
    trials: (24, 80),
    trial: separated_start::separation,
    control: Control { what: "six tokens at d = 3000", trial: |ctx| separated_start::separation(&Case::new(6, 3000, 60.0, "sa"), ctx) },
    ..Claim::EVERY
};
