//! Tokens in R^d: "one cluster, yet the attention matrix becomes the identity".

use super::rd_rescaling::{attention, evolve};
use crate::theorem::prelude::*;
use crate::theory::boolean::log_limit;

/// This is false: the gap tends to `2 F(eps)`, about `2.7 e^{-1/(2 eps^2)}`, which is small but not
/// 0. With a common limit the attention matrix P would tend to 1/n.
///
/// # Derivation
///
/// By symmetry z = (1, +-y); the first coordinates agree, so they are constant. The other token has
/// the weight 1/(1 + e^{2 w^2}) with w = y e^t, so y' = -2 y/(1 + e^{2 w^2}) and w' = w tanh(w^2).
/// With s = w^2 as time `log y(inf) = log eps - int_{eps^2}^inf ds/(s (e^{2s} - 1))`,
/// a finite integral: y(inf) > 0. Near 0 the integrand is 1/(2 s^2) - 1/(2 s) + O(1), so the gap 2
/// y(inf) is a constant times e^{-1/(2 eps^2)} for small eps: tiny, but not 0.
/// As w grows without bound the weight of the other token tends to 0: the attention matrix tends to
/// the identity because the limits are two.
pub static ENTRY: Claim = Claim {
    name: "rd-remark-printed",
    title: "R^2: the tokens (1, eps) and (1, -eps) have a common rescaled limit (as printed)",
    then: "The rescaled tokens that start at (1, eps) and (1, -eps) in R^2, with Q = K = V = I, \
           have the common limit (1, 0).",
    tested: "as: their distance falls below a thousandth of 2 eps",
    domain: Domain {
        n: Sizes::Fixed(2),
        d: Sizes::Fixed(2),
        beta: Betas::List(&[1.0]),
        masses: Masses::Equal,
        ..Domain::FLAT
    },
    narrower: "0.5 <= eps <= 2",
    source: "arXiv:2305.05465, remark on d >= 2 after Theorem 3.1",
    status: Status::Misprinted,
    correct: "The two limits differ by a small gap that is not 0.",
    trials: (4, 20),
    trial: |_, ctx| {
        let eps = ctx.uniform_in(0.5, 2.0);
        gap(ctx, eps)
    },
    control: Control {
        what: "eps = 0.2, where the limit of the distance is below this level",
        trial: |ctx| gap(ctx, 0.2),
    },
    ..Claim::INEQUALITY
};

fn gap(ctx: &mut Context, eps: f64) -> Result<Finding> {
    let x = Tokens::flat(2, vec![1.0, eps, 1.0, -eps])?;
    // The gap in z has reached its limit once the gap in x is 60.
    let t = 60f64.ln() - log_limit(eps)?;
    let end = evolve(ctx, &attention(1.0, 2, 2, None, None, true)?, &x, t, 1.0)?;
    let distance = (0..2).map(|c| (end.row(0)[c] - end.row(1)[c]).abs()).fold(0.0, nan_max);
    Ok(Finding::at_most(distance, 2e-3 * eps))
}
