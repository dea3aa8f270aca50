//! Tokens on the line: the rate at which rows of attention become one-hot.

use super::rd_rescaling::{attention, evolve};
use crate::theorem::prelude::*;

/// Once attached, tokens keep a constant gap in x to the leader: the gap of logits is `beta |x_i|`
/// times a constant, and x grows as `e^{vt}`.
///
/// # Derivation
///
/// On the line with V = v an extreme token attends mostly to itself and grows like `e^{vt}`. A
/// token attached to it has the velocity `v x_1`, too, up to weights of others that are
/// exponentially small in the gap of logits: the gap in x tends to a constant. So the gap of logits
/// in its row, `beta |x_1|` times that constant, grows as `e^{vt}`. The square `e^{2vt}` would need
/// gaps that grow with the tokens.
pub static ENTRY: Claim = Claim {
    name: "rd-boolean-rate",
    title: "R^1: logit gaps grow like e^{vt}",
    lets: "d = 1, V = v and scores beta x_i x_j, from normal tokens",
    then: "In the row of an extreme token (on the side of the sum of all tokens), the gap between \
           the largest and the next logit grows like e^{vt}, not e^{2vt}.",
    tested: "as: the slope of its logarithm over t in [12, 14]/v is v, to 2e-3 v",
    domain: Domain {
        n: Sizes::Range(6, 16),
        d: Sizes::Fixed(1),
        beta: Betas::Log(0.5, 2.0),
        masses: Masses::Equal,
        ..Domain::FLAT
    },
    narrower: "1/2 <= v <= 1; the next token attached by then (the order is derived, the tolerance \
               observed)",
    source: "derived; sharpens arXiv:2305.05465, Theorem 3.1 (the matrix becomes Boolean)",
    trials: (6, 40),
    trial: |case, ctx| slope(case, ctx, 1.0),
    constant: "the slope",
    control: Control {
        what: "the slope 2v",
        trial: |ctx| slope(&Case::new(8, 1, 1.0, "sa"), ctx, 2.0),
    },
    ..Claim::LAW
};

fn slope(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let v = ctx.uniform_in(0.5, 1.0);
    let x = Tokens::flat(1, ctx.normals(case.n))?;
    let dynamics = attention(case.beta, case.n, 1, None, Some((1, vec![v])), true)?;
    let gap = |z: &Tokens, t: f64| {
        let mut all = z.numbers().to_vec();
        // The extreme token on the side of the sum of all tokens.
        let side = if all.iter().sum::<f64>() >= 0.0 { 1.0 } else { -1.0 };
        scale(side, &mut all);
        all.sort_by(f64::total_cmp);
        let [.., next, top] = all[..] else { return f64::NAN };
        if next > 0.5 * top { (top * (top - next)).ln() + 2.0 * v * t } else { f64::NAN }
    };
    let (early, late) = (12.0 / v, 14.0 / v);
    let first = evolve(ctx, &dynamics, &x, early, 1e-2)?;
    let before = gap(&first, early);
    // The equation of z depends on time, so it is integrated from 0 again.
    let after = gap(&evolve(ctx, &dynamics, &x, late, 1e-2)?, late);
    if before.is_nan() || after.is_nan() {
        return Ok(Finding::HypothesesMissed);
    }
    let measured = (after - before) / (late - early);
    let stated = ctx.claimed_constant(factor * v);
    Ok(Finding::law(measured, stated, 2e-3 * v, 0.0))
}
