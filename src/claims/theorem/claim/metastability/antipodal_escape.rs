//! Escape from nearly antipodal clusters.

use crate::theorem::prelude::*;
use crate::theory::two_cluster::mass_factor;

const LEAST_BETA: f64 = 6.0;
const DELTAS: (f64, f64) = (1e-9, 0.03);
const RADIUS: f64 = 1e-3;
const CONTROL_BETA: f64 = 100.0;

/// # Derivation
///
/// With `rho = cos theta` and `w = e^{-beta (1 - rho)}` two clusters under SA have `theta' =
/// -sin(theta) ((1 - alpha) w/(alpha + (1 - alpha) w) + alpha w/(1 - alpha + alpha w))`, to leading
/// order in `w` `-c_alpha w sin(theta)`. For `phi = pi - theta`, `1 - rho = 2 - (1 - cos phi)`, so
/// `phi' = c_alpha e^{-2 beta} sin(phi) e^{beta (1 - cos phi)}` and `c_alpha e^{-2 beta} T` is the
/// integral of `e^{-beta (1 - cos phi)} / sin(phi)` from `delta` on.
///
/// Its leading part is the integral of `e^{-beta phi^2/2} / phi`, which is `E_1(beta delta^2/2)/2 =
/// log(1/(delta sqrt beta)) + (log 2 - gamma)/2 + beta delta^2/4 - ...`. The next terms,
/// `1/sin(phi) = 1/phi + phi/6` and `e^{-beta (1 - cos phi)} = e^{-beta phi^2/2} (1 + beta
/// phi^4/24)`, add `1/(6 beta) + 1/(12 beta) = 1/(4 beta)`. The remainder is of the order
/// `1/beta^2` and `beta delta^2`, below the `1/(2 beta)` that is allowed for `beta >= 6`. For
/// smaller `beta` the terms of order `w` are not small: at `beta = 4` and masses 1 to 100 the
/// deviation is 3.9 times the bound, at `beta = 1` up to 320 times.
pub static ENTRY: Claim = Claim {
    name: "antipodal-escape",
    title: "Nearly antipodal clusters meet after `(e^{2 beta} / c_alpha) log(1 / (delta sqrt \
            beta))`",
    lets: "`beta >= {LEAST_BETA}`, and let two clusters of masses `alpha` and `1 - alpha`, with \
           `alpha/(1-alpha)` in [0.01, 100], be at angle `pi - delta`, `{LEAST} <= delta \
           sqrt(beta) <= {MOST}`",
    then: "Under SA they come within {RADIUS} of each other after a time `T` with `|c_alpha e^{-2 \
           beta} T - log(1/(delta sqrt beta)) - (log 2 - gamma)/2| <= 1/(2 beta)`. Here `c_alpha = \
           alpha/(1-alpha) + (1-alpha)/alpha`, and `gamma` is Euler's constant.",
    numbers: &[
        ("LEAST_BETA", LEAST_BETA),
        ("LEAST", DELTAS.0),
        ("MOST", DELTAS.1),
        ("RADIUS", RADIUS),
        ("CONTROL_BETA", CONTROL_BETA),
    ],
    domain: Domain {
        n: Sizes::Fixed(2),
        d: Sizes::Range(2, 8),
        beta: Betas::Log(LEAST_BETA, 300.0),
        dynamics: &["sa"],
        laws: &[],
        draws: "`delta` and the masses",
        ..Domain::ATTENTION
    },
    narrower: "`delta` is one coordinate of a token, so that double precision resolves it",
    source: "reduction of arXiv:2312.10794, (2.3) to two points; constants derived",
    trials: (16, 100),
    trial: |case, ctx| escape(case, ctx, 0.5 * (2f64.ln() - EULER)),
    constant: "the time `T`",
    control: Control {
        what: "the formula without the constant `(log 2 - gamma)/2`, at `beta = {CONTROL_BETA}`",
        trial: |ctx| escape(&Case::with_random_masses(2, 2, CONTROL_BETA, "sa"), ctx, 0.0),
    },
    ..Claim::INEQUALITY
};

/// Euler's constant.
const EULER: f64 = 0.577_215_664_901_532_9;

fn escape(case: &Case, ctx: &mut Context, constant: f64) -> Result<Finding> {
    let small = ctx.log_uniform_in(DELTAS.0, DELTAS.1);
    let delta = small / case.beta.sqrt();
    let masses = ctx.masses(2);
    let mut x = vec![0.0; 2 * case.d];
    x[0] = 1.0;
    (x[case.d], x[case.d + 1]) = (-delta.cos(), delta.sin());
    let x = Tokens::new(case.d, x)?.with_masses(&masses)?;
    let options = Options {
        rtol: ctx.rtol(),
        merge_radius: RADIUS,
        stop_at_one_cluster: true,
        ..Options::default()
    };
    let end = solve(&case.build()?, &x, 1e300, &options, &mut [])?;
    let Some(merge) = end.merges.first() else {
        return Ok(Finding::Unfinished(end.outcome.to_string()));
    };
    let measured = mass_factor(x.masses()[0]) * merge.t * (-2.0 * case.beta).exp();
    let stated = ctx.claimed_constant((1.0 / small).ln() + constant);
    Ok(Finding::at_most((measured - stated).abs(), 0.5 / case.beta))
}
