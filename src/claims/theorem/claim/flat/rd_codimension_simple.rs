//! Tokens in R^d: the conjecture on codimension, refuted as printed, and for simple eigenvalues.

use super::setting::{UNIT, attention, evolve, spread_of_four};
use crate::theorem::prelude::*;

const TIME: f64 = 40.0;
const NEAR: f64 = 0.1;
const DIFFERENCES: (f64, f64) = (0.1, 0.5);
const CONTROL_TIME: f64 = 4.0;
const CONTROL_DIFFERENCE: f64 = 0.1;
const PRINTED_TIME: f64 = 8.0;
const SIDES: (f64, f64) = (0.7, 2.0);

/// With simple eigenvalues the coordinate along the first eigenvector dominates in the end, and all
/// tokens with the same sign of it follow one leader.
///
/// # Derivation
///
/// The conjecture as printed is false for open sets of starts. `V = I_2` has two eigenvalues of
/// positive real part, and affine subspaces of codimension 2 of `R^2` are points. Let the rescaled
/// tokens be a rectangle `(s u, s' v)`, `s`, `s' = +-1`. The weights `exp(e^{2t} (u^2 s r + v^2 s'
/// r'))` are a product, the mean of `r` under them is `s tanh(u^2 e^{2t})`, and so `u' = -u (1 -
/// tanh(u^2 e^{2t}))`, `v' = -v (1 - tanh(v^2 e^{2t}))`: the tokens stay a rectangle, and each side
/// has the equation and the positive limit of `rd-hypercube`. Four limits, not three.
///
/// With simple eigenvalues the rectangle is still an exception: for `V = diag(1, 1 - s)` the
/// weights are a product as well, `x_1' = x_1 tanh(x_1^2)`, `x_2' = (1 - s) x_2 tanh(x_2^2)`, and
/// both rescaled coordinates have positive limits. But now it is unstable, so that the repaired
/// conjecture can hold for almost every start only. Near it, or near `V = I`, it takes long: tokens
/// `(1, 1)` and `(1 - a, -1)` of `V = diag(1, 1 - s)` attend to themselves until `a e^{2 s t} = 2`.
/// So at a fixed time the limits look like those of `V = I`, one for each corner of the hull.
pub static ENTRY: Claim = Claim {
    name: "rd-codimension-simple",
    title: "`R^2`: at most three limits if the eigenvalues of `V` are simple (conjecture, \
            repaired)",
    lets: "`V` have `k` simple positive eigenvalues and no other eigenvalue of positive real part",
    then: "For almost every start the rescaled tokens tend to at most three parallel affine \
           subspaces of codimension `k`.",
    tested: "with `V = diag(1, 1 - s)`, `k = 2`, at `t = {TIME}/s`: among any four tokens two are \
             within {NEAR} of each other",
    numbers: &[
        ("TIME", TIME),
        ("NEAR", NEAR),
        ("LEAST_S", DIFFERENCES.0),
        ("MOST_S", DIFFERENCES.1),
        ("CONTROL_TIME", CONTROL_TIME),
        ("CONTROL_S", CONTROL_DIFFERENCE),
    ],
    domain: Domain { n: Sizes::Range(4, 10), d: Sizes::Fixed(2), ..UNIT },
    narrower: "`d = 2`, `Q = K = I`, `s` in [{LEAST_S}, {MOST_S}]",
    source: "arXiv:2305.05465, conjecture on codimension (c:codim of v6, as quoted in a formal \
             statement), with simple positive eigenvalues and almost every start added",
    status: Status::Open,
    trials: (4, 100),
    trial: |case, ctx| {
        let (s, x) = (ctx.uniform_in(DIFFERENCES.0, DIFFERENCES.1), ctx.normals(2 * case.n));
        three_limits(ctx, x, &[1.0, 1.0 - s], TIME / s)
    },
    no_constant: "the number of limits is exact",
    control: Control {
        what: "the time {CONTROL_TIME} instead of `{TIME}/s` for `s = {CONTROL_S}`: tokens near \
               the corners of a square are still near four points",
        trial: |ctx| {
            let corners = vec![1.0, 1.0, -1.1, 1.05, -0.95, -1.0, 1.05, -1.1];
            three_limits(ctx, corners, &[1.0, 1.0 - CONTROL_DIFFERENCE], CONTROL_TIME)
        },
    },
    variants: &[&PRINTED],
    ..Claim::INEQUALITY
};

static PRINTED: Claim = Claim {
    name: "rd-codimension-printed",
    title: "`R^d`: at most three limits of codimension `k`, for any `V` (conjecture, refuted)",
    lets: "`V` have `k` eigenvalues of positive real part",
    then: "The rescaled tokens tend to at most three parallel affine subspaces of codimension `k`.",
    tested: "with `V = I_2`, `k = d = 2`, at `t = {TIME}`: among any four tokens two are within \
             {NEAR} of each other",
    numbers: &[("TIME", PRINTED_TIME), ("NEAR", NEAR), ("SHORTEST", SIDES.0), ("LONGEST", SIDES.1)],
    domain: Domain {
        n: Sizes::Fixed(4),
        d: Sizes::Fixed(2),
        draws: "the corners `(+-a, +-b)` of a rectangle, `{SHORTEST} <= a`, `b <= {LONGEST}`",
        ..UNIT
    },
    narrower: "one `V`, `Q = K = I`",
    source: "arXiv:2305.05465, conjecture on codimension (c:codim of v6, as quoted in a formal \
             statement), which the paper does not claim to prove",
    status: Status::RefutedConjecture,
    correct: "The four corners of a rectangle have four limits. For almost every start and simple \
              eigenvalues of `V` the conjecture is open.",
    trials: (4, 20),
    trial: |_, ctx| {
        let (a, b) = (ctx.uniform_in(SIDES.0, SIDES.1), ctx.uniform_in(SIDES.0, SIDES.1));
        three_limits(ctx, vec![a, b, -a, b, -a, -b, a, -b], &[1.0, 1.0], PRINTED_TIME)
    },
    no_constant: "the number of limits is exact",
    control: Control {
        what: "the square (+-1, +-1) with `V = diag(1, -1/2)`: `k = 1`, and limits are lines",
        trial: |ctx| {
            let square = vec![1.0, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0];
            three_limits(ctx, square, &[1.0, -0.5], PRINTED_TIME)
        },
    },
    ..Claim::INEQUALITY
};

/// Tokens of the plane under V = diag(values) have at most three limits, in the coordinates in
/// which V is positive.
fn three_limits(ctx: &mut Context, x: Vec<f64>, values: &[f64; 2], t: f64) -> Result<Finding> {
    let growing: Vec<usize> = (0..2).filter(|c| values[*c] > 0.0).collect();
    let v = vec![values[0], 0.0, 0.0, values[1]];
    let dynamics = attention(1.0, x.len() / 2, 2, None, Some((2, v)), true)?;
    // Limits are distinguished at NEAR, so a thousand times the usual tolerance suffices. At the
    // usual tolerance some runs find no small enough step.
    let end = evolve(ctx, &dynamics, &Tokens::flat(2, x)?, t, 1e3)?;
    Ok(Finding::at_most(spread_of_four(&end, &growing), NEAR))
}
