//! The merging time of two clusters.

use super::setting::{LARGEST_BETA, TWO_CLUSTERS, pair};
use crate::theorem::prelude::*;
use crate::theory::two_cluster::merge_time;

const ANGLES: (f64, f64) = (0.1, 3.1);
const RADIUS: f64 = 0.05;
const TOLERANCE: f64 = 1e-10;

/// # Derivation
///
/// Let `rho` be the inner product of the two clusters. SA gives a token of the first cluster the
/// weight `(1-alpha) e^{beta rho} / (alpha e^beta + (1-alpha) e^{beta rho})` on the second, and
/// moves it by that times `P_x y`; `<P_x y, y> = 1 - rho^2`. Both clusters together: `rho' = (1 -
/// rho^2) ((1-alpha)/(alpha e^{beta (1-rho)} + 1 - alpha) + alpha/((1-alpha) e^{beta (1-rho)} +
/// alpha))`. USA has the weights `(1-alpha) e^{beta rho}` and `alpha e^{beta rho}`, whose sum does
/// not depend on the masses: `rho' = e^{beta rho} (1 - rho^2)`. The merging time is the integral of
/// `1/rho'`.
pub static ENTRY: Claim = Claim {
    name: "two-clusters",
    title: "The merging time of two clusters is an integral",
    lets: "two clusters of masses `alpha` and `1 - alpha` be at an angle in [{LEAST}, {MOST}]",
    then: "They come within {RADIUS} of each other at the time `int d theta` / speed from {RADIUS} \
           to this angle. The speed is `sin(theta) ((1-alpha)/(alpha w + 1 - alpha) + \
           alpha/((1-alpha) w + alpha))` with `w = e^{beta (1 - cos theta)}` for SA, and `e^{beta \
           cos theta} sin(theta)` for USA, whatever the masses.",
    tested: "with quadrature, to a relative error of `{TOLERANCE} (1 + beta)`",
    numbers: &[
        ("LEAST", ANGLES.0),
        ("MOST", ANGLES.1),
        ("RADIUS", RADIUS),
        ("TOLERANCE", TOLERANCE),
        ("LARGEST_BETA", LARGEST_BETA),
        ("EXPONENT", 2.0 * LARGEST_BETA),
    ],
    domain: Domain {
        draws: "the angle and the masses",
        corners: &[(2, 2, 1.0), (2, 3, 10.0)],
        ..TWO_CLUSTERS
    },
    narrower: "`beta <= {LARGEST_BETA}`, where the longest plateau is `e^{EXPONENT}`",
    source: "reduction of arXiv:2312.10794, (2.3) to two points; arXiv:2512.01868",
    trials: (24, 240),
    trial: |case, ctx| compare(case, ctx, case.beta),
    constant: "the merging time",
    control: Control {
        what: "the merging time at `beta + 1`",
        trial: |ctx| compare(&Case::with_random_masses(2, 2, 2.0, "sa"), ctx, 3.0),
    },
    ..Claim::IDENTITY
};

fn compare(case: &Case, ctx: &mut Context, beta: f64) -> Result<Finding> {
    let (from, to) = (ctx.uniform_in(ANGLES.0, ANGLES.1), RADIUS);
    let x = pair(case.d, from, &ctx.masses(2))?;
    let expected =
        merge_time(case.row_weights()?, (TimeScale::U1, 2), beta, x.masses()[0], from, to)?;
    let options = Options {
        rtol: 0.1 * ctx.rtol(),
        merge_radius: to,
        stop_at_one_cluster: true,
        ..Options::default()
    };
    let end = solve(&case.build()?, &x, 1e305, &options, &mut [])?;
    let Some(merge) = end.merges.first() else {
        return Ok(Finding::Unfinished(end.outcome.to_string()));
    };
    // The error of the flow is 1e-10, and d log T / d theta is at most about beta.
    Ok(Finding::identity(
        (merge.t / ctx.claimed_constant(expected.value) - 1.0).abs(),
        TOLERANCE * (1.0 + case.beta),
    ))
}
