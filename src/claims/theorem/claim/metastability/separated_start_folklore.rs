//! Folklore: uniform tokens in high dimension are separated, whatever their number.

use super::separated_start;
use crate::theorem::prelude::*;

/// This is false for n above about `16 log d`: the distance to the frame is about
/// `sqrt((n-1)/(4d))`, which exceeds `sqrt(4 log d / d)`. At n = 200, d = 3000 it is 1.4 times the
/// claimed distance, although the condition on eps and beta is met.
///
/// # Derivation
///
/// The distance of the frame from the tokens is about `sqrt((n-1)/(4d))` (`separated-start`), and
/// `sqrt(eps)` is `sqrt(4 log d/d)`. The first exceeds the second for n above about `16 log d`.
pub static ENTRY: Claim = Claim {
    name: "separated-start-folklore",
    title: "High dimension: uniform tokens are (beta, eps)-separated, without a condition on n",
    lets: "n uniform tokens be given and eps = 4 log d / d",
    then: "The nearest orthonormal frame (q_i), the polar factor, is within sqrt(eps) of the \
           tokens, every token lies in the cap <x, q_i> >= 1 - eps of its own frame vector, and \
           gamma = 1 - alpha - 8 eps - log(2 n^2/eps)/beta > 0.",
    domain: Domain {
        n: Sizes::Range(2, 200),
        d: Sizes::Range(1000, 3000),
        beta: Betas::Log(30.0, 1e5),
        dynamics: &["sa"],
        condition: Some(Condition {
            text: "4 sqrt(eps) + 12 eps + log(n^2 d / (2 log d))/beta < 1",
            holds: separated_start::spread,
        }),
        ..Domain::EQUAL_MASSES
    },
    source: "the reading of arXiv:2410.06833, section 4, without its probability; corrected in \
               `separated-start`",
    status: Status::Folklore,
    kind: Kind::Every(0.05),
    trials: (24, 80),
    trial: separated_start::separation,
    control: Control {
        what: "six tokens at d = 3000",
        trial: |ctx| separated_start::separation(&Case::new(6, 3000, 60.0, "sa"), ctx),
    },
    ..Claim::EVERY
};
