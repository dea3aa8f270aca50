//! Tokens in a hemisphere stay in their cap.

use super::setting::{random_head, with_head};
use crate::sphere::cap::cap_radius;
use crate::theorem::context::RTOL;
use crate::theorem::prelude::*;

const ROUNDING: f64 = 1e-12;
const PARTS: f64 = 1000.0;

/// The smallest enclosing cap does not grow, since velocities and layers move tokens inside their
/// conic hull.
///
/// # Derivation
///
/// Let `w` be the centre of the smallest cap and `m = min_i <x_i, w> >= 0`, attained at token `i`.
/// With weights `a_ij > 0`, `<x_i', w> = sum_j a_ij (<x_j, w> - G_ij m)`, and each term is at least
/// `a_ij m (1 - G_ij) >= 0`: so `min_i <x_i, w>` does not decrease, nor does its maximum over all
/// `w`, which is the cosine of the radius. A layer divides `x_i + eta sum_j a_ij x_j`, of height at
/// least `m (1 + eta s)` with `s = sum_j a_ij`, by its length, which is at most `1 + eta s`. So the
/// new height is at least `m`, for every `eta`, and also without `x_i` `(eta = inf)`. Queries and
/// keys change only the weights.
pub static ENTRY: Claim = Claim {
    name: "hemisphere-monotone",
    title: "The smallest cap of tokens in a hemisphere never grows",
    lets: "`V = I`, let the weights be positive (SA, USA, causal; any `Q`, `K`), and let all \
           tokens lie in an open hemisphere",
    then: "The radius of their smallest enclosing cap never grows, neither in time nor under \
           layers of any step size, infinite ones included.",
    tested: "with a factor 1 + {ROUNDING} for rounding; in time 1 + {RTOL}, the tolerance of the \
             integrator",
    numbers: &[("ROUNDING", ROUNDING), ("RTOL", RTOL), ("PARTS", PARTS)],
    domain: Domain {
        n: Sizes::Range(2, 24),
        d: Sizes::Range(2, 8),
        beta: Betas::Log(0.01, 10.0),
        dynamics: &["sa", "usa", "causal-sa", "causal-usa"],
        laws: &["hemisphere", "cap:radius=1.2", "cap:radius=0.3"],
        ..Domain::ATTENTION
    },
    narrower: "one head; `Q` and `K` are `I` plus at most a normalised Gaussian matrix; radii of \
               at least 1/{PARTS}, for rounding",
    source: "arXiv:2312.10794, proof of Lemma 6.4",
    trials: (60, 600),
    trial: cap_shrinks,
    control: Control {
        what: "the repulsive flow, `V = -I`",
        trial: |ctx| {
            cap_shrinks(
                &Case::with_random_masses(6, 3, 2.0, "repulsive-sa").with_law("cap:radius=0.3"),
                ctx,
            )
        },
    },
    ..Claim::INEQUALITY
};

fn cap_shrinks(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let mut x = ctx.tokens(case)?;
    let head = random_head(case.d, 1.0, ctx)?;
    let dynamics = with_head(case, head)?;
    let eta = [0.01, 0.3, 5.0, f64::INFINITY][ctx.index(4)];
    let layer = Layer::new(eta)?;
    // The radius is pi if the tokens are in no hemisphere.
    let radius = |x: &Tokens| cap_radius(x).unwrap_or(PI);
    let mut before = radius(&x);
    if before > 0.5 * PI {
        return Ok(Finding::HypothesesMissed);
    }
    let mut worst: Option<Finding> = None;
    for k in 0..4 {
        let in_time = k % 2 == 0;
        if in_time {
            let fastest = dynamics
                .velocity(&x)
                .chunks_exact(x.d())
                .map(norm)
                .fold(f64::MIN_POSITIVE, nan_max);
            x = ctx.flow_to(&dynamics, &x, (0.3 * before / fastest).min(50.0))?;
        } else {
            layer.apply(&dynamics, &mut x);
        }
        let after = radius(&x);
        // Below this size the radius is a rounding error.
        if after < 1.0 / PARTS {
            break;
        }
        // The relative error of a displacement is the tolerance, and a displacement is at most the
        // radius.
        let allowed = ROUNDING + if in_time { RTOL } else { 0.0 };
        let now = Finding::at_most(after, before * (1.0 + allowed));
        worst = Some(match worst {
            None => now,
            Some(old) => old.and(now),
        });
        before = after;
    }
    Ok(worst.unwrap_or(Finding::HypothesesMissed))
}
