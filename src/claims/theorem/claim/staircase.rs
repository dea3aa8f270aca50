//! The staircase: plateau levels of the energy.

use crate::flow::{Frame, Observer};
use crate::theorem::prelude::*;

/// 2410.06833, section 6.
///
/// # Derivation
///
/// With k tokens at one place and the others alone, `(1/n^2) sum_ij e^{beta (cos(theta_i - theta_j) - 1)}` is `(k^2 + n - k)/n^2` plus
/// cross terms of at most `e^{-beta (1 - cos gap)}`; the printed energy, with the factor 1/(2 beta), has the maximum 1/(2 beta) and every
/// limit of it is 0.
///
/// Two clusters at a gap g close at a speed of the order `sin(g) e^{-beta (1 - cos g)}` (`dwell-law`), so their life is `e^{beta (1 - cos
/// g)}` up to powers of beta. Well prepared means that `cos theta_i` exceeds the cosine of the next gap by `c log(beta)/beta`, c > 1: the
/// life of the pair (first cluster, token i) is shorter than that of the next by the factor `beta^{-c}` at least. So while token 2 joins,
/// the others stand still, then token 3, and so on: the energy is at each of the levels for k = 1, ..., n and between them only while a
/// gap falls from about the kernel's width to the radius at which tokens join, a share of the time that falls with beta. On the clock of
/// the source (its minimum over pairs printed as a maximum) each step of the stairs gets a length of order 1.
pub static ENTRY: Claim = Claim {
    name: "staircase",
    title: "The energy climbs a staircase: one token after the other joins the first cluster",
    statement: "Circle, 0 = theta_1 < ... < theta_n <= pi, theta_2 at least 1.5 log(beta)/sqrt(beta), well prepared: cos(theta_i) > cos(theta_{i+1} - theta_i) + c log(beta)/beta with c > 1; tokens join at 1/sqrt(beta log \
                beta). With k tokens in the first cluster the energy (1/n^2) sum e^{beta (cos - 1)} stands within 1e-3 of (k^2 + n - k)/n^2 for all but one hundredth of the time, k = 1, ..., n, up to t = 1e300.",
    domain: Domain {
        n: Sizes::Range(3, 6),
        d: Sizes::Fixed(2),
        beta: Betas::Log(500.0, 1e4),
        laws: &["placed"],
        also: Some(Also { text: "theta_n <= pi at the smallest theta_2 and c", holds: |case| places(case, 1.5, &[1.0; 6]).is_some() }),
        ..Domain::EQUAL_MASSES
    },
    narrower: "the paper: USA; on its own clock, where the corners of the stairs are sharp only like 1/log log beta; here USA (U3) and SA, the share of physical time, mergers later than 1e300 not seen; the stairs are derived for beta to infinity, 1e-3 and the hundredth observed",
    citation: "arXiv:2410.06833, section 6 (energy and time scale corrected)",
    status: Status::Corrected,
    trials: (10, 160),
    trial: |case, ctx| levels(case, ctx, 0),
    perturbed: "the levels",
    control: Control {
        what: "every level one step of the stairs too high",
        trial: |ctx| levels(&Case::new(5, 2, 2000.0, "sa").with_law("placed"), ctx, 1),
    },
    ..Claim::INEQUALITY
};

/// Angles of a well prepared start, or nothing when they do not fit below pi.
fn places(case: &Case, first: f64, c: &[f64]) -> Option<Vec<f64>> {
    let mut angles = vec![0.0, first * case.beta.ln() / case.beta.sqrt()];
    for i in 2..case.n {
        let last = angles[i - 1];
        let cosine = last.cos() - c[i] * case.beta.ln() / case.beta;
        angles.push(last + if cosine >= -1.0 { cosine.acos() } else { 4.0 });
    }
    angles.iter().all(|a| *a <= std::f64::consts::PI).then_some(angles)
}

/// Distance of the energy from the level of its step, at every step of the flow: `(t, tokens left, distance)`.
struct Levels {
    beta: f64,
    levels: Vec<f64>,
    frames: Vec<(f64, usize, f64)>,
}

impl Levels {
    /// Share of the time with k tokens left during which the energy was farther than 1e-3 from its level.
    fn off(&self, k: usize) -> f64 {
        let frames: Vec<&(f64, usize, f64)> = self.frames.iter().filter(|f| f.1 == k).collect();
        let (mut off, mut all) = (0.0, 0.0);
        for pair in frames.windows(2) {
            let time = pair[1].0 - pair[0].0;
            all += time;
            if pair[0].2 > 1e-3 || pair[1].2 > 1e-3 {
                off += time;
            }
        }
        // One frame only: the level at that moment.
        if all > 0.0 { off / all } else { f64::from(u8::from(frames.iter().any(|f| f.2 > 1e-3))) }
    }
}

impl Observer for Levels {
    fn every_step(&self) -> bool {
        true
    }

    fn observe(&mut self, frame: &Frame) {
        let (left, energy) = (frame.tokens.n(), Energy::new(self.beta, EnergyScale::Unit).log_unit(frame.tokens).exp());
        self.frames.push((frame.t, left, (energy - self.levels[left]).abs()));
    }
}

fn levels(case: &Case, ctx: &mut Context, ahead: usize) -> Result<Finding> {
    let (n, beta) = (case.n, case.beta);
    let (first, mut more) = (ctx.uniform_in(0.0, 1.0), vec![0.0; n]);
    more[2..].iter_mut().for_each(|m| *m = ctx.uniform_in(0.0, 1.0));
    // As far apart as drawn, or less where that would pass pi.
    let start = [1.0, 0.5, 0.2, 0.05, 0.0].into_iter().find_map(|share| {
        let c: Vec<f64> = more.iter().map(|m| 1.0 + 3.0 * share * m).collect();
        places(case, 1.5 + share * first, &c)
    });
    let Some(angles) = start else { return Ok(Finding::Missed) };
    // With `left` tokens the first cluster has n - left + 1.
    let level = |left: usize| (((n + 1 - left).pow(2) + left - 1) as f64) / (n * n) as f64;
    let levels = (0..=n).map(|left| if left == 0 { 1.0 } else { ctx.stated(level(left.saturating_sub(ahead).max(1))) }).collect();
    let mut watch = Levels { beta, levels, frames: Vec::new() };
    let flow = dynamics::build(case.dynamics, false, &Spec { time_scale: TimeScale::U3, ..Spec::new(beta, n) })?;
    let options = Options {
        rtol: 100.0 * ctx.rtol(),
        merge_radius: (beta * beta.ln()).sqrt().recip(),
        stop_at_one_cluster: true,
        ..Options::default()
    };
    let end = solve(&flow, &Tokens::from_angles(&angles)?, 1e300, &options, &mut [&mut watch])?;
    if !end.outcome.is_success() {
        return Ok(Finding::Unfinished(end.outcome.to_string()));
    }
    let off = (end.clusters.n()..=n).map(|left| watch.off(left)).fold(0.0, f64::max);
    Ok(Finding::at_most(off, 0.01))
}
