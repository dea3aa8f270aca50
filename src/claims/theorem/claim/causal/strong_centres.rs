//! Strong Renyi centres hardly move.

use crate::theorem::prelude::*;

const LEAST_BETA: f64 = 20.0;
const SPACINGS: (f64, f64) = (1.5, 4.0);
const EPSILONS: (f64, f64) = (0.005, 0.1);

/// # Derivation
///
/// Let `w = beta^{-1/2}` and `h(x) = e^{beta (cos x - 1)} sin x`, which decreases on `[1.5 w, pi]`,
/// because `h'` has the sign of `cos x - beta sin^2 x` and `beta sin^2(1.5 w) > 1` for `beta >=
/// 20`. While all tokens before `s` are farther than `c w`, token `s` moves at most at the speed
/// `sum_{j<s} A_sj sin <= s h(c w)`: because its own term makes its row sum at least 1. The tokens
/// next to the gap about `x_s` are pulled into it only by tokens across it, at distances above `c
/// w`; all others within `pi` pull them away. So they too move into the gap at most at the speed `s
/// h(c w)` (they do not see `s` itself). Let `t` be the first time at which `x_s` or a border of
/// the gap has moved by `eps c w`. Before it the distance is above `c (1 + 2 eps) w - 2 eps c w = c
/// w`, so the speeds hold, and `t s h(c w) >= eps c w`. So this does not happen at the times of the
/// statement.
pub static ENTRY: Claim = Claim {
    name: "strong-centres",
    title: "Causal attention: strong centres are quasi-stationary",
    lets: "`d = 2`, `beta >= {LEAST_BETA}`, `h(x) = e^{beta (cos x - 1)} sin x`, `c` in \
           [{LEAST_C}, {MOST_C}] and `eps` in [{LEAST_EPS}, {MOST_EPS}], and let token `s` be \
           farther than `c (1 + 2 eps) beta^{-1/2}` from all tokens before it",
    then: "Under causal SA, `|x_s(t) - x_s(0)| < eps c beta^{-1/2}` while `t s h(c beta^{-1/2}) < \
           eps c beta^{-1/2}`.",
    tested: "at the largest `t`, with `s` the last token, since tokens after it do not move it; in \
             a third of the starts all others are at the least distance on one side",
    numbers: &[
        ("LEAST_BETA", LEAST_BETA),
        ("LEAST_C", SPACINGS.0),
        ("MOST_C", SPACINGS.1),
        ("LEAST_EPS", EPSILONS.0),
        ("MOST_EPS", EPSILONS.1),
    ],
    domain: Domain {
        n: Sizes::Range(2, 100),
        d: Sizes::Fixed(2),
        beta: Betas::Log(LEAST_BETA, 1000.0),
        dynamics: &["causal-sa"],
        laws: &[],
        draws: "the other tokens on both sides of `x_s`, spread or crowded at the least distance, \
                or on one side at the least distance",
        corners: &[(30, 2, 20.0), (30, 2, 400.0)],
        ..Domain::EQUAL_MASSES
    },
    narrower: "`Q = K = V = I`; `c <= {MOST_C}`, for which the time is at most `300/s`",
    source: "Karagodin, Polyanskiy, Rigollet, arXiv:2411.04990, Lemma 5.1",
    trials: (100, 800),
    trial: |case, ctx| {
        let (c, eps) =
            (ctx.uniform_in(SPACINGS.0, SPACINGS.1), ctx.log_uniform_in(EPSILONS.0, EPSILONS.1));
        let least = c * (1.0 + 2.0 * eps) * (1.0 + 1e-9) / case.beta.sqrt();
        let before: Vec<f64> = match ctx.index(3) {
            0 => around(case, ctx, least, 1),
            1 => around(case, ctx, least, 16),
            _ => vec![least; case.n - 1],
        };
        displacement(case, ctx, (c, eps), before)
    },
    control: Control {
        what: "the others at half the least distance",
        trial: |ctx| {
            let case = Case::new(10, 2, 100.0, "causal-sa");
            let before = around(&case, ctx, 0.5 * 4.0 * 1.2 / 10.0, 16);
            displacement(&case, ctx, (4.0, 0.1), before)
        },
    },
    ..Claim::INEQUALITY
};

/// Angles at least this far from 0, two thirds of them positive; a large power crowds them at the
/// least distance.
fn around(case: &Case, ctx: &mut Context, least: f64, power: i32) -> Vec<f64> {
    let mut angle = || {
        let u = ctx.uniform_in(-0.5, 1.0);
        (least + (PI - least) * u.abs().powi(power)).copysign(u)
    };
    (1..case.n).map(|_| angle()).collect()
}

/// The distance that a token at 0 has moved at the largest time, against the bound.
fn displacement(
    case: &Case,
    ctx: &mut Context,
    (c, eps): (f64, f64),
    before: Vec<f64>,
) -> Result<Finding> {
    let (n, beta, width) = (case.n, case.beta, case.beta.sqrt().recip());
    let x = Tokens::from_angles(&[before, vec![0.0]].concat())?;
    let bound = eps * c * width;
    let pull = (beta * ((c * width).cos() - 1.0)).exp() * (c * width).sin();
    let flow = dynamics::build("sa", true, &Spec::new(beta, n))?;
    let end = ctx.flow_to(&flow, &x, bound / (n as f64 * pull))?;
    Ok(Finding::at_most(dist(end.row(n - 1), x.row(n - 1)), bound))
}
