//! Odd powers: do tokens on the circle gather on a line?

use super::setting::{CIRCLE, critical_point, power};
use crate::attention::interaction::InteractionEnergy;
use crate::landscape::interaction::InteractionCriticalPoint;
use crate::theorem::prelude::*;

/// # Derivation
///
/// For odd p the potential `W(s) = s^{p+1}/(p+1)` is even: E does not change if a token is replaced
/// by its opposite. On the circle W is a function of the doubled angle: with
/// `t = cos 2a = 2 cos^2 a - 1` it is `((1 + t)/2)^{(p+1)/2}/(p+1)`, whose derivative is
/// proportional to `(1 + t)^{(p-1)/2}`. For p = 1 and p = 3 its Taylor coefficients (1, and 1, 1)
/// decrease, and `decreasing-coefficients` proves the statement. For p >= 5 they do not (1, 2, 1).
/// The derivative is nonnegative and increasing, so the argument of `few-clusters` excludes maxima
/// with two to four lines where no two lines are at right angles.
pub static ENTRY: Claim = Claim {
    name: "odd-powers",
    title: "Circle: under odd powers every maximum has its tokens at two opposite points",
    lets: "phi(s) = s^p with an odd p >= 1",
    then: "Every strict local maximum of E on the circle (modulo rotation) has all tokens at two \
           opposite points.",
    tested: "for 5 <= p <= 15, at critical points that Newton's method finds from random clusters",
    domain: Domain { n: Sizes::Range(3, 12), draws: "p, clusters", ..CIRCLE },
    narrower: "equal masses",
    source: "derived for p = 1 and p = 3; a question about s^p",
    status: Status::Open,
    trials: (24, 200),
    trial: |case, ctx| {
        let p = 5 + 2 * ctx.index(6);
        off_a_line(p, case, ctx)
    },
    no_constant: "the signs of eigenvalues decide",
    control: Control {
        what: "p = 2: the triangle",
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
