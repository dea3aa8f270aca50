//! Many small systems at once by adaptive steps: every lane of a vector is a system with a step of its own.
//!
//! The loop and its rule of the step are those of [`solve`]; tokens that have come within the merge radius at the end of a step become one there, and
//! their system gives its lane to the one with the most tokens. So lanes side by side have about as many: a lane with fewer carries shadows,
//! tokens of size 0 that need no mask.

mod lanes;
mod shaken;
mod system;

pub use self::shaken::walk_many;

use self::lanes::{Interpolation, Op, PerLane, State};
use self::system::{Member, Merger};
use super::clock::{Clock, FIRST_STEP, StepRule};
use super::control::Options;
use super::drive::{self, Tried, Turn, drive};
use super::observable::Recorder;
use super::outcome::{Outcome, Summary};
use super::solve::solve;
use crate::attention::Dynamics;
use crate::attention::kernel::{Attention, Batch, Choice, WIDEST};
use crate::error::Result;
use crate::num::{dd::Dd, simd::Level};
use crate::sphere::Tokens;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Integrates many systems of one shape over `[0, t_end]`, each seen by its own recorder (all of the same times and observables).
///
/// Small systems of plain attention go side by side, one per lane, when the observable can measure batches and no event is asked for;
/// others one by one through [`solve`]. Every system's arithmetic is its own, so results do not depend on its companions.
///
/// **Accuracy** local errors as in [`solve`]. Merging at radius r moves clusters by about `r^2`, but a token stands up to r from its
/// cluster: what depends on distances of tokens moves by as much. Of random starts (n = 32, beta up to 9, to t = 30) the mean share of
/// merged pairs then errs by 1.2e-5 on average and 7e-4 at most for r = 1e-3, by 1.5e-4 and 4e-3 for r = 1e-2. **Cost** 12 velocities per
/// step in full lanes, 3 more for a step with samples, one after merging. **Errors** as [`solve`].
pub fn solve_many(
    dynamics: &Dynamics,
    starts: &[Tokens],
    t_end: f64,
    options: &Options,
    recorders: &mut [Recorder],
) -> Result<Vec<Summary>> {
    let alone = |start: &Tokens, recorder: &mut Recorder| solve(dynamics, start, t_end, options, &mut [recorder]).map(Summary::from);
    let shape = |s: &Tokens| (s.n(), s.d());
    let alike = starts.windows(2).all(|pair| shape(&pair[0]) == shape(&pair[1]));
    let suits = |a: &&Attention| alike && starts.iter().all(|s| Batch::suits(a, s)) && matches!(a.kernel, Choice::Auto);
    let plain = options.events.is_empty() && !options.stop_at_one_cluster && dynamics.facts().common_field && t_end > 0.0;
    let together = dynamics.attention().filter(suits).filter(|_| plain && t_end.is_finite());
    let (measure, first, tableau) = (recorders.first().and_then(Recorder::batched), starts.first(), options.integrator.tableau());
    let (Some(attention), Some(measure), Some(first), Some(tableau)) = (together, measure, first, tableau) else {
        return starts.iter().zip(recorders).map(|(start, recorder)| alone(start, recorder)).collect();
    };
    let width = attention.level.width::<f64>();
    let Some(batch) = Batch::new(&vec![first.clone(); width], attention.level) else {
        return starts.iter().zip(recorders).map(|(start, recorder)| alone(start, recorder)).collect();
    };
    let times = recorders[0].pending().to_vec();
    let rule = StepRule { rtol: options.rtol, width: dynamics.length_scale(), max_steps: options.max_steps };
    let mut group = Group {
        state: State::new(attention, *tableau, shape(first)),
        members: starts.iter().map(|s| Member::new(s, times.len())).collect(),
        waiting: BinaryHeap::new(),
        lanes: [None; WIDEST],
        batch,
        measure,
        values: Vec::new(),
        times,
        initial: first.n(),
        chord: 2.0 * (0.5 * options.merge_radius).sin(),
        level: attention.level,
        width,
        merger: Merger::default(),
    };
    let mut clocks = group.start(t_end, rule.width);
    drive(&mut group, &mut clocks, &rule, options.cancel)?;
    let columns = (group.values.len() / width).max(1);
    let end = |(((member, clock), recorder), start): (((Member, Clock), &mut Recorder), &Tokens)| {
        let outcome = clock.outcome.unwrap_or(Outcome::Interrupted { t: 0.0 });
        // What a lane does not look into is found alone: a velocity that is not finite, a spent budget, perhaps a state at rest.
        if member.again || !matches!(outcome, Outcome::Reached | Outcome::Interrupted { .. }) {
            return alone(start, recorder);
        }
        group.times.iter().zip(member.rows.chunks_exact(columns)).for_each(|(t, row)| recorder.book(*t, row));
        Ok(member.end(start.n(), start.d(), clock.t.to_f64(), outcome))
    };
    group.members.into_iter().zip(clocks).zip(recorders).zip(starts).map(end).collect()
}

/// Systems on their way, up to a vector of them in lanes.
struct Group {
    state: State,
    members: Vec<Member>,
    /// Those without a lane: their numbers of tokens and indices.
    waiting: BinaryHeap<(usize, Reverse<usize>)>,
    /// The system in every lane.
    lanes: [Option<usize>; WIDEST],
    /// Holds what is measured: one system at as many times as lanes.
    batch: Batch,
    measure: fn(&Batch, &mut Vec<f64>),
    /// The last measurement, time by time.
    values: Vec<f64>,
    times: Vec<f64>,
    /// Tokens at the start.
    initial: usize,
    /// Chord of the merge radius.
    chord: f64,
    level: Level,
    width: usize,
    merger: Merger,
}

impl drive::System for Group {
    /// Free lanes go to the waiting systems with the most tokens.
    fn turns(&mut self, clocks: &mut [Clock], turns: &mut Vec<Turn>) {
        let mut taken = [false; WIDEST];
        for (k, taken) in taken.iter_mut().enumerate().take(self.width) {
            if self.lanes[k].is_none_or(|s| clocks[s].outcome.is_some()) {
                if let Some(s) = self.lanes[k] {
                    self.state.store(k, &mut self.members[s].tokens);
                }
                let next = std::iter::from_fn(|| self.waiting.pop()).map(|(_, Reverse(s))| s);
                self.lanes[k] = next.into_iter().find(|s| clocks[*s].outcome.is_none());
                *taken = true;
            }
        }
        // Never more than before: who waits has at most as many tokens as who has a lane.
        self.state.n = self.lanes.iter().flatten().map(|s| self.members[*s].live()).max().unwrap_or(1);
        self.state.merged = self.lanes.iter().flatten().any(|s| self.members[*s].live() < self.initial);
        for k in (0..self.width).filter(|k| taken[*k]) {
            if let Some(s) = self.lanes[k] {
                self.state.load(k, &self.members[s].tokens);
                self.members[s].evaluations += 1;
            }
        }
        turns.extend(self.lanes.iter().flatten().map(|s| Turn::of(*s)));
        if taken.contains(&true) && !turns.is_empty() {
            self.state.run(Op::Start);
        }
    }

    fn order(&self) -> Option<u32> {
        Some(self.state.tableau.order)
    }

    fn attempt(&mut self, _: &[Clock], turns: &mut [Turn]) -> Result<()> {
        self.state.h = self.per_lane(turns, |turn| turn.h);
        let (error, displacement) = self.state.run(Op::Attempt);
        let lanes = (0..self.width).filter(|k| self.lanes[*k].is_some());
        for (k, turn) in lanes.zip(turns) {
            turn.tried = Tried::Moved { error: error[k], displacement: displacement[k] };
            self.members[turn.clock].evaluations += self.state.tableau.stages as u64;
        }
        Ok(())
    }

    fn accept(&mut self, clocks: &mut [Clock], turns: &[Turn]) -> Result<()> {
        for turn in turns.iter().filter(|turn| turn.good) {
            let (member, clock) = (&mut self.members[turn.clock], &mut clocks[turn.clock]);
            let Tried::Moved { displacement, .. } = turn.tried else { continue };
            // Alone a run examines its state, and ends when that is at rest.
            if member.rest.is_due(turn.h, clock.remaining(), displacement) {
                (member.again, clock.outcome) = (true, Some(Outcome::Interrupted { t: clock.now() }));
            }
        }
        let going = |turn: &Turn| turn.good && clocks[turn.clock].outcome.is_none();
        let accepted = self.per_lane(turns, |turn| if going(turn) { turn.h } else { 0.0 });
        self.sample(clocks, &accepted);
        self.state.run(Op::Accept(accepted.map(|h| if h > 0.0 { 1.0 } else { 0.0 })));
        for (s, h) in self.lanes.iter().zip(accepted).filter_map(|(s, h)| Some(((*s)?, h))).filter(|(_, h)| *h > 0.0) {
            clocks[s].advance(h, true);
        }
        self.coalesce(clocks);
        Ok(())
    }
}

impl Group {
    /// Merges what starts within the radius; velocities and first steps.
    fn start(&mut self, t_end: f64, scale: f64) -> Vec<Clock> {
        let d = self.state.d;
        if self.chord > 0.0 {
            self.members.iter_mut().for_each(|s| self.merger.merge(d, &mut s.tokens, self.chord, 0..self.initial));
        }
        let mut clocks = Vec::new();
        for group in self.members.chunks(self.width) {
            self.state.n = group.iter().map(Member::live).max().unwrap_or(1);
            group.iter().enumerate().for_each(|(k, s)| self.state.load(k, &s.tokens));
            let speeds = self.state.run(Op::Start).0;
            let first = |speed: f64| Some(FIRST_STEP * scale / speed).filter(|h| h.is_finite()).unwrap_or(t_end);
            clocks.extend(speeds.iter().take(group.len()).map(|speed| Clock::new(t_end, first(*speed), &[])));
        }
        (0..self.members.len()).for_each(|s| self.queue(s, &mut clocks[s]));
        clocks
    }

    /// A number of every turn in its lane, 0 elsewhere.
    fn per_lane(&self, turns: &[Turn], number: impl Fn(&Turn) -> f64) -> PerLane {
        let mut out = [0.0; WIDEST];
        let lanes = out.iter_mut().zip(&self.lanes).filter(|(_, s)| s.is_some());
        lanes.zip(turns).for_each(|((out, _), turn)| *out = number(turn));
        out
    }

    /// Measures what is due within the accepted steps.
    fn sample(&mut self, clocks: &[Clock], accepted: &PerLane) {
        let mut prepared = false;
        for (k, s) in self.lanes.iter().enumerate().filter_map(|(k, s)| Some((k, (*s)?))).filter(|(k, _)| accepted[*k] > 0.0) {
            let (member, clock, h) = (&mut self.members[s], &clocks[s], accepted[k]);
            let until = clock.after(h).to_f64();
            let due = self.times[member.next..].iter().take_while(|s| **s <= until).count();
            if due > 0 {
                member.evaluations += (self.state.tableau.a.len() - self.state.tableau.stages) as u64;
                if !prepared {
                    self.state.run(Op::Dense);
                    prepared = true;
                }
            }
            for times in self.times[member.next..member.next + due].chunks(self.width) {
                let mut theta = [0.0; WIDEST];
                let share = |s: f64| ((Dd::from(s) - clock.t).to_f64() / h).clamp(0.0, 1.0);
                theta.iter_mut().zip(times).for_each(|(theta, s)| *theta = share(*s));
                let (x, sizes) = self.batch.merged(member.live());
                self.level.run(Interpolation { state: &self.state, lane: k, theta, x });
                spread(&member.tokens.sizes, sizes, self.width);
                self.values.clear();
                (self.measure)(&self.batch, &mut self.values);
                let columns = self.values.len() / self.width;
                member.rows.extend_from_slice(&self.values[..columns * times.len()]);
            }
            member.next += due;
        }
    }

    /// Merges tokens within the radius, in systems that leave their lanes for it.
    fn coalesce(&mut self, clocks: &mut [Clock]) {
        if self.chord <= 0.0 {
            return;
        }
        let nearest = self.state.run(Op::Nearest).0;
        let square = self.chord * self.chord;
        for k in (0..self.width).filter(|k| nearest[*k] <= square) {
            if let Some(s) = self.lanes[k].filter(|s| clocks[*s].outcome.is_none() && clocks[*s].remaining() > 0.0) {
                self.state.store(k, &mut self.members[s].tokens);
                self.merger.merge(self.state.d, &mut self.members[s].tokens, self.chord, self.state.near_earlier(k, square));
                self.lanes[k] = None;
                self.queue(s, &mut clocks[s]);
            }
        }
    }

    /// A system waits for a lane. With one token left it is done: it stays, and so does what is measured of it.
    fn queue(&mut self, s: usize, clock: &mut Clock) {
        let member = &mut self.members[s];
        if member.live() > 1 {
            return self.waiting.push((member.live(), Reverse(s)));
        }
        member.one_cluster = Some(clock.t.to_f64());
        let (x, sizes) = self.batch.merged(1);
        spread(&member.tokens.x, x, self.width);
        spread(&member.tokens.sizes, sizes, self.width);
        self.values.clear();
        (self.measure)(&self.batch, &mut self.values);
        let row = &self.values[..self.values.len() / self.width];
        self.times[member.next..].iter().filter(|t| **t <= clock.t_end).for_each(|_| member.rows.extend_from_slice(row));
        (member.next, clock.t) = (self.times.len(), Dd::from(clock.t_end));
    }
}

/// Every number in all lanes of its vector.
fn spread(numbers: &[f64], lanes: &mut [f64], width: usize) {
    lanes.chunks_exact_mut(width).zip(numbers).for_each(|(lanes, x)| lanes.fill(*x));
}
