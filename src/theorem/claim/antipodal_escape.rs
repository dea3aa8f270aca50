//! Escape from nearly antipodal clusters.

use super::{Case, Claim, Context, Control, Expected, Finding, plain};
use crate::error::Result;
use crate::flow::{Options, solve};
use crate::sphere::Tokens;
use crate::theory::two_cluster::mass_factor;

/// Two clusters at angle pi - delta.
pub static ENTRY: Claim = Claim {
    name: "antipodal-escape",
    title: "Antipodal clusters escape after (e^{2 beta} / c_alpha) log(1 / (delta sqrt beta))",
    statement: "Two clusters of masses alpha, 1 - alpha at angle pi - delta under SA meet after T with |c_alpha e^{-2 beta} T - log(1/(delta sqrt beta))| <= 0.5 (an additive constant), for \
                delta down to 1e-12 and beta to 100.",
    hypotheses: "delta sqrt(beta) << 1; tokens given with the displacement in a small coordinate, so that double precision sees it",
    applies: |case| case.beta >= 3.0,
    citation: "reduction of arXiv:2312.10794, (2.3) to two points",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(2, 2, 5.0, "sa"), Case::new(2, 2, 20.0, "sa"), Case::new(2, 3, 60.0, "sa"), Case::new(2, 2, 100.0, "sa")],
    quick: 3,
    trials: (3, 20),
    trial: |case, ctx| escape(case, ctx, 2.0),
    control: Control { what: "the factor e^{2.1 beta}", trial: |ctx| escape(&Case::new(2, 2, 20.0, "sa"), ctx, 2.1) },
};

fn escape(case: &Case, ctx: &mut Context, exponent: f64) -> Result<Finding> {
    let delta = 10f64.powf(ctx.stream.uniform_in(-12.0, -3.0));
    let alpha = ctx.stream.uniform_in(0.2, 0.8);
    let mut x = vec![0.0; 2 * case.d];
    x[0] = 1.0;
    (x[case.d], x[case.d + 1]) = (-delta.cos(), delta.sin());
    let x = Tokens::new(case.d, x)?.with_masses(&[alpha, 1.0 - alpha])?;
    let options = Options { rtol: ctx.rtol, merge_radius: 1e-3, stop_at_one_cluster: true, ..Options::default() };
    let end = solve(plain(case.dynamics, case.beta, 2)?.as_ref(), &x, 1e300, &options, &mut [])?;
    let Some(merge) = end.merges.first() else { return Ok(Finding::Unfinished(end.outcome.to_string())) };
    let measured = mass_factor(alpha) * merge.t * (-exponent * case.beta).exp();
    Ok(Finding::at_most((measured - (1.0 / (delta * case.beta.sqrt())).ln()).abs(), 0.5))
}
