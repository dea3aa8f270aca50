//! Hardmax with a negative form: the Frank-Wolfe bound as printed.

use super::fw_negative::bound;
use crate::theorem::prelude::*;

/// This is false: for tokens 3 and -1, `x_2 = 1/3` for all later layers and
/// `x_1 = 1/3 + 8/(t (t+1))`, so J tends to 1/18, while the bound 32/(t+1) tends to 0.
///
/// # Derivation
///
/// Tokens 3 and -1, B = 1. Layer 0 has step 1 and exchanges them; layer 1, of step 2/3, takes -1 to
/// 5/3 and 3 to 1/3. Now 0 is outside the hull, the smaller token 1/3 is the leader of both and
/// never moves. The other has the distance 4/3 at t = 2, which layer t multiplies by 1 - 2/(t+2) =
/// t/(t+2): x_1 = 1/3 + 8/(t (t+1)).
/// So J stays above (1/3)^2/2 = 1/18, while the printed bound 2 * 16/(t+1) is below 1/18 for t >=
/// 576. For tokens 3s and -qs the limit is s (1 - 2q/3), positive for q < 3/2. The proof needs 0 in
/// the hull of every layer (`fw-negative`).
pub static ENTRY: Claim = Claim {
    name: "fw-negative-printed",
    title: "Hardmax, B < 0: the Frank-Wolfe bound if only the first hull contains the origin (as \
            printed)",
    lets: "x+ = x + 2/(t+2) (argmax_j <-B x, x_j> - x) with B > 0, and let 0 lie in the hull of \
           the start",
    then: "Then J(x^{t+1}) = <B x, x>/2 <= 2 lambda_max(B) diam^2/(t+1).",
    tested: "for t up to 1000",
    domain: Domain { n: Sizes::Fixed(2), d: Sizes::Fixed(1), laws: &["placed"], ..Domain::HARDMAX },
    narrower: "two tokens 3s and -qs on the line, 0.8 <= q <= 1.2, 1/2 <= s <= 2",
    source: "arXiv:2508.09628 v1, Theorem on B < 0",
    status: Status::Misprinted,
    trials: (4, 30),
    trial: |_, ctx| {
        let (s, q) = (ctx.log_uniform_in(0.5, 2.0), ctx.uniform_in(0.8, 1.2));
        bound(&Tokens::flat(1, vec![3.0 * s, -q * s])?, &[1.0], 1000)
    },
    control: Control {
        what: "the tokens 1 and -1",
        trial: |_| bound(&Tokens::flat(1, vec![1.0, -1.0])?, &[1.0], 1000),
    },
    ..Claim::INEQUALITY
};
