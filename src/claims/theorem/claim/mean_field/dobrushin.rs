//! Stability in the Wasserstein distance.

use crate::theorem::prelude::*;

/// The estimate with its sharp constant.
///
/// # Derivation
///
/// Let pi couple mu and nu, and let both ends of every pair move. For two pairs joined by
/// unit-speed geodesics with directions e and f, half the sum of the effects of each pair on the
/// other is at most `(|delta| + |epsilon|)/2` times the largest of
/// `e^{beta s} (beta <e,y>^2 - s + <e,f> + beta <e,y> <f,x>)`, which is `2 m(beta)`, attained in
/// the plane of x and y. The average over pairs of pairs gives `d/dt C <= 2 m C` for the cost C of
/// every coupling, the optimal one in particular. Equality holds for a light token at the angle
/// where m is attained, displaced outwards from a heavy one.
pub static ENTRY: Claim = Claim {
    name: "dobrushin",
    title: "USA: W1(mu(t), nu(t)) <= e^{2 m t} W1(mu(0), nu(0)), m = max_s (beta (1 - s^2) - s) \
            e^{beta s}",
    lets: "two measures move by USA (U1), and let m = max over s in [-1, 1] of (beta (1 - s^2) - \
           s) e^{beta s} (which is about 0.45 e^beta for large beta, and e^{-beta} for beta <= \
           1/3)",
    then: "The cost int dist(x, y) d pi of every coupling pi grows at most like e^{2 m t}. So the \
           Wasserstein distance W1 does, too.",
    domain: Domain {
        n: Sizes::Range(2, 24),
        d: Sizes::Range(2, 8),
        beta: Betas::Log(0.01, 50.0),
        dynamics: &["usa"],
        ..Domain::ATTENTION
    },
    narrower: "Q = K = V = I; atoms of equal masses in both measures, coupled one to one; t <= 2/m",
    source: "arXiv:2312.10794, Remark 3.3 (e^{O(1) t}); the constant derived",
    trials: (24, 200),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        let (size, times) = (ctx.log_uniform_in(1e-2, 1.0), ctx.log_uniform_in(0.05, 2.0));
        let moved = x
            .coordinates()
            .iter()
            .zip(ctx.normals(x.coordinates().len()))
            .map(|(x, z)| x + size * z)
            .collect();
        let y = Tokens::normalised(case.d, moved)?.with_masses(x.masses())?;
        growth(case, ctx, (&x, &y), times, 2.0)
    },
    constant: "the exponent 2 m t",
    control: Control {
        what: "the exponent m t/2, for a token displaced outwards from the angle where m is \
               attained",
        trial: |ctx| {
            let (_, s) = max_rate(3.0);
            let x = Tokens::from_angles(&[0.0, s.acos()])?;
            let y = Tokens::from_angles(&[-0.01, s.acos() + 0.01])?;
            growth(&Case::new(2, 2, 3.0, "usa"), ctx, (&x, &y), 0.1, 0.5)
        },
    },
    ..Claim::INEQUALITY
};

/// `m / e^beta` and the s at which the maximum is attained: the root of
/// `beta^2 s^2 + 3 beta s + 1 - beta^2 = 0`, or -1.
fn max_rate(beta: f64) -> (f64, f64) {
    let s = (((5.0 + 4.0 * beta * beta).sqrt() - 3.0) / (2.0 * beta)).max(-1.0);
    ((beta * (1.0 - s * s) - s) * (beta * (s - 1.0)).exp(), s)
}

/// Compares `log C(t)/C(0)` with `constant m t` at t = `times`/m.
fn growth(
    case: &Case,
    ctx: &mut Context,
    (x, y): (&Tokens, &Tokens),
    times: f64,
    constant: f64,
) -> Result<Finding> {
    let flow = build_dynamics("usa", case.beta, case.n)?;
    let t = times / (max_rate(case.beta).0 * case.beta.exp());
    let cost = |x: &Tokens, y: &Tokens| {
        x.rows().zip(y.rows()).zip(x.masses()).map(|((a, b), m)| m * dist(a, b)).sum::<f64>()
    };
    let before = cost(x, y);
    let (x, y) = (ctx.flow_to(&flow, x, t)?, ctx.flow_to(&flow, y, t)?);
    Ok(Finding::at_most((cost(&x, &y) / before).ln(), ctx.claimed_constant(constant * times)))
}
