//! Many small systems at once by adaptive steps: every lane of a vector is a system with a step of its own.
//!
//! The loop and its rule of the step are those of [`solve`]; tokens that have come within the merge radius at the end of a step become one there, and
//! their system gives its lane to the one with the most tokens. When the last two became one is located within the step. So lanes side by side have about as many: a lane with fewer carries shadows,
//! tokens of size 0 that need no mask.

mod forming;
mod lanes;
mod shaken;
mod system;

pub use self::shaken::walk_many;

use self::forming::Forming;
use self::lanes::{Op, PerLane, State};
use self::system::{Member, Merger};
use super::clock::{Clock, FIRST_STEP, Judgement, StepRule};
use super::control::Options;
use super::observable::{Frame, Observer, Recorder};
use super::outcome::{Outcome, Summary};
use super::solve::solve;
use crate::attention::Dynamics;
use crate::attention::kernel::{Attention, Batch, Choice, WIDEST, Workspace};
use crate::error::Result;
use crate::num::dd::Dd;
use crate::sphere::Tokens;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::AtomicBool;

/// Integrates many systems of one shape over `[0, t_end]`, each seen by its own recorder (all of the same times and observables).
///
/// Small systems of attention go side by side, one per lane, when no event is asked for; others one by one through [`solve`]. Every system's arithmetic is its
/// own, so results do not depend on its companions.
///
/// **Accuracy** local errors as in [`solve`]. Merging at radius r moves clusters by about `r^2`, but a token stands up to r from its
/// cluster: what depends on distances of tokens moves by as much. Of random starts (n = 32, beta up to 9, to t = 30) the mean share of
/// merged pairs then errs by 1.2e-5 on average and 7e-4 at most for r = 1e-3, by 1.5e-4 and 4e-3 for r = 1e-2. Where several pairs merge in one step their order may be another
/// than in a single run (about one start in twenty at rtol 1e-6, n = 32): the time of one cluster then differs by some tenths, as it does for another radius. **Cost** 12 velocities per
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
    let at_times = recorders.iter().all(|r| !r.every_step());
    let together = dynamics.attention().filter(suits).filter(|_| plain && at_times && t_end.is_finite());
    let (Some(attention), Some(first), Some(tableau)) = (together, starts.first(), options.integrator.tableau()) else {
        return starts.iter().zip(recorders).map(|(start, recorder)| alone(start, recorder)).collect();
    };
    let width = attention.level.width::<f64>();
    let Some(batch) = Batch::new(&vec![first.clone(); width], attention.level) else {
        return starts.iter().zip(recorders).map(|(start, recorder)| alone(start, recorder)).collect();
    };
    let (times, before) = (recorders[0].pending().to_vec(), recorders.to_vec());
    let rule = StepRule { rtol: options.rtol, width: Some(dynamics.length_scale()), max_steps: options.max_steps };
    let mut group = Group {
        state: State::new(attention, *tableau, shape(first)),
        members: starts.iter().map(|s| Member::new(s, times.len())).collect(),
        waiting: BinaryHeap::new(),
        lanes: [None; WIDEST],
        batch,
        measure: recorders[0].batched(),
        values: Vec::new(),
        times,
        scene: Scene { dynamics, recorders, merge_radius: options.merge_radius, work: RefCell::default() },
        initial: first.n(),
        chord: 2.0 * (0.5 * options.merge_radius).sin(),
        width,
        merger: Merger::default(),
        forming: Forming::default(),
    };
    let mut clocks = group.start(t_end, dynamics.length_scale());
    group.run(&mut clocks, &rule, options.cancel);
    let columns = (group.values.len() / width).max(1);
    let Group { members, times, measure, scene: Scene { recorders, .. }, .. } = group;
    let mut summaries = Vec::with_capacity(starts.len());
    for (s, (member, clock)) in members.into_iter().zip(clocks).enumerate() {
        let outcome = clock.outcome.unwrap_or(Outcome::Interrupted { t: 0.0 });
        // What a lane does not look into is found alone: a velocity that is not finite, a spent budget, perhaps a state at rest.
        if member.again || !matches!(outcome, Outcome::Reached | Outcome::Interrupted { .. }) {
            recorders[s] = before[s].clone();
            summaries.push(alone(&starts[s], &mut recorders[s])?);
            continue;
        }
        if measure.is_some() {
            times.iter().zip(member.rows.chunks_exact(columns)).for_each(|(t, row)| recorders[s].book(*t, row));
        }
        summaries.push(member.end(starts[s].d(), clock.t.to_f64(), outcome));
    }
    Ok(summaries)
}

/// What observers see besides tokens, and what they write into.
struct Scene<'a> {
    dynamics: &'a Dynamics,
    recorders: &'a mut [Recorder],
    merge_radius: f64,
    work: RefCell<Workspace>,
}

impl Scene<'_> {
    /// Shows tokens in place of those of system s.
    fn observe(&mut self, t: f64, s: usize, member: &Member, tokens: &Tokens) {
        let Self { dynamics, recorders, merge_radius, work } = self;
        recorders[s].observe(&Frame { t, tokens, labels: &member.labels, dynamics, work, merge_radius: *merge_radius });
    }
}

/// Systems on their way, up to a vector of them in lanes.
struct Group<'a> {
    state: State,
    members: Vec<Member>,
    /// Those without a lane: their numbers of tokens and indices.
    waiting: BinaryHeap<(usize, Reverse<usize>)>,
    /// The system in every lane.
    lanes: [Option<usize>; WIDEST],
    /// Holds what is measured: one system at as many times as lanes.
    batch: Batch,
    /// Measures what it holds; where it cannot, every frame is shown to its recorder.
    measure: Option<fn(&Batch, &mut Vec<f64>)>,
    /// The last measurement, time by time.
    values: Vec<f64>,
    times: Vec<f64>,
    scene: Scene<'a>,
    /// Tokens at the start.
    initial: usize,
    /// Chord of the merge radius.
    chord: f64,
    width: usize,
    merger: Merger,
    forming: Forming,
}

impl Group<'_> {
    /// Steps until every clock has its outcome: those of [`solve`], in lanes, each system by its own
    /// clock.
    fn run(&mut self, clocks: &mut [Clock], rule: &StepRule, cancel: Option<&AtomicBool>) {
        loop {
            clocks.iter_mut().for_each(|clock| {
                clock.goes_on(rule, cancel, || None);
            });
            self.fill_lanes(clocks);
            if self.lanes.iter().all(Option::is_none) {
                return;
            }
            self.state.h = [0.0; WIDEST];
            for (k, s) in self.lanes.iter().enumerate().filter_map(|(k, s)| Some((k, (*s)?))) {
                self.state.h[k] = clocks[s].step();
            }
            let (error, displacement) = self.state.run(Op::Attempt);
            let mut accepted = [0.0; WIDEST];
            for (k, s) in self.lanes.iter().enumerate().filter_map(|(k, s)| Some((k, (*s)?))) {
                let (h, clock, member) = (self.state.h[k], &mut clocks[s], &mut self.members[s]);
                member.evaluations += self.state.tableau.stages as u64;
                match clock.judge(rule, Some(self.state.tableau.order), h, error[k], displacement[k]) {
                    Judgement::Good if member.rest.is_due(h, clock.remaining(), displacement[k]) => {
                        // Alone a run examines its state, and ends when that is at rest.
                        (member.again, clock.outcome) = (true, Some(Outcome::Interrupted { t: clock.now() }));
                    }
                    Judgement::Good => accepted[k] = h,
                    verdict => clock.outcome = clock.failure(verdict, h, f64::INFINITY),
                }
            }
            self.accept(clocks, &accepted);
        }
    }

    /// Free lanes go to the waiting systems with the most tokens.
    fn fill_lanes(&mut self, clocks: &[Clock]) {
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
        if taken.contains(&true) && self.lanes.iter().any(Option::is_some) {
            self.state.run(Op::Start);
        }
    }

    /// Takes the steps of these lengths, 0 for none: samples within them, mergers, the new states.
    fn accept(&mut self, clocks: &mut [Clock], accepted: &PerLane) {
        self.sample(clocks, accepted);
        let merged = self.coalesce(clocks, accepted);
        self.state.run(Op::Accept(accepted.map(|h| if h > 0.0 { 1.0 } else { 0.0 })));
        for (s, h) in self.lanes.iter().zip(accepted).filter_map(|(s, h)| Some(((*s)?, *h))).filter(|(_, h)| *h > 0.0) {
            clocks[s].advance(h, true);
        }
        for k in (0..self.width).filter(|k| merged[*k]) {
            if let Some(s) = self.lanes[k].take() {
                self.queue(s, &mut clocks[s]);
            }
        }
    }

    /// Merges what starts within the radius; velocities and first steps.
    fn start(&mut self, t_end: f64, scale: f64) -> Vec<Clock> {
        let d = self.state.d;
        if self.chord > 0.0 {
            self.members.iter_mut().for_each(|s| self.merger.merge(d, s, self.chord, 0..self.initial));
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
                self.state.interpolate(k, theta, x);
                if let Some(measure) = self.measure {
                    spread(&member.tokens.sizes, sizes, self.width);
                    self.values.clear();
                    measure(&self.batch, &mut self.values);
                    let columns = self.values.len() / self.width;
                    member.rows.extend_from_slice(&self.values[..columns * times.len()]);
                } else {
                    for (j, t) in times.iter().enumerate() {
                        let tokens = member.with(self.state.d, x.iter().skip(j).step_by(self.width).copied().collect());
                        self.scene.observe(*t, s, member, &tokens);
                    }
                }
            }
            member.next += due;
        }
    }

    /// Merges tokens that are within the radius at the end of the step, in systems that leave their lanes for it: those that are marked.
    fn coalesce(&mut self, clocks: &[Clock], accepted: &PerLane) -> [bool; WIDEST] {
        let (mut merged, mut formed) = ([false; WIDEST], [false; WIDEST]);
        if self.chord <= 0.0 {
            return merged;
        }
        let nearest = self.state.run(Op::Nearest).0;
        let square = self.chord * self.chord;
        for k in (0..self.width).filter(|k| accepted[*k] > 0.0 && nearest[*k] <= square) {
            if let Some(s) = self.lanes[k].filter(|s| clocks[*s].after(accepted[k]).to_f64() < clocks[*s].t_end) {
                let member = &mut self.members[s];
                self.forming.before(&member.tokens.sizes);
                self.state.store_end(k, &mut member.tokens);
                self.merger.merge(self.state.d, member, self.chord, self.state.near_earlier(k, square));
                (merged[k], formed[k]) = (true, member.live() == 1);
                if formed[k] {
                    self.forming.keep(k);
                }
            }
        }
        if formed.contains(&true) {
            // What a sample has prepared is prepared again: this happens once in a system.
            self.state.run(Op::Dense);
        }
        for k in (0..self.width).filter(|k| formed[*k]) {
            if let Some(s) = self.lanes[k] {
                let theta = self.forming.locate(&self.state, k, self.chord);
                self.members[s].one_cluster = Some((clocks[s].t + Dd::from(theta * accepted[k])).to_f64());
            }
        }
        merged
    }

    /// A system waits for a lane. With one token left it is done: it stays, and so does what is measured of it.
    fn queue(&mut self, s: usize, clock: &mut Clock) {
        let member = &mut self.members[s];
        if member.live() > 1 {
            return self.waiting.push((member.live(), Reverse(s)));
        }
        member.one_cluster.get_or_insert(clock.t.to_f64());
        let left = self.times[member.next..].iter().filter(|t| **t <= clock.t_end);
        if let Some(measure) = self.measure {
            let (x, sizes) = self.batch.merged(1);
            spread(&member.tokens.x, x, self.width);
            spread(&member.tokens.sizes, sizes, self.width);
            self.values.clear();
            measure(&self.batch, &mut self.values);
            let row = &self.values[..self.values.len() / self.width];
            left.for_each(|_| member.rows.extend_from_slice(row));
        } else {
            let tokens = member.with(self.state.d, member.tokens.x.clone());
            left.for_each(|t| self.scene.observe(*t, s, member, &tokens));
        }
        (member.next, clock.t) = (self.times.len(), Dd::from(clock.t_end));
    }
}

/// Every number in all lanes of its vector.
fn spread(numbers: &[f64], lanes: &mut [f64], width: usize) {
    lanes.chunks_exact_mut(width).zip(numbers).for_each(|(lanes, x)| lanes.fill(*x));
}
