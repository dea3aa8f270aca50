//! Many small systems with noise: drifts in lanes, the noise of every system its own.

use super::lanes::{Op, State, SystemTokens};
use crate::attention::Dynamics;
use crate::attention::kernel::{Attention, Batch, Choice, WIDEST, Workspace};
use crate::error::Result;
use crate::flow::clock::Clock;
use crate::flow::dopri5::DOPRI5;
use crate::flow::observable::{Frame, Observer, Recorder};
use crate::flow::outcome::Outcome;
use crate::flow::walk::{Splitting, Walk, checked, increment, walk};
use crate::num::brownian::Brownian;
use crate::sphere::Tokens;
use std::cell::RefCell;

/// Walks many systems of one shape over `[0, t_end]`, each with the seed of its place instead of the plan's, each seen by its own recorder.
///
/// Small systems of plain attention go side by side, one per lane of a vector; others one by one through [`walk`]. Every system's arithmetic is its own, so results do not depend on its companions.
///
/// **Accuracy** and **errors** as [`walk`]; lanes agree with single walks to rounding. **Cost** 14 velocities a step in full lanes (Lie: 7).
pub fn walk_many(
    dynamics: &Dynamics,
    starts: &[Tokens],
    t_end: f64,
    plan: &Walk,
    seeds: &[u64],
    recorders: &mut [Recorder],
) -> Result<Vec<(Tokens, Outcome)>> {
    let alone = |start: &Tokens, seed: u64, recorder: &mut Recorder| walk(dynamics, start, t_end, &Walk { seed, ..*plan }, &mut [recorder]);
    let shape = |s: &Tokens| (s.n(), s.d());
    let alike = starts.windows(2).all(|pair| shape(&pair[0]) == shape(&pair[1]));
    let suits = |a: &&Attention| alike && starts.iter().all(|s| Batch::suits(a, s)) && matches!(a.kernel, Choice::Auto);
    let together = dynamics.attention().filter(suits).filter(|_| dynamics.facts().common_field && t_end > 0.0);
    let Some(attention) = together else {
        return starts.iter().zip(seeds).zip(recorders).map(|((x, seed), recorder)| alone(x, *seed, recorder)).collect();
    };
    checked(dynamics, &starts[0], t_end, plan)?;
    let width = attention.level.width::<f64>().min(WIDEST);
    let mut ends = Vec::new();
    for ((starts, seeds), recorders) in starts.chunks(width).zip(seeds.chunks(width)).zip(recorders.chunks_mut(width)) {
        let before: Vec<Recorder> = recorders.to_vec();
        let (x, outcome) = group(dynamics, attention, starts, t_end, plan, seeds, recorders)?;
        for (k, x) in x.into_iter().enumerate() {
            if x.numbers().iter().all(|v| v.is_finite()) {
                ends.push((x, outcome.clone()));
            } else {
                // Alone a walk says where it broke.
                recorders[k] = before[k].clone();
                ends.push(alone(&starts[k], seeds[k], &mut recorders[k])?);
            }
        }
    }
    Ok(ends)
}

/// Up to a vector of systems.
fn group(
    dynamics: &Dynamics,
    attention: &Attention,
    starts: &[Tokens],
    t_end: f64,
    plan: &Walk,
    seeds: &[u64],
    recorders: &mut [Recorder],
) -> Result<(Vec<Tokens>, Outcome)> {
    let (n, d) = (starts[0].n(), starts[0].d());
    let mut state = State::new(attention, DOPRI5, (n, d));
    state.merged = false;
    let mut x: Vec<Tokens> = starts.to_vec();
    let mut motions: Vec<Brownian> = seeds.iter().map(|s| Brownian::new(*s, plan.step, n * d)).collect();
    let mut room = SystemTokens { x: vec![0.0; n * d], sizes: vec![1.0; n] };
    let (labels, work): (Vec<usize>, _) = ((0..n).collect(), RefCell::new(Workspace::default()));
    let observe = |t: f64, x: &[Tokens], recorders: &mut [Recorder]| {
        for (tokens, recorder) in x.iter().zip(recorders) {
            if recorder.every_step() || recorder.next_time().is_some_and(|next| next <= t * (1.0 + 1e-12)) {
                recorder.observe(&Frame { t, tokens, labels: &labels, dynamics, work: &work, merge_radius: 0.0 });
            }
        }
    };
    observe(0.0, &x, recorders);
    let (mut clock, mut done) = (Clock::new(t_end, plan.step, &[]), 0);
    clock.march(plan.cancel, |_, end, h| {
        let first = if plan.splitting == Splitting::Lie { h } else { 0.5 * h };
        drift(&mut state, &mut room, &mut x, first);
        for (x, motion) in x.iter_mut().zip(&mut motions) {
            plan.noise.shake(x, h, increment(motion, done, h / plan.step));
        }
        if plan.splitting == Splitting::Strang {
            drift(&mut state, &mut room, &mut x, 0.5 * h);
        }
        done += 1;
        observe(end, &x, recorders);
        Ok(())
    })?;
    Ok((x, clock.outcome.unwrap_or(Outcome::Reached)))
}

/// One step of the drift for all lanes; lanes without a system repeat the last one.
fn drift(state: &mut State, room: &mut SystemTokens, x: &mut [Tokens], h: f64) {
    for k in 0..state.lanes() {
        room.x.copy_from_slice(x[k.min(x.len() - 1)].coordinates());
        state.load(k, room);
    }
    state.h = [h; WIDEST];
    state.run(Op::Start);
    state.run(Op::Attempt);
    state.run(Op::Accept([1.0; WIDEST]));
    for (k, x) in x.iter_mut().enumerate() {
        state.store(k, room);
        // Lanes keep unit length to rounding; what is not a number stays visible.
        x.coordinates_mut().copy_from_slice(&room.x);
    }
}
