//! Dynamic metastability with explicit times.

use crate::flow::{Event, EventAction, Frame, Observer, Outcome};
use crate::num::quadrature::integrate;
use crate::theorem::prelude::*;
use std::f64::consts::E;

const LARGEST_EXPONENT: f64 = 30.0;
const CONTROL_SHARE: f64 = 0.1;

/// # Derivation
///
/// For equal masses; `w` is a centre and `h` = `<x_i, w>` the least height of the tokens in its
/// cap. (1) Tokens of the cap contribute `A_ij (<x_j, w> - G_ij h) >= A_ij h (1 - G_ij) >= 0` to
/// `h'`. A token of another cap has `A_ij <= e^{-(1 - alpha) beta}` and `|<P x_j, w>| <= 1`. So
/// `h' >= -n e^{-(1 - alpha) beta}`, and from `1 - eps` to `1 - 2 eps` takes at least `T2 = (eps/n)
/// e^{(1 - alpha) beta}`.
///
/// (2) Let `rho = 1 - y` be the least inner product in a cap of `m >= 2` tokens; `y <= 4 eps` at
/// the start and `y <= 8 eps` in the larger cap. At the minimising pair `(i, j)` a token `k` of the
/// cap contributes `G_kj - G_ik rho >= rho (1 - G_ik) >= 0` times its weight to token `i`, and
/// likewise to `j`. With equal weights both together are `(1 - rho) (G_ki + G_kj) >= 2 rho (1 -
/// rho)`: every token of the cap pulls as much as two tokens alone do, so no factor `1/n` is lost.
/// The weights are at least `e^{-beta y}/(m (1 + delta))` for SA, `delta = (n - m) e^{-(1 - alpha)
/// beta}/m`, and `e^{-beta y}/n` for USA (U2). The other caps take at most `2 (n - m) e^{-(1 -
/// alpha) beta}`, over `n` for USA. By the bound of `lambda` without `gamma`, `e^{-(1 - alpha)
/// beta}` is below `(1 - 8 eps) e^{-lambda beta - 8 eps beta}/(2 n^2)`. So `delta <= 1/32`, and
/// while `y >= e^{-lambda beta}` the other caps take at most the share `(1 + delta)/16`. Since
/// `1/(1 + 1/32) - 1/16 > 9/10`, `y' <= -(9/5) b (1 - y) y e^{-beta y}` with `b = 1` for SA and
/// `b = m/n` for USA, and `y` stays below `e^{-lambda beta}` once it is there. Finally `|x_i -
/// x_j|^2 = 2 (1 - G_ij) <= 2 y`.
///
/// T1 is the time that this equation needs. Two tokens close at the rate 2 instead of 9/5. The
/// source has `2 n e^{8 eps beta} + e n lambda beta^2/(beta - 1)`, which is larger by a factor of
/// at least `n` for SA and 3 for USA. It is smaller than T2: its first part is `T2 e^{-gamma
/// beta}`, and the bound of `lambda` with `gamma` says that the second is below `T2 (1 - e^{-gamma
/// beta})`. With a plus sign before the logarithm of `gamma`, as printed in that bound, this step
/// fails.
pub static ENTRY: Claim = Claim {
    name: "dynamic-metastability",
    title: "Separated tokens collapse within their caps and stay there for a time `e^{(1 - alpha) \
            beta}`",
    lets: "`n` tokens lie in caps `<x, w> >= 1 - eps`, `0 < eps < 1/16`. Let `alpha` be the \
           largest inner product between two caps `<x, w> >= 1 - 2 eps`, and `gamma = 1 - alpha - \
           8 eps - log(2 n^2/eps)/beta > 0`. Let `lambda > 0` be below `1 - alpha - 8 eps - log(2 \
           n^2/(1 - 8 eps))/beta` and below `(1 - e^{-gamma beta}) (beta - 1) eps e^{(1 - alpha) \
           beta}/(e beta^2 n^2)`",
    then: "Up to the time `T2 = (eps/n) e^{(1 - alpha) beta}`, every token stays in its own cap \
           `<x, w> >= 1 - 2 eps`. From `T1 = (5/(9 b)) int e^{beta y}/(y (1 - y)) dy` to T2, over \
           `y` from `e^{-lambda beta}` to `4 eps`, tokens of one cap satisfy `|x_i - x_j|^2 <= 2 \
           e^{-lambda beta}`. Here `b = 1` for SA; `b = m/n` for USA (U2) if every cap has one \
           token or at least `m`.",
    tested: "at every step of the integrator",
    numbers: &[("LARGEST_EXPONENT", LARGEST_EXPONENT), ("PARTS", 1.0 / CONTROL_SHARE)],
    domain: Domain {
        n: Sizes::Range(2, 32),
        d: Sizes::Range(2, 16),
        beta: Betas::Log(5.0, 60.0),
        laws: &[],
        draws: "`eps`, `lambda`, two or three caps with centres in one plane, and tokens in them",
        condition: Some(Condition {
            text: "`e^{-lambda beta} <= eps` for some `eps` and `lambda` that are admitted by \
                   antipodal caps",
            holds: |case| !admitted_eps(case, PI).is_empty(),
        }),
        corners: &[(10, 2, 20.0), (10, 3, 20.0), (16, 5, 24.0), (8, 2, 40.0)],
        ..Domain::EQUAL_MASSES
    },
    narrower: "two or three caps with centres in one plane; `e^{-{LARGEST_EXPONENT}} <= e^{-lambda \
               beta} <= eps`: above `eps` the second part is nearly empty, and below \
               `e^{-{LARGEST_EXPONENT}}` double precision loses the distances",
    source: "arXiv:2410.06833, main theorem (the bound of lambda with gamma corrected; T1 is \
             smaller and derived)",
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
        let Some((angle, widest, (eps, least, most))) = found else {
            return Ok(Finding::HypothesesMissed);
        };
        let lambda = least * (most / least).powf(ctx.uniform_in(0.0, 1.0));
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
    constant: "the time of collapse T1",
    control: Control {
        what: "the demand that tokens have collapsed by T1/{PARTS}",
        trial: |ctx| {
            let caps = Caps {
                angles: vec![0.0, PI],
                eps: 0.01,
                lambda: 1.0,
                alpha: cap_inner_product(PI, 0.01),
            };
            in_caps(&Case::new(10, 2, 20.0, "sa"), ctx, &caps, CONTROL_SHARE)
        },
    },
    ..Claim::INEQUALITY
};

/// Largest inner product between two caps `<x, w> >= 1 - 2 eps` at an angle: their geodesic radius
/// is r = arccos(1 - 2 eps), so their nearest points have distance `angle - 2r`.
fn cap_inner_product(angle: f64, eps: f64) -> f64 {
    (angle - 2.0 * (1.0 - 2.0 * eps).acos()).max(0.0).cos()
}

/// Values of eps that separate caps at an angle, each with the range of lambda.
fn admitted_eps(case: &Case, angle: f64) -> Vec<(f64, f64, f64)> {
    let (n, beta) = (case.n as f64, case.beta);
    let range = |eps: f64| {
        let height = 1.0 - cap_inner_product(angle, eps);
        let gamma = height - 8.0 * eps - (2.0 * n * n / eps).ln() / beta;
        let first = (height * beta).exp() * (beta - 1.0) * eps / (beta * beta * n * n * E)
            * (1.0 - (-gamma * beta).exp());
        let second = height - (2.0 * n * n / (1.0 - 8.0 * eps)).ln() / beta - 8.0 * eps;
        let (least, most) =
            (-eps.ln() / beta, (0.999 * first.min(second)).min(LARGEST_EXPONENT / beta));
        (gamma > 0.0 && most > least).then_some((eps, least, most))
    };
    (1..=24).filter_map(|k| range(0.0624 * 0.7f64.powi(k - 1))).collect()
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

    /// The time T1 of the claim.
    fn time_of_collapse(&self, case: &Case) -> Result<f64> {
        // Tokens are in the caps by turns, so a cap has a share of them, rounded down or up.
        let smallest = (case.n / self.angles.len()).max(2) as f64;
        let share = match case.row_weights()? {
            RowWeights::Exponential => smallest / case.n as f64,
            _ => 1.0,
        };
        let density = |log_y: f64| (case.beta * log_y.exp()).exp() / (1.0 - log_y.exp());
        let (from, to) = (-self.lambda * case.beta, (4.0 * self.eps).ln());
        Ok(5.0 / (9.0 * share) * integrate(density, from, to, 1e-12).value.max(0.0))
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
        let nearest = |row: &[f64]| self.centres.iter().map(|w| dist(row, w)).fold(PI, nan_min);
        x.rows().map(nearest).fold(0.0, nan_max) - self.radius
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
            let from_centre = dist(frame.tokens.row(at), &self.centres[i % m]);
            self.farthest = nan_max(self.farthest, from_centre);
        }
        if frame.t >= self.from {
            self.seen = true;
            for i in 0..labels.len() {
                for j in (i % m..i).step_by(m).filter(|&j| labels[j] != labels[i]) {
                    let apart = chord2(frame.tokens.row(labels[i]), frame.tokens.row(labels[j]));
                    self.spread2 = nan_max(self.spread2, apart);
                }
            }
        }
    }
}

fn in_caps(case: &Case, ctx: &mut Context, caps: &Caps, speed_up: f64) -> Result<Finding> {
    let (n, beta, eps) = (case.n, case.beta, caps.eps);
    let t1 = ctx.claimed_constant(speed_up * caps.time_of_collapse(case)?);
    if t1.is_nan() {
        return Err(Error::Numerical { what: "the time T1 is NaN".into() });
    }
    let t2 = eps / n as f64 * ((1.0 - caps.alpha) * beta).exp();
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
        &Spec { time_scale: TimeScale::U2, ..Spec::new(beta, n) },
    )?;
    let mut watch =
        CapRecorder { centres: &centres, from: t1, seen: false, farthest: 0.0, spread2: 0.0 };
    let end = solve(&flow, &x, t2, &options, &mut [&mut watch])?;
    match end.outcome {
        o if o.end_state_is_known() => {}
        Outcome::Event { t, .. } => return Ok(Finding::at_least(t, t2)),
        other => return Ok(Finding::Unfinished(other.to_string())),
    }
    Ok(Finding::at_most(watch.spread2, 2.0 * (-caps.lambda * beta).exp())
        .and(Finding::answer(watch.farthest <= radius)))
}
