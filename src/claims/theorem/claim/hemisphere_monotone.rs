//! Hemispheres are invariant.

use super::super::context::RTOL;
use super::cone_collapse;
use crate::sphere::cap::cap_radius;
use crate::theorem::prelude::*;

/// The enclosing cap does not grow: every velocity and every layer moves tokens inside their conic hull.
///
/// # Derivation
///
/// Let w be the centre of the smallest cap and `m = min_i <x_i, w> >= 0`, met at token i. With weights `a_ij > 0`, `<x_i', w> = sum_j
/// a_ij (<x_j, w> - G_ij m)`, and each term is at least `a_ij m (1 - G_ij) >= 0`: the least height over this w does not fall, so the best
/// height over all w does not, which is the cosine of the radius. A layer puts `x_i + eta sum_j a_ij x_j`, of height at least `m (1 + eta
/// s)`, `s = sum_j a_ij`, over its length, at most `1 + eta s`: the height is at least m, for every eta and without the x_i too (eta =
/// inf). Queries and keys change the weights only.
pub static ENTRY: Claim = Claim {
    name: "hemisphere-monotone",
    title: "Enclosing caps inside a hemisphere shrink",
    statement: "If the tokens lie in an open hemisphere and V = I with positive weights (SA, USA, causal; any Q, K), the radius of their smallest enclosing cap never grows, in time and under layers of any step size, \
                also infinite ones (1 + 1e-12 times, for rounding; in time 1 + 1e-9 times, the tolerance of the integrator).",
    domain: Domain {
        n: Sizes::Range(2, 24),
        d: Sizes::Range(2, 8),
        beta: Betas::Log(0.01, 10.0),
        dynamics: &["sa", "usa", "causal-sa", "causal-usa"],
        laws: &["hemisphere", "cap:radius=1.2", "cap:radius=0.3"],
        ..Domain::ATTENTION
    },
    narrower: "one head; Q and K are I plus at most a normalised Gaussian matrix",
    citation: "arXiv:2312.10794, proof of Lemma 6.4",
    trials: (60, 600),
    trial: shrink,
    control: Control {
        what: "the repulsive flow, V = -I",
        trial: |ctx| shrink(&Case::weighted(6, 3, 2.0, "repulsive-sa").with_law("cap:radius=0.3"), ctx),
    },
    ..Claim::INEQUALITY
};

fn shrink(case: &Case, ctx: &mut Context) -> Result<Finding> {
    let mut x = ctx.tokens(case)?;
    let head = cone_collapse::any_head(case.d, 1.0, ctx)?;
    let dynamics = cone_collapse::with_head(case, head)?;
    let eta = [0.01, 0.3, 5.0, f64::INFINITY][ctx.index(4)];
    let layer = Layer::new(eta)?;
    // No hemisphere counts as radius pi.
    let radius = |x: &crate::sphere::Tokens| cap_radius(x).unwrap_or(std::f64::consts::PI);
    let mut before = radius(&x);
    if before > std::f64::consts::FRAC_PI_2 {
        return Ok(Finding::Missed);
    }
    let mut worst: Option<Finding> = None;
    for k in 0..4 {
        let in_time = k % 2 == 0;
        if in_time {
            let fastest = dynamics.velocity(&x).chunks_exact(x.d()).map(norm).fold(f64::MIN_POSITIVE, nan_max);
            x = ctx.flowed(&dynamics, &x, (0.3 * before / fastest).min(50.0))?;
        } else {
            layer.apply(&dynamics, &mut x);
        }
        let after = radius(&x);
        // Below this the radius is that of rounding.
        if after < 1e-3 {
            break;
        }
        // The flow errs by its tolerance per displacement, which is at most the radius.
        let allowed = 1e-12 + if in_time { RTOL } else { 0.0 };
        let now = Finding::at_most(after, before * (1.0 + allowed));
        worst = Some(match worst {
            None => now,
            Some(old) => old.and(now),
        });
        before = after;
    }
    Ok(worst.unwrap_or(Finding::Missed))
}
