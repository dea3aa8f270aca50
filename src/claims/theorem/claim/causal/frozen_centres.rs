//! Causal attention with frozen centres: the limits of all other tokens.

use crate::theorem::prelude::*;

/// arXiv:2411.04990, Theorem 5.2, with the sign that its second condition needs.
///
/// # Derivation
///
/// Let `w = beta^{-1/2}`. By induction over the tokens, those before are at their limits, within
/// `eps w` of centres, so the next one sees sources of total weight at most N, each within `eps w`
/// of a centre, and each centre itself with weight at least 1. A source at distance x pulls with
/// h(x), which increases up to `tau* < w` and decreases beyond; where the field has the slope
/// `-sum g > 0` a zero of it is unstable.
///
/// (1) At a distance in `[eps w, (1 + eps) w]` from a centre, that centre pulls with at least
/// `h(eps w)` (h has one peak, and at `(1 + eps) w` it is still larger) and its neighbours the same
/// way; all others are at least `(c - 1 - 2 eps) w` away and pull with at most
/// `N h((c - 1 - 2 eps) w)`, which is less by the first condition, so there is no zero of the
/// field. (2) Farther than that from all centres every source is farther than `w > tau*`, where g <
/// 0: a zero of the field is unstable, and only a set of measure 0 of starts ends in one. (3)
/// Within `eps w` of a centre, this centre contributes at least `g(eps w) > 0`, the tokens near it,
/// within `2 eps w`, a positive amount (here eps < 0.1 is used), and the others, at least
/// `(c - 2 eps) w` away, at least `N g((c - 2 eps) w)`, which is negative. So the field is
/// decreasing if `-N g((c - 2 eps) w) < g(eps w)`: there is one stable point. The second condition
/// is printed without its minus sign; its left-hand side is then negative and the condition is
/// void.
pub static ENTRY: Claim = Claim {
    name: "frozen-centres",
    title: "Causal attention, frozen centres: every token ends within eps beta^{-1/2} of a centre",
    lets: "d = 2, h(x) = e^{beta (cos x - 1)} sin x and g = h'; n tokens follow m >= 1 frozen \
           centres of weights a_j in [1, 10], separated by c beta^{-1/2} with c > 2 + 2 eps and \
           0.01 <= eps < 0.1, under causal SA, and let N = n + sum_j a_j",
    then: "If N h((c-1-2 eps) beta^{-1/2}) < h(eps beta^{-1/2}) and -N g((c-2 eps) beta^{-1/2}) < \
           g(eps beta^{-1/2}), then for almost every start every token ends within eps \
           beta^{-1/2} of a centre.",
    domain: Domain {
        n: Sizes::Range(1, 60),
        d: Sizes::Fixed(2),
        beta: Betas::Log(8.0, 400.0),
        dynamics: &["causal-sa"],
        ..Domain::EQUAL_MASSES
    },
    narrower: "V = I; at most as many centres as fit; integrated to t = 5, then each token in turn \
               is moved to the stable point of its own equation (mean shift), which is its limit \
               once those before it are at theirs",
    source: "Karagodin, Polyanskiy, Rigollet, arXiv:2411.04990, Theorem 5.2 (second condition \
               printed without its minus sign)",
    status: Status::Corrected,
    trials: (60, 400),
    trial: |case, ctx| {
        let eps = 0.01 * 9.9f64.powf(ctx.uniform_in(0.0, 1.0));
        let share = ctx.uniform_in(0.0, 1.0);
        // As many centres as fit with the separation that their weights require.
        let fits = |weights: &[f64]| {
            let c = separation(case.beta, case.n as f64 + weights.iter().sum::<f64>(), eps)?;
            (weights.len() as f64 * c <= TAU * case.beta.sqrt()).then_some(c)
        };
        let mut weights = Vec::new();
        while weights.len() < 12 && fits(&[weights.as_slice(), &[10.0]].concat()).is_some() {
            weights.push(10f64.powf(ctx.uniform_in(0.0, 1.0)));
        }
        weights.truncate(((share * weights.len() as f64).ceil() as usize).max(1));
        let (false, Some(c)) = (weights.is_empty(), fits(&weights)) else {
            return Ok(Finding::HypothesesMissed);
        };
        let parts: Vec<f64> = weights.iter().map(|_| ctx.uniform_in(0.0, 1.0)).collect();
        let width = case.beta.sqrt().recip();
        let room = TAU - c * width * weights.len() as f64;
        let mut at = 0.0;
        let mut centres = Vec::new();
        for part in &parts {
            centres.push(at);
            at += c * width
                + room * (part + 1e-9) / (parts.iter().sum::<f64>() + 1e-9 * parts.len() as f64);
        }
        end_near_centres(case, ctx, &centres, &weights, eps)
    },
    control: Control {
        what: "two centres 1.5 beta^{-1/2} apart",
        trial: |ctx| {
            end_near_centres(
                &Case::new(60, 2, 64.0, "causal-sa"),
                ctx,
                &[0.0, 1.5 / 8.0],
                &[2.0; 2],
                0.09,
            )
        },
    },
    ..Claim::INEQUALITY
};

/// The smallest c, in steps of 1/100, from which both conditions hold; `None` if there is none
/// below half of the circle.
fn separation(beta: f64, total: f64, eps: f64) -> Option<f64> {
    let width = beta.sqrt().recip();
    let h = |x: f64| (beta * (x.cos() - 1.0)).exp() * x.sin();
    let g = |x: f64| (beta * (x.cos() - 1.0)).exp() * (x.cos() - beta * x.sin().powi(2));
    let holds = |c: f64| {
        let farthest = (c - 1.0 - 2.0 * eps) * width;
        farthest < PI
            && total * h(farthest) < h(eps * width)
            && -total * g((c - 2.0 * eps) * width) < g(eps * width)
    };
    (0..1000).map(|k| 2.01 + 2.0 * eps + 0.01 * f64::from(k)).find(|c| holds(*c))
}

fn end_near_centres(
    case: &Case,
    ctx: &mut Context,
    centres: &[f64],
    weights: &[f64],
    eps: f64,
) -> Result<Finding> {
    let m = centres.len();
    let mut angles = centres.to_vec();
    angles.extend(ctx.tokens(case)?.angles());
    let masses: Vec<f64> =
        weights.iter().copied().chain(std::iter::repeat_n(1.0, case.n)).collect();
    let x = Tokens::from_angles(&angles)?.with_masses(&masses)?;
    let flow = dynamics::build("sa", true, &Spec::new(case.beta, x.n()))?;
    let mut limits = ctx.flow_to_with_tolerance(&flow, &x, 5.0, 1e3)?.angles();
    // The centres count as frozen: until then they would move by 1e-5 of a width.
    limits[..m].copy_from_slice(centres);
    for k in m..limits.len() {
        limits[k] = stable_point(case.beta, &limits[..k], &masses, limits[k]);
    }
    let far = |t: f64| {
        centres.iter().map(|c| (t - c - TAU * ((t - c) / TAU).round()).abs()).fold(PI, f64::min)
    };
    let worst = limits[m..].iter().map(|t| far(*t)).fold(0.0, f64::max);
    Ok(Finding::at_most(worst, eps / case.beta.sqrt()))
}

/// The limit of mean shift for a token under the tokens before it.
fn stable_point(beta: f64, before: &[f64], masses: &[f64], start: f64) -> f64 {
    let mut at = start;
    for _ in 0..20_000 {
        let nearest = before.iter().map(|t| (at - t).cos()).fold(-1.0, f64::max);
        let pull = before.iter().zip(masses).fold((0.0, 0.0), |(s, c), (t, m)| {
            let w = m * (beta * ((t - at).cos() - nearest)).exp();
            (s + w * (t - at).sin(), c + w * (t - at).cos())
        });
        let step = pull.0.atan2(pull.1);
        at += step;
        if step.abs() < 1e-14 {
            break;
        }
    }
    at
}
