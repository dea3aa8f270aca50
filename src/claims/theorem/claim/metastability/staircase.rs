//! The staircase: plateaus of the energy.

use crate::flow::{Frame, Observer};
use crate::theorem::prelude::*;

const LEAST_BETA: f64 = 500.0;
const LARGEST_N: usize = 6;
/// The smallest theta_2, in units of log(beta)/sqrt(beta).
const NEAREST: f64 = 1.5;
const LARGEST_C: f64 = 30.0;
const ALLOWED: f64 = 1e-3;
const SHARE: f64 = 0.01;

/// # Derivation
///
/// With `k` tokens at one point and the others alone, `(1/n^2) sum_ij e^{beta (cos(theta_i -
/// theta_j) - 1)}` is `(k^2 + n - k)/n^2` plus cross terms of at most `e^{-beta (1 - cos gap)}`;
/// the printed energy, with the factor `1/(2 beta)`, has the maximum `1/(2 beta)` and every limit
/// of it is 0.
///
/// Two clusters at a gap `g` close at a speed of the order `sin(g) e^{-beta (1 - cos g)}`
/// (`dwell-law`), so their lifetime is `e^{beta (1 - cos g)}` up to powers of `beta`. Well prepared
/// means that `cos theta_i` exceeds the cosine of the next gap by `c log(beta)/beta`, `c > 1`: the
/// lifetime of the pair (first cluster, token `i`) is shorter than that of the next pair by at
/// least the factor `beta^{-c}`. So while token 2 joins, the others hardly move; then token 3
/// joins, and so on. The energy takes each of the levels `k = 1`, ..., `n`. It is between two
/// levels only while a gap shrinks from about the width of the kernel to the merge radius, a
/// fraction of the time that decreases with `beta`. With the time change of the source (where the
/// minimum over pairs is printed as a maximum) each step has a length of order 1.
pub static ENTRY: Claim = Claim {
    name: "staircase",
    title: "The energy increases in steps: one token after the other joins the first cluster",
    lets: "`beta >= {LEAST_BETA}`, and let at most {LARGEST_N} tokens on the circle be at `0 = \
           theta_1 < ... < theta_n <= pi` with `theta_2 >= {NEAREST} log(beta)/sqrt(beta)`, well \
           prepared: `cos(theta_i) > cos(theta_{i+1} - theta_i) + c log(beta)/beta` with `c > 1`. \
           Let tokens merge at the distance `1/sqrt(beta log beta)`",
    then: "While `k` tokens are in the first cluster, the energy `(1/n^2) sum_ij e^{beta \
           (cos(theta_i - theta_j) - 1)}` is within {ALLOWED} of `(k^2 + n - k)/n^2`, except for \
           one hundredth of the time.",
    tested: "for `k = 1`, ..., `n` up to `t = {FOREVER}`, with another `c <= {LARGEST_C}` for each \
             `i`",
    numbers: &[
        ("LEAST_BETA", LEAST_BETA),
        ("LARGEST_N", LARGEST_N as f64),
        ("NEAREST", NEAREST),
        ("ALLOWED", ALLOWED),
        ("FOREVER", FOREVER),
        ("LARGEST_C", LARGEST_C),
        ("PARTS", 1.0 / SHARE),
    ],
    domain: Domain {
        n: Sizes::Range(3, LARGEST_N),
        d: Sizes::Fixed(2),
        beta: Betas::Log(LEAST_BETA, 1e4),
        laws: &[],
        draws: "`theta_2` and `c`",
        condition: Some(Condition {
            text: "`theta_n <= pi` at the smallest `theta_2` and `c`",
            holds: |case| well_prepared_angles(case, NEAREST, &[1.0; LARGEST_N]).is_some(),
        }),
        ..Domain::EQUAL_MASSES
    },
    narrower: "USA (U3) and SA in physical time up to {FOREVER}, where the source has USA and its \
               own time change, with corners of the stairs that are sharp only like `1/log log \
               beta`; the stairs are derived for `beta` to `infinity`, the numbers {ALLOWED} and \
               1/{PARTS} observed",
    source: "arXiv:2410.06833, section 6 (energy and time scale corrected)",
    status: Status::Corrected,
    trials: (10, 160),
    trial: |case, ctx| levels(case, ctx, 0),
    constant: "the levels",
    control: Control {
        what: "every level replaced by the next higher one",
        trial: |ctx| levels(&Case::new(5, 2, 2000.0, "sa"), ctx, 1),
    },
    ..Claim::INEQUALITY
};

/// The largest theta_2, in these units, with which the tokens fit below pi.
fn widest_theta_2(case: &Case, c: &[f64]) -> f64 {
    let (mut fits, mut passes) = (NEAREST, PI * case.beta.sqrt());
    for _ in 0..50 {
        let middle = 0.5 * (fits + passes);
        if well_prepared_angles(case, middle, c).is_some() {
            fits = middle;
        } else {
            passes = middle;
        }
    }
    fits
}

/// Angles of a well prepared start; `None` if they do not fit below pi.
fn well_prepared_angles(case: &Case, first: f64, c: &[f64]) -> Option<Vec<f64>> {
    let mut angles = vec![0.0, first * case.beta.ln() / case.beta.sqrt()];
    for i in 2..case.n {
        let last = angles[i - 1];
        let cosine = last.cos() - c[i] * case.beta.ln() / case.beta;
        angles.push(last + if cosine >= -1.0 { cosine.acos() } else { 4.0 });
    }
    angles.iter().all(|a| *a <= PI).then_some(angles)
}

/// The distance of the energy from its level at every step of the integrator:
/// `(t, tokens left, distance)`.
struct Levels {
    beta: f64,
    levels: Vec<f64>,
    frames: Vec<(f64, usize, f64)>,
}

impl Levels {
    /// The share of the time with k tokens left during which the energy was not within the
    /// allowed distance of its level.
    fn level_distance(&self, k: usize) -> f64 {
        let frames: Vec<&(f64, usize, f64)> = self.frames.iter().filter(|f| f.1 == k).collect();
        let (mut off, mut all) = (0.0, 0.0);
        for pair in frames.windows(2) {
            let time = pair[1].0 - pair[0].0;
            all += time;
            if pair[0].2 > ALLOWED || pair[1].2 > ALLOWED {
                off += time;
            }
        }
        // Only one frame: judged at that moment.
        if all > 0.0 {
            off / all
        } else {
            f64::from(u8::from(frames.iter().any(|f| f.2 > ALLOWED)))
        }
    }
}

impl Observer for Levels {
    fn every_step(&self) -> bool {
        true
    }

    fn observe(&mut self, frame: &Frame) {
        let (left, energy) = (
            frame.tokens.n(),
            Energy::new(self.beta, EnergyScale::Unit).log_unit(frame.tokens).exp(),
        );
        self.frames.push((frame.t, left, largest([(energy - self.levels[left]).abs()])));
    }
}

fn levels(case: &Case, ctx: &mut Context, ahead: usize) -> Result<Finding> {
    let (n, beta) = (case.n, case.beta);
    let (first, mut more) = (ctx.uniform_in(0.0, 1.0), vec![0.0; n]);
    more[2..].iter_mut().for_each(|m| *m = ctx.uniform_in(0.0, 1.0));
    // The c_i are reduced if the tokens would pass pi.
    let start = [1.0, 0.5, 0.2, 0.05, 0.0].into_iter().find_map(|share| {
        let c: Vec<f64> = more.iter().map(|m| LARGEST_C.powf(share * m * m)).collect();
        well_prepared_angles(case, NEAREST, &c)?;
        let widest = widest_theta_2(case, &c);
        // Half of the draws are in the lower quarter: wide gaps close only after 1e300.
        well_prepared_angles(case, NEAREST * (widest / NEAREST).powf(first * first), &c)
    });
    let Some(angles) = start else { return Ok(Finding::HypothesesMissed) };
    // With `left` tokens the first cluster has n - left + 1.
    let level = |left: usize| (((n + 1 - left).pow(2) + left - 1) as f64) / (n * n) as f64;
    let levels = (0..=n)
        .map(|left| {
            if left == 0 {
                1.0
            } else {
                ctx.claimed_constant(level(left.saturating_sub(ahead).max(1)))
            }
        })
        .collect();
    let mut watch = Levels { beta, levels, frames: Vec::new() };
    let flow = dynamics::build(
        case.dynamics,
        false,
        &Spec { time_scale: TimeScale::U3, ..Spec::new(beta, n) },
    )?;
    let options = Options {
        rtol: 100.0 * ctx.rtol(),
        merge_radius: (beta * beta.ln()).sqrt().recip(),
        stop_at_one_cluster: true,
        ..Options::default()
    };
    let end = solve(&flow, &Tokens::from_angles(&angles)?, FOREVER, &options, &mut [&mut watch])?;
    if !end.outcome.is_success() {
        return Ok(Finding::Unfinished(end.outcome.to_string()));
    }
    let off = largest((end.clusters.n()..=n).map(|left| watch.level_distance(left)));
    Ok(Finding::at_most(off, SHARE))
}
