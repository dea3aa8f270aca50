//! Odd powers: tokens on the circle gather on a line.

use super::setting::{CIRCLE, critical_point, power};
use crate::attention::interaction::InteractionEnergy;
use crate::landscape::interaction::InteractionCriticalPoint;
use crate::theorem::prelude::*;
use crate::theory::third_derivative::of_odd_power;

const LARGEST: usize = 201;
const LARGEST_FOUND: usize = 15;

/// # Derivation
///
/// For odd `p` the potential `W(s) = s^{p+1}/(p+1)` is even: `E` does not change if a token is
/// replaced by its opposite. On the circle `W` is a function of the doubled angle: with `t = cos
/// 2a = 2 cos^2 a - 1` it is `((1 + t)/2)^{(p+1)/2}/(p+1)`, whose derivative is proportional to
/// `(1 + t)^{(p-1)/2}`. For `p = 1` and `p = 3` its Taylor coefficients (1, and 1, 1) decrease, and
/// `decreasing-coefficients` proves the statement. For `p >= 5` they do not (1, 2, 1). The
/// derivative is nonnegative and increasing, so the argument of `few-clusters` excludes maxima with
/// two to four lines where no two lines are at right angles.
///
/// For every `p` up to 201 the theorem of `third-derivative` applies. In the doubled angle `x` the
/// force is `f = ((1 + cos x)/2)^q sin x`, `p = 2q + 1`, and the ratio of the two sides of the
/// condition is at most 0.92, in interval arithmetic (0.857 for `p = 5`, 0.838 for `p = 11` to 15,
/// 0.860 for `p = 201`). For `q > 0 f'` is 0 at `x = pi`, two lines at a right angle, instead of
/// negative. The proof needs it only for a line whose other lines are all beyond `tau`: they would
/// all be at right angles to it, so there are two lines. There `W(0) = 0` is the least value of
/// `W`, and turning a line increases `E`. A proof for all `p` at once is not known here.
pub static ENTRY: Claim = Claim {
    name: "odd-powers",
    title: "Circle: under odd powers `p <= 201` every maximum has its tokens at two opposite \
            points",
    lets: "`phi(s) = s^p` with an odd `p`, `1 <= p <= {LARGEST}`",
    then: "Every strict local maximum of `E` on the circle (modulo rotation) has all tokens at two \
           opposite points.",
    tested: "by the condition in interval arithmetic, and for `p <= {LARGEST_FOUND}` at critical \
             points that Newton's method finds from random clusters",
    numbers: &[("LARGEST", LARGEST as f64), ("LARGEST_FOUND", LARGEST_FOUND as f64)],
    domain: Domain { n: Sizes::Range(3, 12), draws: "`p`, clusters", ..CIRCLE },
    narrower: "equal masses",
    source: "derived from arXiv:2507.22857, Theorem 2.1 (as quoted in a public audit; see \
             third-derivative)",
    trials: (24, 200),
    trial: |case, ctx| {
        let holds = of_odd_power(ctx.index(LARGEST.div_ceil(2)) as i32)?.holds();
        let p = 5 + 2 * ctx.index((LARGEST_FOUND - 3) / 2);
        Ok(off_a_line(p, case, ctx)?.and(Finding::answer(holds)))
    },
    no_constant: "the signs of eigenvalues decide",
    control: Control {
        what: "`p = 2`: the triangle",
        trial: |_: &mut Context| {
            let energy = InteractionEnergy::new(power(2)?);
            let triangle = super::setting::polygon(3)?;
            Ok(Finding::answer(is_no_maximum(&InteractionCriticalPoint::near(
                &energy, &triangle, &[1; 3],
            )?)))
        },
    },
    ..Claim::EXACT
};

/// True if a critical point is no strict maximum modulo rotation.
fn is_no_maximum(point: &InteractionCriticalPoint) -> bool {
    point.spectrum.unstable > 0 || point.spectrum.nullity > 0
}

/// A critical point with tokens on several lines.
fn off_a_line(p: usize, case: &Case, ctx: &mut Context) -> Result<Finding> {
    let energy = InteractionEnergy::new(power(p)?);
    for _ in 0..4 {
        let point = critical_point(&energy, (case.n, case.d), 8, ctx)?;
        let several =
            |p: &InteractionCriticalPoint| p.angles.iter().any(|a| *a > 1e-6 && *a < PI - 1e-6);
        if let Some(point) = point.filter(several) {
            return Ok(Finding::answer(is_no_maximum(&point)));
        }
    }
    Ok(Finding::HypothesesMissed)
}
