//! Tokens in R^d, solved exactly: two opposite tokens, and the corners of a box.

use super::setting::{UNIT, attention, evolve};
use crate::theorem::prelude::*;
use crate::theory::boolean::{limit, log_limit};

/// The least coordinate, or the gap, at the end, before rescaling.
const FAR: f64 = 60.0;
const TOLERANCE: f64 = 1e-9;
const EPSILONS: (f64, f64) = (0.5, 2.0);
const CONTROL_EPS: f64 = 0.2;

/// The softmax of the scores of `(+-eps_1, ..., +-eps_d)` is a product over coordinates, so every
/// coordinate moves like two tokens on the line. There `u = beta x^2` obeys `u' = 2 u tanh u`.
///
/// # Derivation
///
/// For the vertices of a box the scores are sums over coordinates, so softmax is a product, and
/// every coordinate moves like that of two tokens `+-x` on the line: `x' = x tanh(beta x^2)`. With
/// `z = e^{-t} x` and `u = beta x^2`: `u' = 2 u tanh u` and `(log z)' = tanh u - 1`. So
/// `log(F/eps)` is minus the integral of `(1 - tanh u)/(2 u tanh u) = 1/(u (e^{2u} - 1))` from
/// `eps^2` on (`beta = 1`; the rest is scaling). It converges, so the limits are different points
/// for every `eps`.
///
/// The tokens `(1, +-eps)` of `R^2` have equal first coordinates, which stay constant after
/// rescaling, and second coordinates that move like `+-eps` on the line. So their limits are `(1,
/// +-F(eps))`. Near 0 the integrand is `1/(2 s^2) - 1/(2 s) + O(1)`, so the gap `2 F(eps)` is about
/// `2.7 e^{-1/(2 eps^2)}`: small, but not 0. The attention matrix tends to the identity because
/// there are two limits; with a common limit it would tend to `1/n`.
pub static ENTRY: Claim = Claim {
    name: "rd-hypercube",
    title: "`R^d`, `V = I`: the `2^d` corners of a box tend to corners of a box, in closed form",
    lets: "the `2^d` tokens be `(+-eps_1, ..., +-eps_d)`, `V = I`, and scores `beta <x_i, x_j>`",
    then: "The rescaled tokens `z = e^{-t} x` tend to `(+-F_1, ..., +-F_d)` with `F_k = \
           beta^{-1/2} F(beta^{1/2} eps_k)` and `F(eps) = eps exp(-int_{eps^2}^inf du / (u (e^{2u} \
           - 1)))`.",
    tested: "at `t = log({FAR} / min beta^{1/2} F_k)`, to `{TOLERANCE} beta^{-1/2}`",
    numbers: &[
        ("FAR", FAR),
        ("TOLERANCE", TOLERANCE),
        ("LEAST_EPS", EPSILONS.0),
        ("MOST_EPS", EPSILONS.1),
    ],
    domain: Domain {
        n: Sizes::List(&[2, 4, 8, 16]),
        d: Sizes::Range(1, 4),
        beta: Betas::Log(0.25, 4.0),
        draws: "`eps_k` in `[{LEAST_EPS}, {MOST_EPS}] beta^{-1/2}`",
        condition: Some(Condition { text: "`n = 2^d`", holds: |c| c.n == 1 << c.d }),
        ..UNIT
    },
    source: "derived; arXiv:2305.05465, remark on d >= 2 (v6, as quoted in a formal statement), \
             has d = 2 with one eps",
    trials: (6, 40),
    trial: |case, ctx| corners(case, ctx, 1.0),
    constant: "the limits",
    control: Control {
        what: "the limits for `eps_k` increased by a millionth",
        trial: |ctx| corners(&Case::new(4, 2, 1.0, "sa"), ctx, 1.0 + 1e-6),
    },
    variants: &[&PRINTED],
    ..Claim::IDENTITY
};

static PRINTED: Claim = Claim {
    name: "rd-remark-printed",
    title: "`R^2`: the tokens `(1, eps)` and `(1, -eps)` have a common limit (a remark, read with \
            `z = e^{-t} x` and `Q = K = V = I`)",
    lets: "two tokens start at `(1, eps)` and `(1, -eps)` in `R^2`, with `Q = K = V = I`",
    then: "The limit of `z = e^{-t} x` is (1, 0) for both.",
    tested: "at the time at which their gap in `x` is {FAR}: it has fallen below a thousandth of \
             its start after rescaling",
    numbers: &[
        ("FAR", FAR),
        ("LEAST_EPS", EPSILONS.0),
        ("MOST_EPS", EPSILONS.1),
        ("CONTROL_EPS", CONTROL_EPS),
    ],
    domain: Domain {
        n: Sizes::Fixed(2),
        d: Sizes::Fixed(2),
        draws: "`eps` in [{LEAST_EPS}, {MOST_EPS}]",
        ..UNIT
    },
    source: "arXiv:2305.05465, remark on d >= 2 (v6, as quoted in a formal statement). It prints \
             \"x_i(t) -> (1,0)\" without Q, K, V and without a rescaling: this reading is ours",
    status: Status::Misprinted,
    correct: "The limits are `(1, F(eps))` and `(1, -F(eps))`, with the `F` of the corners of a \
              box: a gap that is small for small `eps`, but not 0.",
    trials: (4, 20),
    trial: |_, ctx| {
        let eps = ctx.uniform_in(EPSILONS.0, EPSILONS.1);
        gap(ctx, eps)
    },
    control: Control {
        what: "`eps = {CONTROL_EPS}`, where the limit of the distance is below this level",
        trial: |ctx| gap(ctx, CONTROL_EPS),
    },
    ..Claim::INEQUALITY
};

fn corners(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    let (n, d, root) = (case.n, case.d, case.beta.sqrt());
    let eps: Vec<f64> = (0..d).map(|_| ctx.uniform_in(EPSILONS.0, EPSILONS.1) / root).collect();
    let sign = |i: usize, c: usize| if i >> c & 1 == 0 { 1.0 } else { -1.0 };
    let x = Tokens::flat(d, (0..n * d).map(|k| sign(k / d, k % d) * eps[k % d]).collect())?;
    let limits = eps.iter().map(|e| limit(factor * e, case.beta)).collect::<Result<Vec<_>>>()?;
    // 1 - tanh(60^2) is 0 in double precision.
    let least = limits.iter().map(|l| root * l).fold(f64::INFINITY, nan_min);
    let end =
        evolve(ctx, &attention(case.beta, n, d, None, None, true)?, &x, (FAR / least).ln(), 1e-2)?;
    let limits: Vec<f64> = limits.iter().map(|l| ctx.claimed_constant(*l)).collect();
    let off = (0..n * d)
        .map(|k| (end.numbers()[k] - sign(k / d, k % d) * limits[k % d]).abs())
        .fold(0.0, nan_max);
    Ok(Finding::identity(off, TOLERANCE / root))
}

/// The distance of the tokens (1, +-eps) at the end, against a thousandth of 2 eps.
fn gap(ctx: &mut Context, eps: f64) -> Result<Finding> {
    let x = Tokens::flat(2, vec![1.0, eps, 1.0, -eps])?;
    // The gap in z has reached its limit once the gap in x is as large.
    let t = FAR.ln() - log_limit(eps)?;
    let end = evolve(ctx, &attention(1.0, 2, 2, None, None, true)?, &x, t, 1.0)?;
    let distance = (0..2).map(|c| (end.row(0)[c] - end.row(1)[c]).abs()).fold(0.0, nan_max);
    Ok(Finding::at_most(distance, 2e-3 * eps))
}
