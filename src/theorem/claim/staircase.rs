//! The staircase: plateau levels of the energy.

use super::{Case, Claim, Context, Control, Expected, Finding, plain};
use crate::error::Result;
use crate::flow::{Frame, Observer, Options, solve};
use crate::sphere::Tokens;

/// 2410.06833, section 6.
pub static ENTRY: Claim = Claim {
    name: "staircase",
    title: "The energy climbs a staircase with levels sum (m_q / n)^2",
    statement: "Circle, n tokens with gaps of order log beta / sqrt beta, the nearest pair of clusters joins first: between any two mergers the energy (1/n^2) sum e^{beta (cos - 1)} stands within 1e-3 of the sum of squared \
                cluster shares for more than half of the time, merger by merger, up to t = 1e300.",
    hypotheses: "d = 2, gaps from 1 to 2.2 times log(beta)/sqrt(beta)",
    applies: |case| case.d == 2 && case.beta >= 500.0,
    citation: "arXiv:2410.06833, section 6 (energy and time scale corrected)",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[
        Case::new(4, 2, 500.0, "sa"),
        Case::new(4, 2, 1000.0, "sa"),
        Case::new(5, 2, 1500.0, "sa"),
        Case::new(5, 2, 2000.0, "sa"),
        Case::new(4, 2, 3000.0, "sa"),
        Case::new(5, 2, 4000.0, "sa"),
        Case::new(6, 2, 4000.0, "sa"),
    ],
    quick: 7,
    trials: (3, 20),
    trial: |case, ctx| levels(case, ctx, 1.0),
    control: Control { what: "levels sum m_q / n^2 without the square", trial: |ctx| levels(&Case::new(5, 2, 2000.0, "sa"), ctx, 0.5) },
};

/// Distance of the energy from the level of its clusters, at every step: `(t, clusters, distance)`.
struct Levels {
    beta: f64,
    power: f64,
    frames: Vec<(f64, usize, f64)>,
}

impl Levels {
    /// Share of the time with k clusters during which the energy was within 1e-3 of its level.
    fn held(&self, k: usize) -> f64 {
        let frames: Vec<&(f64, usize, f64)> = self.frames.iter().filter(|f| f.1 == k).collect();
        let (mut on, mut all) = (0.0, 0.0);
        for pair in frames.windows(2) {
            let time = pair[1].0 - pair[0].0;
            all += time;
            if pair[0].2 <= 1e-3 && pair[1].2 <= 1e-3 {
                on += time;
            }
        }
        // One frame only: the level at that moment.
        if all > 0.0 { on / all } else { f64::from(u8::from(frames.iter().any(|f| f.2 <= 1e-3))) }
    }
}

impl Observer for Levels {
    fn next_time(&self) -> Option<f64> {
        None
    }

    fn every_step(&self) -> bool {
        true
    }

    fn observe(&mut self, frame: &Frame) {
        let energy = crate::attention::Energy::new(self.beta, crate::attention::EnergyScale::Unit).log_unit(frame.tokens).exp();
        let level: f64 = frame.tokens.masses().iter().map(|m| m.powf(2.0 * self.power)).sum();
        self.frames.push((frame.t, frame.tokens.n(), (energy - level).abs()));
    }
}

fn levels(case: &Case, ctx: &mut Context, power: f64) -> Result<Finding> {
    let unit = case.beta.ln() / case.beta.sqrt();
    let mut angles = vec![0.0];
    for _ in 1..case.n {
        let last = angles[angles.len() - 1];
        angles.push(last + unit * ctx.stream.uniform_in(1.0, 2.2));
    }
    if angles[case.n - 1] > std::f64::consts::PI {
        return Ok(Finding::Missed);
    }
    let x = Tokens::from_angles(&angles)?;
    let flow = plain(case.dynamics, case.beta, case.n)?;
    let mut watch = Levels { beta: case.beta, power, frames: Vec::new() };
    let options =
        Options { rtol: ctx.rtol.max(1e-9), merge_radius: 1e-3 / case.beta.sqrt(), stop_at_one_cluster: true, ..Options::default() };
    let end = solve(flow.as_ref(), &x, 1e300, &options, &mut [&mut watch])?;
    if !end.outcome.is_success() {
        return Ok(Finding::Unfinished(end.outcome.to_string()));
    }
    // Mergers later than 1e300 are beyond the clock.
    let held = (end.clusters.n()..=case.n).map(|k| watch.held(k)).fold(1.0, f64::min);
    Ok(Finding::exact(held - 0.5))
}
