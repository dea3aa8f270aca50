//! Strong Renyi centres hardly move.

use super::{Case, Claim, Context, Control, Expected, Finding, flowed};
use crate::attention::{Spec, dynamics};
use crate::clusters::centres::strong;
use crate::error::Result;
use crate::sphere::geometry::dist;

/// 2411.04990, Lemma 5.1.
pub static ENTRY: Claim = Claim {
    name: "strong-centres",
    title: "Causal attention: strong centres are quasi-stationary",
    statement: "d = 2, causal SA, strong centres s_j for the radius c (1 + 2 eps) beta^{-1/2}, c = 4, eps = 0.1: |x_{s_j}(t) - x_{s_j}(0)| < eps c beta^{-1/2} for t <= T_j with \
                T_j s_j = (1/2) eps e^{c^2/2 - c^4/(24 beta)}.",
    hypotheses: "d = 2, Q = K = V = I, uniform start",
    applies: |case| case.d == 2 && case.dynamics == "causal-sa",
    citation: "Karagodin, Polyanskiy, Rigollet, arXiv:2411.04990, Lemma 5.1",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(60, 2, 100.0, "causal-sa"), Case::new(150, 2, 64.0, "causal-sa"), Case::new(300, 2, 100.0, "causal-sa")],
    quick: 1,
    trials: (2, 5),
    trial: |case, ctx| {
        let x = ctx.tokens(case, "uniform")?;
        let centres = strong(&x, C * (1.0 + 2.0 * EPS) / case.beta.sqrt());
        displacement(case, ctx, &x, &centres, 0.5)
    },
    control: Control {
        what: "tokens that are not centres",
        trial: |ctx| {
            let case = Case::new(60, 2, 100.0, "causal-sa");
            let x = ctx.tokens(&case, "uniform")?;
            displacement(&case, ctx, &x, &(20..60).collect::<Vec<_>>(), 50.0)
        },
    },
};

const C: f64 = 4.0;
const EPS: f64 = 0.1;

/// Smallest room left to the bound, relative, over the centres, each at its own time.
fn displacement(case: &Case, ctx: &Context, x: &crate::sphere::Tokens, centres: &[usize], scale: f64) -> Result<Finding> {
    let flow = dynamics::build("sa", true, &Spec::new(case.beta, case.n))?;
    let bound = EPS * C / case.beta.sqrt();
    let horizon = scale * EPS * (0.5 * C * C - C.powi(4) / (24.0 * case.beta)).exp();
    let mut worst = f64::INFINITY;
    for &s in centres {
        let end = flowed(flow.as_ref(), x, horizon / (s + 1) as f64, ctx.rtol * 1e2)?;
        worst = worst.min(1.0 - dist(end.row(s), x.row(s)) / bound);
    }
    Ok(if worst.is_finite() { Finding::exact(worst) } else { Finding::Missed })
}
