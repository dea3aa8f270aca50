//! Strong Renyi centres hardly move.

use crate::theorem::prelude::*;

/// arXiv:2411.04990, Lemma 5.1, at the largest time that it allows. Tokens after a centre do not
/// move it, so the centre is taken as the last token.
///
/// # Derivation
///
/// Let w = beta^{-1/2} and h(x) = e^{beta (cos x - 1)} sin x, which decreases on `[1.5 w, pi]`,
/// because h' has the sign of cos x - beta sin^2 x and beta sin^2(1.5 w) > 1 for beta >= 20. While
/// all tokens before s are farther than c w, token s moves at most at the speed
/// `sum_{j<s} A_sj sin <= s h(c w)`: because its own term makes its row sum at least 1.
/// The tokens next to the gap about x_s are pulled into it only by tokens across it, at distances
/// above c w; all others within pi pull them away. So they too move into the gap at most at the
/// speed s h(c w) (they do not see s itself).
/// Let t be the first time at which x_s or a border of the gap has moved by eps c w. Before it the
/// distance is above c (1 + 2 eps) w - 2 eps c w = c w, so the speeds hold, and t s h(c w) >= eps c
/// w. So this does not happen at the times of the statement.
pub static ENTRY: Claim = Claim {
    name: "strong-centres",
    title: "Causal attention: strong centres are quasi-stationary",
    lets: "d = 2 and h(x) = e^{beta (cos x - 1)} sin x",
    then: "Under causal SA, let token s be farther than c (1 + 2 eps) beta^{-1/2} from all tokens \
           before it, with c in [1.5, 4] and eps in [0.005, 0.1]. While t s h(c beta^{-1/2}) < \
           eps c beta^{-1/2}, |x_s(t) - x_s(0)| < eps c beta^{-1/2}.",
    domain: Domain {
        n: Sizes::Range(2, 100),
        d: Sizes::Fixed(2),
        beta: Betas::Log(20.0, 1000.0),
        dynamics: &["causal-sa"],
        laws: &["placed"],
        corners: &[(30, 2, 20.0), (30, 2, 400.0)],
        ..Domain::EQUAL_MASSES
    },
    narrower: "Q = K = V = I; c <= 4, for which the time is at most 300/s",
    source: "Karagodin, Polyanskiy, Rigollet, arXiv:2411.04990, Lemma 5.1",
    trials: (100, 800),
    trial: |case, ctx| {
        let (c, eps) = (ctx.uniform_in(1.5, 4.0), 0.005 * 20f64.powf(ctx.uniform_in(0.0, 1.0)));
        // In half of the starts tokens crowd at the least distance, where the force is strongest.
        let power = if ctx.index(2) == 0 { 1 } else { 16 };
        displacement(case, ctx, (c, eps), power, 1.0)
    },
    control: Control {
        what: "a token at half this distance from those before it, c = 4, eps = 0.1",
        trial: |ctx| {
            displacement(
                &Case::new(10, 2, 100.0, "causal-sa").with_law("placed"),
                ctx,
                (4.0, 0.1),
                16,
                0.5,
            )
        },
    },
    ..Claim::INEQUALITY
};

fn displacement(
    case: &Case,
    ctx: &mut Context,
    (c, eps): (f64, f64),
    power: i32,
    distance: f64,
) -> Result<Finding> {
    let (n, beta, width) = (case.n, case.beta, case.beta.sqrt().recip());
    let edge = distance * c * (1.0 + 2.0 * eps) * width;
    let mut angles = Vec::new();
    for _ in 1..n {
        let u = ctx.uniform_in(-0.5, 1.0);
        angles.push((edge + (std::f64::consts::PI - edge) * u.abs().powi(power)).copysign(u));
    }
    angles.push(0.0);
    let x = Tokens::from_angles(&angles)?;
    let bound = eps * c * width;
    let pull = (beta * ((c * width).cos() - 1.0)).exp() * (c * width).sin();
    let flow = dynamics::build("sa", true, &Spec::new(beta, n))?;
    let end = ctx.flow_to(&flow, &x, bound / (n as f64 * pull))?;
    Ok(Finding::at_most(dist(end.row(n - 1), x.row(n - 1)), bound))
}
