//! Tokens on the line: the attention matrix becomes Boolean, and how fast.

use super::setting::{UNIT, attention, evolve};
use crate::theorem::prelude::*;

const EARLY: f64 = 12.0;
const LATE: f64 = 14.0;
const ROW_ERROR: f64 = 1e-6;
const SLOPE_ERROR: f64 = 1e-3;
const VALUES: (f64, f64) = (0.5, 1.0);

/// The extreme tokens become the leaders of all others, and rows become one-hot doubly
/// exponentially in time.
///
/// # Derivation
///
/// The first part is the theorem. On the line with `V = v` the extreme tokens grow like `e^{vt}`,
/// one on each side of 0. For `x_i > 0` the largest score `beta x_i x_j` is that of the largest
/// token; so every row but that of a token that stays bounded tends to the row of an extreme token.
///
/// The rate is derived. Once a token follows the largest one, both have the velocity `v x_1` up to
/// weights that are exponentially small in the gap of logits, so their difference in `x` tends to a
/// constant. The gap of logits is `beta x_i` times this constant, and grows like `e^{vt}`. The
/// square `e^{2vt}` would need a difference that grows with the tokens: it is the rate of a token
/// that is alone on its side.
pub static ENTRY: Claim = Claim {
    name: "rd-boolean",
    title: "`R^1`: all rows but one tend to rows of the identity, with logit gaps like `e^{vt}`",
    lets: "`d = 1`, `V = v > 0` and scores `beta x_i x_j`, `beta > 0`, with distinct tokens",
    then: "The softmax matrix tends to a matrix in which all rows but at most one are `e_a` or \
           `e_b`, where a and `b` are the indices of the smallest and of the largest token. On a \
           side of 0 with at least two tokens, the gap between the two largest logits grows like \
           `e^{vt}`, not `e^{2vt}`.",
    tested: "at `t = {LATE}/v`: all rows but at most one are within {ROW_ERROR} of `e_a` or `e_b`; \
             on the side of the majority, the slope of the logarithm of the gap in the row of the \
             extreme token is `v` over `t` in `[{EARLY}, {LATE}]/v`, to `{SLOPE_ERROR} v`",
    numbers: &[
        ("EARLY", EARLY),
        ("LATE", LATE),
        ("ROW_ERROR", ROW_ERROR),
        ("SLOPE_ERROR", SLOPE_ERROR),
        ("PARTS", 1.0 / VALUES.0),
        ("MOST", VALUES.1),
    ],
    domain: Domain {
        n: Sizes::Range(6, 16),
        d: Sizes::Fixed(1),
        beta: Betas::Log(0.5, 2.0),
        ..UNIT
    },
    narrower: "`1/{PARTS} <= v <= {MOST}`",
    source: "arXiv:2305.05465, theorem on d = 1 (label t:boolean of v6, as quoted in a formal \
             statement); the rate derived",
    trials: (6, 40),
    trial: |case, ctx| boolean(case, ctx, 1.0),
    constant: "the slope",
    control: Control {
        what: "the slope `2v`",
        trial: |ctx| boolean(&Case::new(8, 1, 1.0, "sa"), ctx, 2.0),
    },
    ..Claim::LAW
};

fn boolean(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let v = ctx.uniform_in(VALUES.0, VALUES.1);
    let x = Tokens::flat(1, ctx.normals(case.n))?;
    let dynamics = attention(case.beta, case.n, 1, None, Some((1, vec![v])), true)?;
    let (early, late) = (EARLY / v, LATE / v);
    // The equation of z depends on time, so it is integrated from 0 for both times.
    let before = evolve(ctx, &dynamics, &x, early, 1e-2)?;
    let after = evolve(ctx, &dynamics, &x, late, 1e-2)?;
    let positive = before.numbers().iter().filter(|z| **z > 0.0).count();
    let side = if 2 * positive >= case.n { 1.0 } else { -1.0 };
    let log_gap = |z: &Tokens, t: f64| {
        let mut all: Vec<f64> = z.numbers().iter().map(|z| side * z).collect();
        all.sort_by(|a, b| b.total_cmp(a));
        (all[0] * (all[0] - all[1])).ln() + 2.0 * v * t
    };
    let measured = (log_gap(&after, late) - log_gap(&before, early)) / (late - early);
    let stated = ctx.claimed_constant(factor * v);
    let exceptions = undecided_rows(after.numbers(), case.beta * (2.0 * v * late).exp());
    Ok(Finding::law(measured, stated, SLOPE_ERROR * v, 0.0).and(Finding::answer(exceptions <= 1)))
}

/// The number of rows with less than `1 - 1e-6` on one of the extreme tokens, for the scores
/// `scale z_i z_j`.
fn undecided_rows(z: &[f64], scale: f64) -> usize {
    let extreme = |y: &f64| -> f64 {
        // The largest score of the row; differences of tokens are taken first.
        let top = z.iter().map(|w| y * w).fold(f64::NEG_INFINITY, nan_max);
        let leader = z.iter().copied().find(|w| y * w >= top).unwrap_or(*y);
        let total: f64 = z.iter().map(|w| (scale * y * (w - leader)).exp()).sum();
        1.0 / total
    };
    z.len() - z.iter().filter(|y| extreme(y) >= 1.0 - ROW_ERROR).count()
}
