//! Dynamic metastability with explicit times.

use crate::flow::{Event, EventAction, Frame, Observer, Outcome};
use crate::theorem::prelude::*;
use std::f64::consts::E;

/// arXiv:2410.06833, main theorem, with corrected conditions.
///
/// # Derivation
///
/// For equal masses; w is a centre and h = `<x_i, w>` the least height of the tokens in its cap.
/// (1) Tokens of the cap contribute `A_ij (<x_j, w> - G_ij h) >= A_ij h (1 - G_ij) >= 0` to h'. A
/// token of another cap has `A_ij <= e^{-(1 - alpha) beta}` and `|<P x_j, w>| <= 1`. So
/// `h' >= -n e^{-(1 - alpha) beta}`, and from `1 - eps` to `1 - 2 eps` takes at least
/// `T2 = (eps/n) e^{(1 - alpha) beta}`.
///
/// (2) Let rho be the least inner product in a cap; `rho >= 1 - 8 eps` there. At the minimising
/// pair the terms of its own cap in the Gram equation are nonnegative (as in `min-inner`) and those
/// of the pair itself at least `(2/n) rho (1 - rho) e^{-beta (1 - rho)}`; other caps take at most
/// `2 n e^{-(1 - alpha) beta}`. That is at most half of the former while
/// `1 - rho >= e^{-lambda beta}`: exactly condition
/// `lambda < 1 - alpha - 8 eps - log(2 n^2/(1 - 8 eps))/beta`. So `y = 1 - rho` has
/// `y' <= -(1/n)(1 - y) y e^{-beta y}` there, and once below `e^{-lambda beta}` it stays:
/// `|x_i - x_j|^2 <= 2 y`.
///
/// From 8 eps to 1/beta that takes at most `n/(1 - 8 eps)` times the integral of `e^s/s` from 1 to
/// `8 eps beta`, at most `2 n e^{8 eps beta}`; from 1/beta to `e^{-lambda beta}`, where
/// `1 - y >= (beta - 1)/beta` and `e^{-beta y} >= 1/e`, at most `e n lambda beta^2/(beta - 1)`. The
/// sum is T1, and T1 < T2: the first part is `T2 e^{-gamma beta}` with
/// `gamma = 1 - alpha - 8 eps - log(2 n^2/eps)/beta`, and the second is below
/// `T2 (1 - e^{-gamma beta})`, which is the other bound on lambda. With a plus sign before the
/// logarithm, as printed, this last step fails. (USA in U2 has the same bounds on its weights.)
pub static ENTRY: Claim = Claim {
    name: "dynamic-metastability",
    title: "Separated tokens collapse within their caps and stay there for a time e^{(1 - alpha) \
            beta}",
    lets: "n tokens lie in caps <x, w> >= 1 - eps about two or three centres w in a plane, 0 < \
           eps < 1/16; alpha be the largest inner product between two caps <x, w> >= 1 - 2 eps, \
           let gamma = 1 - alpha - 8 eps - log(2 n^2/eps)/beta > 0, and let lambda > 0 be below 1 \
           - alpha - 8 eps - log(2 n^2/(1 - 8 eps))/beta and below (1 - e^{-gamma beta}) (beta - \
           1) eps e^{(1 - alpha) beta}/(e beta^2 n^2)",
    then: "Up to the time T2 = (eps/n) e^{(1 - alpha) beta}, every token stays in its own cap <x, \
           w> >= 1 - 2 eps. From T1 = 2n e^{8 eps beta} + e n lambda beta^2/(beta - 1) to T2, \
           tokens of one cap satisfy |x_i - x_j|^2 <= 2 e^{-lambda beta}. (SA, and USA in U2.)",
    domain: Domain {
        n: Sizes::Range(2, 32),
        d: Sizes::Range(2, 16),
        beta: Betas::Log(5.0, 60.0),
        laws: &["placed"],
        condition: Some(Condition {
            text: "beta > 1, 0 < eps < 1/16, gamma > 0, lambda > 0 below both bounds (with \
                   corrected signs); for antipodal caps some eps satisfies these",
            holds: |case| !admitted_eps(case, PI).is_empty(),
        }),
        corners: &[(10, 2, 20.0), (10, 3, 20.0), (16, 5, 24.0), (8, 2, 40.0)],
        ..Domain::EQUAL_MASSES
    },
    narrower: "two or three caps with centres in one plane; tokens within 1e-10 count as one; \
               lambda at least 1 % of its bound",
    source: "Geshkovski, Koubbi, Polyanskiy, Rigollet, arXiv:2410.06833, main theorem (condition \
               (i) corrected)",
    status: Status::Corrected,
    trials: (60, 400),
    trial: |case, ctx| {
        // Two or three caps at an angle, which is increased until some eps separates them.
        let (three, closer, pick) =
            (ctx.index(2) == 1, ctx.uniform_in(0.0, 1.0), ctx.uniform_in(0.0, 1.0));
        let widest = if three && case.n > 2 { 2.0 * PI / 3.0 } else { PI };
        let mut found = None;
        for (share, widest) in
            [(1.0, widest), (0.5, widest), (0.2, widest), (0.0, widest), (0.3, PI), (0.0, PI)]
        {
            let angle = widest - share * closer * 0.5 * PI;
            let choices = admitted_eps(case, angle);
            if let Some(choice) = choices
                .get(((pick * choices.len() as f64) as usize).min(choices.len().saturating_sub(1)))
            {
                found = Some((angle, widest, *choice));
                break;
            }
        }
        let Some((angle, widest, (eps, most))) = found else {
            return Ok(Finding::HypothesesMissed);
        };
        let lambda = most * 0.01f64.powf(ctx.uniform_in(0.0, 1.0)) * 0.999;
        let count = if widest < 3.0 { 3 } else { 2 };
        in_caps(
            case,
            ctx,
            &Caps {
                angles: (0..count).map(|k| angle * f64::from(k)).collect(),
                eps,
                lambda,
                alpha: cap_inner_product(angle, eps),
            },
            1.0,
        )
    },
    constant: "the lifetime T2",
    control: Control {
        what: "the demand that tokens have collapsed by T1/500",
        trial: |ctx| {
            let caps = Caps {
                angles: vec![0.0, PI],
                eps: 0.01,
                lambda: 1.0,
                alpha: cap_inner_product(PI, 0.01),
            };
            in_caps(&Case::new(10, 2, 20.0, "sa").with_law("placed"), ctx, &caps, 1.0 / 500.0)
        },
    },
    ..Claim::INEQUALITY
};

/// Largest inner product between two caps `<x, w> >= 1 - 2 eps` at an angle: their geodesic radius
/// is r = arccos(1 - 2 eps), so their nearest points have distance `angle - 2r`.
fn cap_inner_product(angle: f64, eps: f64) -> f64 {
    (angle - 2.0 * (1.0 - 2.0 * eps).acos()).max(0.0).cos()
}

/// Values of eps that separate caps at an angle, each with the bound of lambda.
fn admitted_eps(case: &Case, angle: f64) -> Vec<(f64, f64)> {
    let (n, beta) = (case.n as f64, case.beta);
    let bound = |eps: f64| {
        let height = 1.0 - cap_inner_product(angle, eps);
        let gamma = height - 8.0 * eps - (2.0 * n * n / eps).ln() / beta;
        let first = (height * beta).exp() * (beta - 1.0) * eps / (beta * beta * n * n * E)
            * (1.0 - (-gamma * beta).exp());
        let second = height - (2.0 * n * n / (1.0 - 8.0 * eps)).ln() / beta - 8.0 * eps;
        (gamma > 0.0 && first > 0.0 && second > 0.0).then_some((eps, first.min(second)))
    };
    (1..=24).filter_map(|k| bound(0.0624 * 0.7f64.powi(k - 1))).collect()
}

/// A configuration that meets the hypotheses.
struct Caps {
    angles: Vec<f64>,
    eps: f64,
    lambda: f64,
    alpha: f64,
}

impl Caps {
    fn centre(&self, d: usize, k: usize) -> Vec<f64> {
        let mut w = vec![0.0; d];
        (w[0], w[1]) = (self.angles[k].cos(), self.angles[k].sin());
        w
    }

    /// Tokens in the caps by turns; a fifth of them on the edge.
    fn start(&self, case: &Case, ctx: &mut Context) -> Result<Tokens> {
        let mut x = Vec::new();
        for i in 0..case.n {
            let mut row = self.centre(case.d, i % self.angles.len());
            let height = 1.0 - self.eps * ctx.uniform_in(0.0, 1.25).min(1.0);
            let mut aside = ctx.normals(case.d);
            let along = dot(&aside, &row);
            axpy(-along, &row, &mut aside);
            retract(&mut aside);
            row.iter_mut()
                .zip(&aside)
                .for_each(|(w, a)| *w = height * *w + (1.0 - height * height).sqrt() * a);
            x.extend(row);
        }
        Tokens::normalised(case.d, x)
    }
}

/// True if some token has left all caps; a token on its way to another cap must.
struct LeaveCaps {
    centres: Vec<Vec<f64>>,
    radius: f64,
}

impl Event for LeaveCaps {
    fn name(&self) -> String {
        "leave-caps".into()
    }

    fn value(&self, x: &Tokens) -> f64 {
        let nearest = |row: &[f64]| self.centres.iter().map(|w| dist(row, w)).fold(PI, f64::min);
        x.rows().map(nearest).fold(0.0, f64::max) - self.radius
    }
}

/// Records at every step the largest distance of tokens from the centres of their own caps, and
/// from time T1 on their distances from each other.
struct CapRecorder<'a> {
    centres: &'a [Vec<f64>],
    from: f64,
    seen: bool,
    farthest: f64,
    spread2: f64,
}

impl Observer for CapRecorder<'_> {
    fn next_time(&self) -> Option<f64> {
        (!self.seen).then_some(self.from)
    }

    fn every_step(&self) -> bool {
        true
    }

    fn observe(&mut self, frame: &Frame) {
        let (m, labels) = (self.centres.len(), frame.labels);
        for (i, &at) in labels.iter().enumerate() {
            self.farthest = self.farthest.max(dist(frame.tokens.row(at), &self.centres[i % m]));
        }
        if frame.t >= self.from {
            self.seen = true;
            for i in 0..labels.len() {
                for j in (i % m..i).step_by(m).filter(|&j| labels[j] != labels[i]) {
                    self.spread2 = self
                        .spread2
                        .max(chord2(frame.tokens.row(labels[i]), frame.tokens.row(labels[j])));
                }
            }
        }
    }
}

fn in_caps(case: &Case, ctx: &mut Context, caps: &Caps, speed_up: f64) -> Result<Finding> {
    let (n, beta, eps) = (case.n as f64, case.beta, caps.eps);
    let t1 = (2.0 * n * (8.0 * eps * beta).exp()
        + E * n * caps.lambda * beta * beta / (beta - 1.0))
        * speed_up;
    let t2 = ctx.claimed_constant(eps / n * ((1.0 - caps.alpha) * beta).exp());
    let x = caps.start(case, ctx)?;
    let centres: Vec<Vec<f64>> = (0..caps.angles.len()).map(|k| caps.centre(case.d, k)).collect();
    let radius = (1.0 - 2.0 * eps).acos();
    let leave = LeaveCaps { centres: centres.clone(), radius };
    let options = Options {
        rtol: ctx.rtol(),
        events: vec![(Box::new(leave), EventAction::Stop)],
        ..Options::default()
    };
    let flow = dynamics::build(
        case.dynamics,
        false,
        &Spec { time_scale: TimeScale::U2, ..Spec::new(beta, case.n) },
    )?;
    let mut watch =
        CapRecorder { centres: &centres, from: t1, seen: false, farthest: 0.0, spread2: 0.0 };
    let end = solve(&flow, &x, t2, &options, &mut [&mut watch])?;
    match end.outcome {
        o if o.end_state_is_known() => {}
        Outcome::Event { t, .. } => return Ok(Finding::at_least(t, t2)),
        other => return Ok(Finding::Unfinished(other.to_string())),
    }
    let together = Finding::at_most(watch.spread2, 2.0 * (-caps.lambda * beta).exp());
    Ok(Finding::at_most(watch.farthest, radius).and(together))
}
