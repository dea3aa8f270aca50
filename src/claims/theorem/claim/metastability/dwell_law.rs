//! The lifetime of two clusters grows exponentially in beta.

use super::setting::{TWO_CLUSTERS, pair};
use crate::num::stats::slope;
use crate::theorem::prelude::*;

const BETAS: (f64, f64) = (100.0, 112.0);
const GAPS: (f64, f64) = (0.5, 3.0);
const RATIO: f64 = 3.0;
const PERCENT: f64 = 0.5;

/// # Derivation
///
/// With `rho = cos(theta)` the exact equation of two clusters (`two-clusters`) is, up to terms of
/// relative size `e^{-beta (1 - rho)}`, `theta' = -c e^{-beta (1 - cos theta)} sin(theta)`, `c =
/// (1 - alpha)/alpha + alpha/(1 - alpha)` for SA and `c = 1` for USA in U2. So the lifetime from
/// the gap `g` is the integral of `e^{beta (1 - cos theta)} / (c sin theta)` up to `g`. Its
/// integrand is largest at `g`, with the logarithmic slope `beta sin g`: by Laplace's method, after
/// a second integration by parts, `beta T = e^{beta (1 - cos g)} / (c sin^2 g) (1 + 2 cos g / (beta
/// sin^2 g) + ...)`.
///
/// The masses enter through `c` alone, as long as `e^{beta (1 - cos g)}` is far above their ratio
/// (here `e^{12}` against 100). Between `b` and `3 b` the next term changes the slope of the
/// logarithm by `-1/(3 b^2)` of its coefficient, a share that is largest at the smallest gap: 0.21
/// % of `1 - cos g` at `g = 0.5`, `b = 100`. From a small angle `r` to the merger SA needs about
/// `log(1/r)` at any `beta`, compared with `e^{12}/(100 c)` for the rest: this matters if `c` is
/// large. Quadrature of the exact equation down to `r = 0.05` gives 0.26 % there for equal masses
/// and 0.35 % for masses 1 to 100; down to `r = 0.001` it is 0.51 %, and 0.93 % down to `1e-8`. For
/// small `b` the law is only asymptotic: at `b = 20` and a gap of 0.5 the slope differs by 18 %.
pub static ENTRY: Claim = Claim {
    name: "dwell-law",
    title: "Two clusters live for a time `e^{beta (1 - cos gap)}`",
    lets: "`b` be in [{LEAST_BETA}, {MOST_BETA}], and let `T` be the time in which two clusters, \
           with masses in a ratio of at most 100, come from a gap in [{LEAST_GAP}, {MOST_GAP}] to \
           within {RADIUS} of each other (SA; USA in U2)",
    then: "Between `beta = b` and `beta = {RATIO} b`, the slope of `log(beta T)` as a function of \
           `beta` is `1 - cos(gap)`, to {PERCENT} %.",
    tested: "with the `beta` of the case as `b`",
    numbers: &[
        ("LEAST_BETA", BETAS.0),
        ("MOST_BETA", BETAS.1),
        ("LEAST_GAP", GAPS.0),
        ("MOST_GAP", GAPS.1),
        ("RADIUS", RADIUS),
        ("RATIO", RATIO),
        ("PERCENT", PERCENT),
        ("FOREVER", FOREVER),
    ],
    domain: Domain {
        d: Sizes::Range(2, 8),
        beta: Betas::Linear(BETAS.0, BETAS.1),
        draws: "the gap and the masses",
        ..TWO_CLUSTERS
    },
    narrower: "`b <= {MOST_BETA}`, so that times stay below {FOREVER}; a radius of {RADIUS}, \
               because the rest of the approach matters for unequal masses",
    source: "reduction of arXiv:2312.10794, (2.3) to two points; the exponent: arXiv:2410.06833",
    trials: (8, 120),
    trial: |case, ctx| exponent(case, ctx, |gap| 1.0 - gap.cos()),
    constant: "the exponent `1 - cos(gap)`",
    control: Control {
        what: "the exponent `gap^2/2`",
        trial: |ctx| {
            exponent(&Case::with_random_masses(2, 2, 100.0, "sa"), ctx, |gap| 0.5 * gap * gap)
        },
    },
    ..Claim::LAW
};

/// Distance below which two clusters count as one.
pub const RADIUS: f64 = 0.05;

fn exponent(case: &Case, ctx: &mut Context, stated: fn(f64) -> f64) -> Result<Finding> {
    let gap = ctx.uniform_in(GAPS.0, GAPS.1);
    let x = pair(case.d, gap, &ctx.masses(2))?;
    let mut points = Vec::new();
    for k in [1.0, RATIO] {
        let beta = case.beta * k;
        let options = Options {
            rtol: 1e3 * ctx.rtol(),
            merge_radius: RADIUS,
            stop_at_one_cluster: true,
            ..Options::default()
        };
        let flow = dynamics::build(
            case.dynamics,
            false,
            &Spec { time_scale: TimeScale::U2, ..Spec::new(beta, 2) },
        )?;
        let end = solve(&flow, &x, FOREVER, &options, &mut [])?;
        let Some(merge) = end.merges.first() else {
            return Ok(Finding::Unfinished(end.outcome.to_string()));
        };
        points.push((beta, (beta * merge.t).ln()));
    }
    let law = ctx.claimed_constant(stated(gap));
    Ok(Finding::law(slope(&points), law, PERCENT / 100.0 * law, 0.0))
}
