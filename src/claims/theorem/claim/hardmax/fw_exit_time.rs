//! Random leaders: tokens stay near their vertices for a time exponential in beta.

use super::setting::TOKENS;
use crate::theorem::prelude::*;

const EXCESSES: [f64; 2] = [0.015, 0.06];
const ERRORS: f64 = 3.0;

/// A bound by a binomial law, with the exponent of the scores of neighbouring vertices.
///
/// # Derivation
///
/// While all tokens are within `r = rho + e` of their vertices, a token of vertex `v` and one of
/// vertex `v'` have a score of at most `<v, v'> + 2 R r + r^2`, and two tokens of `v` have a score
/// of at least `|v|^2 - 2 R r - r^2`. With equally many tokens at every vertex, a token jumps
/// towards another vertex with probability at most `p`, whatever happened before. A jump towards a
/// token of the same vertex does not increase the largest distance to this vertex, and another one
/// increases it by at most `g diam`: so `M = ceil(e/(g diam))` such jumps are needed to leave. Of
/// the `n t` jumps until `t`, the number of those towards other vertices is at most a binomial
/// variable in law.
///
/// With `c_0 = min (|v|^2 - <v, v'>)` and `r` so small that `4 R r + 2 r^2 <= c_0/2`, `p` is at
/// most `n e^{-beta c_0/2}`, and the bound is at least `1 - exp(M (1 + log(n^2 t/M) - beta
/// c_0/2))`. The source has this with the exponent `beta c_0 e/(2 g)`, without the diameter; that
/// is not invariant when tokens, `e` and `1/sqrt(beta)` are scaled together.
///
/// For `M = 1` and `e` below one jump the bound is attained up to the slack of the scores, the
/// factor `e^{beta (4 R r + 2 r^2)}` in `p`.
pub static ENTRY: Claim = Claim {
    name: "fw-exit-time",
    title: "Random leaders: exit times are exponential in `beta` (bound with the diameter)",
    lets: "`x_i+ = x_i + g (x_J - x_i)`, where `J` is drawn from `softmax(beta <x_i, x_j>)`, with \
           equally many of the `n` tokens within `rho` of every vertex `v` of a polytope; let `|v| \
           <= R`, `r = rho + e`, `p = max_v sum_{v' != v} e^{-beta (|v|^2 - <v, v'> - 4 R r - 2 \
           r^2)}` and `M = ceil(e/(g diam))`",
    then: "No token is farther than `r` from its vertex up to the time `t` with probability at \
           least `P(N < M)`, where `N` is binomial with `n t` trials of probability `p`.",
    tested: "with two tokens at each corner of (+-1, +-1), `rho = {RHO}`, `g = 1/{PARTS}`, `e = \
             {FIRST}` `(M = 1)` or {SECOND} `(M = 2)`, at the `t` where the bound is about 1/2: \
             the share of {RUNS} runs, to {ERRORS} standard errors",
    numbers: &[
        ("RHO", RHO),
        ("PARTS", 1.0 / G),
        ("FIRST", EXCESSES[0]),
        ("SECOND", EXCESSES[1]),
        ("RUNS", RUNS as f64),
        ("ERRORS", ERRORS),
    ],
    domain: Domain {
        n: Sizes::Fixed(8),
        d: Sizes::Fixed(2),
        beta: Betas::Linear(2.5, 4.0),
        draws: "`e`, the tokens and the jumps",
        ..TOKENS
    },
    narrower: "a square with two tokens at each corner",
    source: "arXiv:2508.09628, Section 5 (printed without the diameter); derived",
    status: Status::Corrected,
    trials: (6, 30),
    trial: |case, ctx| stays_near(case, ctx, 1.0),
    control: Control {
        what: "jumps at `beta / 2`",
        trial: |ctx| stays_near(&Case::new(8, 2, 4.0, ""), ctx, 0.5),
    },
    ..Claim::INEQUALITY
};

/// The step g, the radius rho of the start and the number of runs.
const G: f64 = 0.02;
const RHO: f64 = 0.01;
const RUNS: usize = 1000;

fn corner(i: usize) -> [f64; 2] {
    [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]][i / 2]
}

fn stays_near(case: &Case, ctx: &mut Context, factor: f64) -> Result<Finding> {
    // The mean number of jumps at which the probability of fewer than M is about 1/2.
    let (excess, jumps) = [(EXCESSES[0], 2f64.ln()), (EXCESSES[1], 1.678)][ctx.index(2)];
    let (largest, reach) = (2f64.sqrt(), RHO + excess);
    let m = (excess / (G * 2.0 * (largest + RHO))).ceil();
    let slack = 4.0 * largest * reach + 2.0 * reach * reach;
    // Two neighbours with |v|^2 - <v, v'> = 2, the opposite corner with 4.
    let p = 2.0 * (-case.beta * (2.0 - slack)).exp() + (-case.beta * (4.0 - slack)).exp();
    let t = (jumps / (case.n as f64 * p)).round().max(1.0);
    let count = case.n as f64 * t;
    let none = (1.0 - p).powf(count);
    let bound = if m > 1.0 { none * (1.0 + count * p / (1.0 - p)) } else { none };
    let rng = ctx.method_rng();
    let stayed =
        (0..RUNS).filter(|_| simulate(case.n, factor * case.beta, t as usize, reach, rng)).count();
    let share = stayed as f64 / RUNS as f64;
    // Margins are relative to the bound.
    let error = (share * (1.0 - share) / RUNS as f64).sqrt();
    Ok(Finding::at_least(share, bound).with_sampling_error(ERRORS * error / bound))
}

/// True if no token is farther than `reach` from its corner up to the time t.
fn simulate(n: usize, beta: f64, t: usize, reach: f64, stream: &mut Stream) -> bool {
    let mut x: Vec<[f64; 2]> = (0..n)
        .map(|i| {
            let (angle, r) = (TAU * stream.uniform(), RHO * stream.uniform().sqrt());
            [corner(i)[0] + r * angle.cos(), corner(i)[1] + r * angle.sin()]
        })
        .collect();
    for _ in 0..t {
        let before = x.clone();
        for (i, x) in x.iter_mut().enumerate() {
            let scores = before.iter().map(|y| beta * dot(&before[i], y));
            let top = scores.clone().fold(f64::NEG_INFINITY, nan_max);
            let weights: Vec<f64> = scores.map(|s| (s - top).exp()).collect();
            let mut left = stream.uniform() * weights.iter().sum::<f64>();
            let j = weights.iter().position(|w| {
                left -= w;
                left < 0.0
            });
            let y = before[j.unwrap_or(i)];
            *x = [x[0] + G * (y[0] - x[0]), x[1] + G * (y[1] - x[1])];
            let is_near = (x[0] - corner(i)[0]).hypot(x[1] - corner(i)[1]) <= reach;
            if !is_near {
                return false;
            }
        }
    }
    true
}
