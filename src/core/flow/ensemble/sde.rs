//! Many small systems with noise: the drift in vector lanes, independent noise for every system.

use super::lanes::{LaneOp, LaneState, SystemTokens};
use crate::attention::Dynamics;
use crate::attention::kernel::{MAX_LANES, Workspace};
use crate::error::Result;
use crate::flow::dopri5::DOPRI5;
use crate::flow::observable::{Frame, Observer, Recorder};
use crate::flow::outcome::Outcome;
use crate::flow::sde::{SdeOptions, Splitting, brownian_increment, check_sde, solve_sde};
use crate::flow::step_control::StepController;
use crate::num::brownian::Brownian;
use crate::sphere::Tokens;
use std::cell::RefCell;

/// Integrates many systems with noise over `[0, t_end]`, all of one shape. System i uses `seeds[i]`
/// instead of the seed of the options, and its own recorder.
///
/// Small systems of plain attention run side by side, one per lane of a vector; others one after
/// another through [`solve_sde`]. The arithmetic of every system is independent of the others, so
/// results do not depend on the batch.
///
/// **Accuracy** and **errors** as [`solve_sde`]; lanes agree with single runs to rounding. **Cost**
/// 14 velocities per step in full lanes (Lie: 7).
pub fn solve_sde_many(
    dynamics: &Dynamics,
    starts: &[Tokens],
    t_end: f64,
    options: &SdeOptions,
    seeds: &[u64],
    recorders: &mut [Recorder],
) -> Result<Vec<(Tokens, Outcome)>> {
    let alone = |start: &Tokens, seed: u64, recorder: &mut Recorder| {
        solve_sde(dynamics, start, t_end, &SdeOptions { seed, ..*options }, &mut [recorder])
    };
    let shape = |s: &Tokens| (s.n(), s.d());
    let alike = starts.windows(2).all(|pair| shape(&pair[0]) == shape(&pair[1]));
    let together = alike
        && starts.iter().all(|s| s.uniform_mass().is_some())
        && (dynamics.properties().common_field && dynamics.properties().autonomous)
        && t_end > 0.0;
    let lanes = starts.first().filter(|_| together).and_then(|first| {
        let field = dynamics.batch_field_at(0.0, shape(first))?;
        Some(LaneState::new(field, DOPRI5, shape(first)))
    });
    let Some(mut state) = lanes else {
        return starts
            .iter()
            .zip(seeds)
            .zip(recorders)
            .map(|((x, seed), recorder)| alone(x, *seed, recorder))
            .collect();
    };
    check_sde(dynamics, &starts[0], t_end, options)?;
    state.merged = false;
    let width = state.lanes();
    let mut ends = Vec::new();
    for ((starts, seeds), recorders) in
        starts.chunks(width).zip(seeds.chunks(width)).zip(recorders.chunks_mut(width))
    {
        let before: Vec<Recorder> = recorders.to_vec();
        let (x, outcome) =
            solve_group(dynamics, &mut state, starts, t_end, options, seeds, recorders)?;
        for (k, x) in x.into_iter().enumerate() {
            if x.numbers().iter().all(|v| v.is_finite()) {
                ends.push((x, outcome.clone()));
            } else {
                // A single run reports where it failed.
                recorders[k] = before[k].clone();
                ends.push(alone(&starts[k], seeds[k], &mut recorders[k])?);
            }
        }
    }
    Ok(ends)
}

/// Integrates up to one vector of systems.
fn solve_group(
    dynamics: &Dynamics,
    state: &mut LaneState,
    starts: &[Tokens],
    t_end: f64,
    options: &SdeOptions,
    seeds: &[u64],
    recorders: &mut [Recorder],
) -> Result<(Vec<Tokens>, Outcome)> {
    let (n, d) = (starts[0].n(), starts[0].d());
    let mut x: Vec<Tokens> = starts.to_vec();
    let mut motions: Vec<Brownian> =
        seeds.iter().map(|s| Brownian::new(*s, options.step, n * d)).collect();
    let mut buffer = SystemTokens { x: vec![0.0; n * d], sizes: vec![1.0; n] };
    let (labels, work): (Vec<usize>, _) = ((0..n).collect(), RefCell::new(Workspace::default()));
    let observe = |t: f64, x: &[Tokens], recorders: &mut [Recorder]| {
        for (tokens, recorder) in x.iter().zip(recorders) {
            if recorder.every_step()
                || recorder.next_time().is_some_and(|next| next <= t * (1.0 + 1e-12))
            {
                recorder.observe(&Frame {
                    t,
                    tokens,
                    labels: &labels,
                    dynamics,
                    work: &work,
                    merge_radius: 0.0,
                });
            }
        }
    };
    observe(0.0, &x, recorders);
    let (mut controller, mut done) = (StepController::new(t_end, options.step, &[]), 0);
    controller.run_fixed_steps(options.cancel, |_, end, h| {
        let first = if options.splitting == Splitting::Lie { h } else { 0.5 * h };
        drift_step(state, &mut buffer, &mut x, first);
        for (x, motion) in x.iter_mut().zip(&mut motions) {
            options.noise.apply(x, h, brownian_increment(motion, done, h / options.step));
        }
        if options.splitting == Splitting::Strang {
            drift_step(state, &mut buffer, &mut x, 0.5 * h);
        }
        done += 1;
        observe(end, &x, recorders);
        Ok(())
    })?;
    Ok((x, controller.outcome.unwrap_or(Outcome::Reached)))
}

/// A step of the drift in all lanes; lanes without a system repeat the last system.
fn drift_step(state: &mut LaneState, buffer: &mut SystemTokens, x: &mut [Tokens], h: f64) {
    for k in 0..state.lanes() {
        buffer.x.copy_from_slice(x[k.min(x.len() - 1)].coordinates());
        state.load(k, buffer);
    }
    state.h = [h; MAX_LANES];
    state.run(LaneOp::Start);
    state.run(LaneOp::Attempt);
    state.run(LaneOp::Accept([1.0; MAX_LANES]));
    for (k, x) in x.iter_mut().enumerate() {
        state.store(k, buffer);
        // Lanes keep unit length to rounding; NaN stays visible.
        x.coordinates_mut().copy_from_slice(&buffer.x);
    }
}
