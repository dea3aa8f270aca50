//! Causal attention with frozen centres: the limits of all other tokens.

use crate::theorem::prelude::*;

const WEIGHTS: (f64, f64) = (1.0, 10.0);
const LEAST_EPS: f64 = 0.01;
const TOLERANCE: f64 = 1e-12;
const CONTROL_DISTANCE: f64 = 1.5;

/// # Derivation
///
/// Let `w = beta^{-1/2}`. By induction, the tokens before the one at `x` have limits within `eps w`
/// of centres. So the token ends at a zero of the field of these limits and of the centres; a zero
/// with a positive slope is unstable, and only a set of measure 0 of starts ends there. A source at
/// distance `s` pulls with `h(s)`, which increases up to `tau* < w` and decreases beyond.
///
/// `(1) x` at a distance `r` in `[eps w, (1 + eps) w]` from a centre: this centre pulls with at
/// least `h(r)`, and the tokens near it the same way. All others have a total weight of at most
/// `N - 2` (`N` without the token and without the least weight of the centre), are at least `(c -
/// eps) w - r > w` away and pull with at most `(N - 2) h((c - eps) w - r)`. If this is less than
/// `h(r)`, there is no zero. It is enough that it is so at both ends: with `D = (c - eps) w` the
/// derivative of `log h(r) - log h(D - r)` is `sin D / (sin r sin(D - r)) - 2 beta sin(D/2)
/// cos(D/2 - r)`, of the sign of `cos(D/2) - beta cos(D/2 - r) sin r sin(D - r)`; this decreases up
/// to `r = D/2`, is symmetric about it, and is negative at `r = (1 + eps) w`. So it changes its
/// sign at most once, from positive to negative.
///
/// `(2) x` farther than that from all centres: every source is farther than `w > tau*`, where `h`
/// decreases. So the field increases at a zero, which is unstable.
///
/// (3) What remains are zeros within `eps w` of a centre. The field points inwards at both ends of
/// each of these intervals, so the token, which solves an equation that tends to this field, ends
/// at one zero.
///
/// The theorem of the paper has the condition `N h((c - 1 - 2 eps) w) < h(eps w)`, which implies
/// both conditions here, and a second one, `-N g((c - 2 eps) w) < g(eps w)` with `g = h'`, which
/// gives only one zero near each centre. Its minus sign is missing in the theorem and present in
/// the lemma.
///
/// The conditions are nearly necessary. If all other tokens are at a second centre at the distance
/// `c w`, the last one ends where `h(r) = (N - 2) h(c w - r)`, and the first condition says that
/// this is less than `eps w` for sources that are closer by `eps w`.
pub static ENTRY: Claim = Claim {
    name: "frozen-centres",
    title: "Causal attention, frozen centres: every token ends within `eps beta^{-1/2}` of a \
            centre",
    lets: "`d = 2`, `w = beta^{-1/2}`, `h(x) = e^{beta (cos x - 1)} sin x`, and let `n` tokens \
           follow `m >= 1` frozen centres of weights `a_j` in [{LIGHTEST}, {HEAVIEST}], separated \
           by `c w` with `c > 2 + 2 eps` and `{LEAST_EPS} <= eps < 0.1`, with `N = n + sum_j a_j`",
    then: "If `(N - 2) h((c - 2 eps) w) < h(eps w)` and `(N - 2) h((c - 1 - 2 eps) w) < h((1 + \
           eps) w)`, then under causal SA, for almost every start, every token ends within `eps w` \
           of a centre.",
    tested: "at the least `c`: each token in turn is moved from its start to the stable point of \
             its own equation (mean shift), which is its limit once those before it are at theirs; \
             the velocities of causal SA vanish there, and at the start of the last token its \
             velocity is the weighted mean of sines, to `{TOLERANCE} (1 + beta)`",
    numbers: &[
        ("LIGHTEST", WEIGHTS.0),
        ("HEAVIEST", WEIGHTS.1),
        ("LEAST_EPS", LEAST_EPS),
        ("TOLERANCE", TOLERANCE),
        ("CONTROL_DISTANCE", CONTROL_DISTANCE),
    ],
    domain: Domain {
        n: Sizes::Range(1, 60),
        d: Sizes::Fixed(2),
        beta: Betas::Log(8.0, 400.0),
        dynamics: &["causal-sa"],
        laws: &[],
        draws: "as many centres as fit, or fewer, and uniform tokens; or two centres, and all \
                tokens but the last at the second",
        ..Domain::EQUAL_MASSES
    },
    narrower: "`V = I`",
    source: "Karagodin, Polyanskiy, Rigollet, arXiv:2411.04990, Theorem 5.2 (v2, as quoted in a \
             formal statement). The minus sign of its second condition is missing in the theorem, \
             and present in its lemma (lem:interaction) and in the proof; sharpened here (derived)",
    status: Status::Corrected,
    trials: (60, 400),
    trial: |case, ctx| {
        let eps = ctx.log_uniform_in(LEAST_EPS, 0.099);
        let start = if ctx.index(2) == 0 {
            everywhere(case, ctx, eps)
        } else {
            at_the_second(case, ctx, eps)
        };
        start.map_or(Ok(Finding::HypothesesMissed), |s| s.ends_near_centres(ctx, case.beta, eps))
    },
    control: Control {
        what: "two centres `{CONTROL_DISTANCE} beta^{-1/2}` apart",
        trial: |ctx| {
            let tokens = uniform_angles(60, ctx);
            let start =
                Start { centres: vec![0.0, CONTROL_DISTANCE / 8.0], weights: vec![2.0; 2], tokens };
            start.ends_near_centres(ctx, 64.0, 0.09)
        },
    },
    ..Claim::INEQUALITY
};

/// Angles and weights of the centres, and angles of the tokens.
struct Start {
    centres: Vec<f64>,
    weights: Vec<f64>,
    tokens: Vec<f64>,
}

/// Centres at distances that the conditions allow, and uniform tokens; `None` if not one fits.
fn everywhere(case: &Case, ctx: &mut Context, eps: f64) -> Option<Start> {
    let share = ctx.uniform_in(0.0, 1.0);
    let fits = |weights: &[f64]| {
        let c = separation(case.beta, case.n, weights, eps)?;
        (weights.len() as f64 * c <= TAU * case.beta.sqrt()).then_some(c)
    };
    let mut weights = Vec::new();
    while weights.len() < 12 && fits(&[weights.as_slice(), &[WEIGHTS.1]].concat()).is_some() {
        weights.push(ctx.log_uniform_in(WEIGHTS.0, WEIGHTS.1));
    }
    weights.truncate(((share * weights.len() as f64).ceil() as usize).max(1));
    if weights.is_empty() {
        return None;
    }
    let least = fits(&weights)? / case.beta.sqrt();
    let parts: Vec<f64> = weights.iter().map(|_| ctx.uniform_in(1e-9, 1.0)).collect();
    let (room, all) = (TAU - least * weights.len() as f64, parts.iter().sum::<f64>());
    let place = |at: &mut f64, part: &f64| {
        let here = *at;
        *at += least + room * part / all;
        Some(here)
    };
    let centres = parts.iter().scan(0.0, place).collect();
    Some(Start { centres, weights, tokens: uniform_angles(case.n, ctx) })
}

/// Two centres at the least distance; all tokens but the last at the second centre.
fn at_the_second(case: &Case, ctx: &mut Context, eps: f64) -> Option<Start> {
    let weights = vec![WEIGHTS.0, ctx.log_uniform_in(WEIGHTS.0, WEIGHTS.1)];
    let least = separation(case.beta, case.n, &weights, eps)? / case.beta.sqrt();
    let mut tokens = vec![least; case.n - 1];
    tokens.push(0.0);
    (2.0 * least <= TAU).then_some(Start { centres: vec![0.0, least], weights, tokens })
}

fn uniform_angles(n: usize, ctx: &mut Context) -> Vec<f64> {
    (0..n).map(|_| ctx.uniform_in(-PI, PI)).collect()
}

/// The smallest c, in steps of 1/100, from which both conditions hold; `None` if there is none
/// below half of the circle.
fn separation(beta: f64, n: usize, weights: &[f64], eps: f64) -> Option<f64> {
    let (width, others) = (beta.sqrt().recip(), n as f64 + weights.iter().sum::<f64>() - 2.0);
    let h = |x: f64| (beta * ((x * width).cos() - 1.0)).exp() * (x * width).sin();
    let holds = |c: f64| {
        c * width < PI
            && others * h(c - 2.0 * eps) < h(eps)
            && others * h(c - 1.0 - 2.0 * eps) < h(1.0 + eps)
    };
    (0..1000).map(|k| 2.01 + 2.0 * eps + 0.01 * f64::from(k)).find(|c| holds(*c))
}

impl Start {
    /// The largest distance of a limit from the nearest centre, against `eps beta^{-1/2}`.
    fn ends_near_centres(&self, ctx: &mut Context, beta: f64, eps: f64) -> Result<Finding> {
        let mut before = self.centres.clone();
        let mut worst = 0.0;
        for start in &self.tokens {
            let end = stable_point(beta, &before, &self.weights, *start);
            let far = |c: &f64| (end - c - TAU * ((end - c) / TAU).round()).abs();
            worst = nan_max(worst, self.centres.iter().map(far).fold(PI, nan_min));
            before.push(end);
        }
        let near = Finding::at_most(worst, eps / beta.sqrt());
        Ok(near.and(self.is_at_rest(ctx, beta, before)?))
    }

    /// Whether causal SA has these limits at rest, and moves the last token from its start by the
    /// weighted mean of sines.
    fn is_at_rest(&self, ctx: &mut Context, beta: f64, mut angles: Vec<f64>) -> Result<Finding> {
        let Some(start) = self.tokens.last() else { return Ok(Finding::at_most(0.0, 1.0)) };
        let (n, m) = (angles.len(), self.centres.len());
        let masses: Vec<f64> =
            (0..n).map(|j| self.weights.get(j).copied().unwrap_or(1.0)).collect();
        let (case, mut radial) = (Case::new(n, 2, beta, "causal-sa"), 0.0);
        let mut speeds = |angles: &[f64]| -> Result<Vec<f64>> {
            let x = Tokens::from_angles(angles)?.with_masses(&masses)?;
            let v = ctx.velocity(&case, &x)?;
            let pairs = v.chunks_exact(2).zip(x.rows());
            radial = pairs.clone().fold(radial, |r, (v, x)| nan_max(r, dot(v, x).abs()));
            Ok(pairs.map(|(v, x)| v[1] * x[0] - v[0] * x[1]).collect())
        };
        let resting = speeds(&angles)?[m..].iter().fold(0.0, |s, v| nan_max(s, v.abs()));
        angles[n - 1] = *start;
        let (mut pull, mut total) = (0.0, 0.0);
        for (t, mass) in angles.iter().zip(&masses) {
            let weight = mass * (beta * ((t - start).cos() - 1.0)).exp();
            (pull, total) = (pull + weight * (t - start).sin(), total + weight);
        }
        let moving = (speeds(&angles)?[n - 1] - pull / total).abs();
        let off = nan_max(radial, nan_max(resting, moving));
        Ok(Finding::identity(off, TOLERANCE * (1.0 + beta)))
    }
}

/// The limit of mean shift for a token under the tokens before it: the centres with their weights,
/// the others with the weight 1. On the circle mean shift is monotone, so it ends where the flow
/// does.
fn stable_point(beta: f64, before: &[f64], weights: &[f64], start: f64) -> f64 {
    let mut at = start;
    for _ in 0..20_000 {
        let nearest = before.iter().map(|t| (at - t).cos()).fold(-1.0, nan_max);
        let weights = weights.iter().copied().chain(std::iter::repeat(1.0));
        let pull = before.iter().zip(weights).fold((0.0, 0.0), |(s, c), (t, m)| {
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
