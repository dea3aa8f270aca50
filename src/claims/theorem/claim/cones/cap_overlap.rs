//! Largest inner product between orthogonal caps.

use crate::num::interval::Interval;
use crate::theorem::prelude::*;

const FACTOR: f64 = 4.0;
const FALSE_FACTOR: f64 = 2.0;
const PARTS: f64 = 16.0;
const WIDE: (f64, f64) = (0.42, 0.5);

/// The order is sqrt(eps), not eps as printed.
///
/// # Derivation
///
/// For orthogonal unit centres the largest inner product of the caps `<., w> >= 1 - 2 eps` is
/// `sin(2r)` with `cos r = 1 - 2 eps`, that is `4 (1 - 2 eps) sqrt(eps (1 - eps))`; it is at most
/// `4 sqrt(eps)` because `(1 - 2 eps)^2 (1 - eps) <= 1`, which is proved by interval arithmetic.
/// The printed bound is smaller for every `eps` below `sqrt(2) - 1`: the value is about `4
/// sqrt(eps)`, or 1 if the caps intersect `(eps >= 0.146)`. Above, the printed bound exceeds 1.
pub static ENTRY: Claim = Claim {
    name: "cap-overlap",
    title: "Points of two orthogonal caps have inner product at most `4 sqrt(eps)`",
    lets: "`w` and `w'` be orthogonal unit vectors and `0 < eps <= 1/{PARTS}`",
    then: "`<x, y> <= {FACTOR} sqrt(eps)` for all unit vectors `x`, `y` with `<x, w> >= 1 - 2 eps` \
           and `<y, w'> >= 1 - 2 eps`.",
    numbers: &[("FACTOR", FACTOR), ("FALSE_FACTOR", FALSE_FACTOR), ("PARTS", PARTS)],
    domain: DOMAIN,
    source: "arXiv:2410.06833, section 4, corrected",
    status: Status::Corrected,
    trials: (40, 400),
    trial: |case, ctx| {
        let factor = ctx.claimed_constant(FACTOR);
        overlap(case, ctx, |eps| factor * eps.sqrt(), Points::Drawn)
    },
    constant: "the factor 4",
    control: Control {
        what: "the bound `{FALSE_FACTOR} sqrt(eps)` for the nearest points of the caps",
        trial: |ctx| overlap(&EDGE, ctx, |eps| FALSE_FACTOR * eps.sqrt(), Points::Nearest),
    },
    proof: Some(Proof {
        whole: true,
        what: "`0 <= eps <= 1/16`: `(1 - 2 eps)^2 (1 - eps) <= 1`",
        // (1 - 2 eps)^2 (1 - eps) = 1 - eps (5 - 8 eps + 4 eps^2).
        holds: || {
            let (eps, exact) = (Interval::new(0.0, 1.0 / PARTS), Interval::exact);
            Ok((exact(5.0) - exact(8.0) * eps + exact(4.0) * eps.sqr()).lo() >= 0.0)
        },
    }),
    variants: &[&PRINTED],
    ..Claim::INEQUALITY
};

static PRINTED: Claim = Claim {
    name: "cap-overlap-printed",
    title: "Points of two orthogonal caps have inner product at most `eps^2 + 2 eps` (as printed)",
    lets: "`w` and `w'` be orthogonal unit vectors and `0 < eps <= 1/{PARTS}`",
    then: "`<x, y> <= eps^2 + 2 eps` for all unit vectors `x`, `y` with `<x, w> >= 1 - 2 eps` and \
           `<y, w'> >= 1 - 2 eps`.",
    numbers: &[("PARTS", PARTS), ("LEAST", WIDE.0), ("MOST", WIDE.1)],
    domain: DOMAIN,
    source: "arXiv:2410.06833, section 4 of v1, as quoted in a formal statement",
    status: Status::Misprinted,
    trials: (20, 100),
    trial: |case, ctx| overlap(case, ctx, printed, Points::Drawn),
    control: Control {
        what: "`eps` in [{LEAST}, {MOST}], where the printed bound exceeds 1",
        trial: |ctx| overlap(&EDGE, ctx, printed, Points::Wide),
    },
    ..Claim::INEQUALITY
};

/// The printed bound.
fn printed(eps: f64) -> f64 {
    eps * eps + 2.0 * eps
}

const DOMAIN: Domain =
    Domain { n: Sizes::Unused, draws: "`eps`, a point of either cap", ..Domain::FREE };

/// The case of the controls.
const EDGE: Case = Case::new(1, 2, 0.0, "");

/// The points of the caps that are compared.
#[derive(Clone, Copy, PartialEq)]
enum Points {
    /// Random points, half of them in the plane of the centres and on the edge.
    Drawn,
    /// The nearest points.
    Nearest,
    /// Random points of caps so wide that they intersect: eps between 0.42 and 1/2.
    Wide,
}

/// Points of the two caps: each is its centre e_1 or e_2, rotated by at most the radius of the cap
/// towards the other centre and in a random direction.
fn overlap(
    case: &Case,
    ctx: &mut Context,
    bound: impl Fn(f64) -> f64,
    points: Points,
) -> Result<Finding> {
    let (least, most) = if points == Points::Wide { WIDE } else { (1e-6, 1.0 / PARTS) };
    let eps = ctx.log_uniform_in(least, most);
    let radius = (1.0 - 2.0 * eps).acos();
    let mut point = |centre: usize| -> Vec<f64> {
        // Half of the points lie in the plane of the centres and on the edge, where the bound is
        // attained.
        let (turn, tilt) =
            (ctx.uniform_in(0.0, 2.0).min(1.0) * radius, ctx.uniform_in(-1.0, 1.0).max(0.0));
        let (turn, tilt) = if points == Points::Nearest { (radius, 0.0) } else { (turn, tilt) };
        let mut aside = ctx.normals(case.d);
        (aside[0], aside[1]) = (0.0, 0.0);
        let length = norm(&aside);
        let tilt = if length > 0.0 { tilt * std::f64::consts::FRAC_PI_2 } else { 0.0 };
        let mut x: Vec<f64> = aside
            .iter()
            .map(|v| if length > 0.0 { turn.sin() * tilt.sin() * v / length } else { 0.0 })
            .collect();
        x[centre] += turn.cos();
        x[1 - centre] += turn.sin() * tilt.cos();
        x
    };
    let (x, y) = (point(0), point(1));
    Ok(Finding::at_most(dot(&x, &y), bound(eps)))
}
