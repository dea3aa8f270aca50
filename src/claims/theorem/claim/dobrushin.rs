//! Stability in the Wasserstein distance.

use crate::theorem::prelude::*;

/// With the sharp constant.
///
/// # Derivation
///
/// Let pi couple mu and nu and move both ends of every pair. For two pairs joined by unit-speed geodesics with directions e and f, the
/// half sum of what one pair does to the other is at most `(|delta| + |epsilon|)/2` times the largest of `e^{beta s} (beta <e,y>^2 - s +
/// <e,f> + beta <e,y> <f,x>)`, which is met in the plane of x and y: `2 m(beta)`. The average over pairs of pairs gives `d/dt C <= 2 m C`
/// for the cost C of every coupling, the optimal one in particular. Equality: a light token at the angle where m is met, displaced
/// outwards from a heavy one.
pub static ENTRY: Claim = Claim {
    name: "dobrushin",
    title: "USA: W1(mu(t), nu(t)) <= e^{2 m t} W1(mu(0), nu(0)), m = max_s (beta (1 - s^2) - s) e^{beta s}",
    statement: "Two measures moved by USA (U1): the cost int dist(x, y) d pi of every coupling, so W1, grows at most like e^{2 m t}, m = max over s in [-1, 1] of (beta (1 - s^2) - s) e^{beta s} (0.45 e^beta for large beta, e^{-beta} for beta <= 1/3).",
    domain: Domain { n: Sizes::Range(2, 24), d: Sizes::Range(2, 8), beta: Betas::Log(0.01, 50.0), dynamics: &["usa"], ..Domain::ATTENTION },
    narrower: "Q = K = V = I; atoms of equal masses on both sides, coupled one to one; t <= 2/m",
    citation: "arXiv:2312.10794, Remark 3.3 (e^{O(1) t}); the constant derived",
    trials: (24, 200),
    trial: |case, ctx| {
        let x = ctx.tokens(case)?;
        let (size, times) = (ctx.log_uniform_in(1e-2, 1.0), ctx.log_uniform_in(0.05, 2.0));
        let moved = x.coordinates().iter().zip(ctx.normals(x.coordinates().len())).map(|(x, z)| x + size * z).collect();
        let y = Tokens::normalised(case.d, moved)?.with_masses(x.masses())?;
        growth(case, ctx, (&x, &y), times, 2.0)
    },
    perturbed: "the exponent 2 m t",
    control: Control {
        what: "e^{m t/2}, for a token displaced outwards where m is met",
        trial: |ctx| {
            let (_, s) = steepest(3.0);
            let x = Tokens::from_angles(&[0.0, s.acos()])?;
            let y = Tokens::from_angles(&[-0.01, s.acos() + 0.01])?;
            growth(&Case::new(2, 2, 3.0, "usa"), ctx, (&x, &y), 0.1, 0.5)
        },
    },
    ..Claim::INEQUALITY
};

/// `m` over `e^beta`, and the s where it is met: the root of `beta^2 s^2 + 3 beta s + 1 - beta^2 = 0`, or -1.
fn steepest(beta: f64) -> (f64, f64) {
    let s = (((5.0 + 4.0 * beta * beta).sqrt() - 3.0) / (2.0 * beta)).max(-1.0);
    ((beta * (1.0 - s * s) - s) * (beta * (s - 1.0)).exp(), s)
}

/// `log C(t)/C(0)` against `constant m t`, t = `times`/m.
fn growth(case: &Case, ctx: &mut Context, (x, y): (&Tokens, &Tokens), times: f64, constant: f64) -> Result<Finding> {
    let flow = plain("usa", case.beta, case.n)?;
    let t = times / (steepest(case.beta).0 * case.beta.exp());
    let cost = |x: &Tokens, y: &Tokens| x.rows().zip(y.rows()).zip(x.masses()).map(|((a, b), m)| m * dist(a, b)).sum::<f64>();
    let before = cost(x, y);
    let (x, y) = (ctx.flowed(&flow, x, t)?, ctx.flowed(&flow, y, t)?);
    Ok(Finding::at_most((cost(&x, &y) / before).ln(), ctx.stated(constant * times)))
}
