//! Adaptive integration of many small systems at once: every lane of a vector holds one system with
//! its own step length.
//!
//! The loop and the step controller are those of [`solve`]. Tokens within the merge radius at the
//! end of a step merge there; the time at which the last two merge is located within the step.
//! After a merge the system leaves its lane, which goes to the waiting system with the most tokens.
//! Systems in neighbouring lanes therefore have about the same number of tokens. A lane with fewer
//! tokens is padded with tokens of size 0, which need no mask.

mod lanes;
mod member;
mod merge_time;
mod sde;

pub use self::sde::solve_sde_many;

use self::lanes::{LaneOp, LaneState, PerLane};
use self::member::{ClusterMerger, EnsembleMember};
use self::merge_time::MergeTimeLocator;
use super::observable::{Frame, Observer, Recorder};
use super::options::Options;
use super::outcome::{Outcome, Summary};
use super::solve::solve;
use super::step_control::{ErrorControl, FIRST_DISPLACEMENT, StepController, StepVerdict};
use crate::attention::Dynamics;
use crate::attention::kernel::{Batch, MAX_LANES, Workspace};
use crate::error::Result;
use crate::num::dd::Dd;
use crate::sphere::Tokens;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::AtomicBool;

/// Integrates many systems of one shape over `[0, t_end]`, each with its own recorder (all with the
/// same sample times and observables).
///
/// Small systems of attention run side by side, one per lane, if there are no events; other systems
/// run one after another through [`solve`]. The arithmetic of every system is independent of the
/// others, so results do not depend on the batch.
///
/// **Accuracy** local errors as in [`solve`]. Merging at radius r moves clusters by about `r^2`,
/// but a token is up to r away from its cluster, and quantities that depend on distances of tokens
/// change accordingly. For random starts (n = 32, beta up to 9, to t = 30) the error of the mean
/// fraction of merged pairs is 1.2e-5 on average and 7e-4 at most for r = 1e-3, and 1.5e-4 and 4e-3
/// for r = 1e-2. If several pairs merge in one step, their order may differ from that of a single
/// run (for about one start in twenty at rtol 1e-6, n = 32): the time of one cluster then differs
/// by some tenths, as it does for another radius. **Cost** 12 velocities per step in full lanes, 3
/// more for a step with samples, one after a merge. **Errors** as [`solve`].
pub fn solve_many(
    dynamics: &Dynamics,
    starts: &[Tokens],
    t_end: f64,
    options: &Options,
    recorders: &mut [Recorder],
) -> Result<Vec<Summary>> {
    let solve_alone = |start: &Tokens, recorder: &mut Recorder| {
        solve(dynamics, start, t_end, options, &mut [recorder]).map(Summary::from)
    };
    let shape = |s: &Tokens| (s.n(), s.d());
    let alike = starts.windows(2).all(|pair| shape(&pair[0]) == shape(&pair[1]));
    let equal_masses = starts.iter().all(|s| s.uniform_mass().is_some());
    let properties = dynamics.properties();
    let at_times = recorders.iter().all(|r| !r.every_step());
    let together = alike
        && equal_masses
        && options.events.is_empty()
        && !options.stop_at_one_cluster
        && (properties.common_field && properties.autonomous)
        && at_times
        && (t_end > 0.0 && t_end.is_finite());
    let first = starts.first().filter(|_| together);
    let lanes = first.zip(options.integrator.tableau()).and_then(|(first, tableau)| {
        let field = dynamics.batch_field_at(0.0, shape(first))?;
        let isa = field.isa();
        let batch = Batch::new(&vec![first.clone(); isa.width::<f64>()], isa)?;
        Some((LaneState::new(field, *tableau, shape(first)), batch, first))
    });
    let Some((state, batch, first)) = lanes else {
        return starts
            .iter()
            .zip(recorders)
            .map(|(start, recorder)| solve_alone(start, recorder))
            .collect();
    };
    let width = state.lanes();
    let (times, before) = (recorders[0].pending().to_vec(), recorders.to_vec());
    let error_control = ErrorControl {
        rtol: options.rtol,
        width: Some(dynamics.length_scale()),
        max_steps: options.max_steps,
    };
    let mut ensemble = Ensemble {
        state,
        members: starts.iter().map(|s| EnsembleMember::new(s, times.len())).collect(),
        waiting: BinaryHeap::new(),
        lanes: [None; MAX_LANES],
        batch,
        measure: recorders[0].batch_measure(),
        values: Vec::new(),
        times,
        observers: EnsembleObservers {
            dynamics,
            recorders,
            merge_radius: options.merge_radius,
            work: RefCell::default(),
        },
        initial: first.n(),
        chord: 2.0 * (0.5 * options.merge_radius).sin(),
        width,
        merger: ClusterMerger::default(),
        locator: MergeTimeLocator::default(),
    };
    let mut controllers = ensemble.start(t_end, dynamics.length_scale());
    ensemble.run(&mut controllers, &error_control, options.cancel);
    let columns = (ensemble.values.len() / width).max(1);
    let Ensemble {
        members, times, measure, observers: EnsembleObservers { recorders, .. }, ..
    } = ensemble;
    let mut summaries = Vec::with_capacity(starts.len());
    for (s, (member, controller)) in members.into_iter().zip(controllers).enumerate() {
        let outcome = controller.outcome.unwrap_or(Outcome::Interrupted { t: 0.0 });
        // Cases that lanes do not handle are integrated alone: a non-finite velocity, too many
        // steps, a possible steady state.
        if member.needs_rerun || !matches!(outcome, Outcome::Reached | Outcome::Interrupted { .. })
        {
            recorders[s] = before[s].clone();
            summaries.push(solve_alone(&starts[s], &mut recorders[s])?);
            continue;
        }
        if measure.is_some() {
            times
                .iter()
                .zip(member.rows.chunks_exact(columns))
                .for_each(|(t, row)| recorders[s].push_row(*t, row));
        }
        summaries.push(member.into_summary(starts[s].d(), controller.t.to_f64(), outcome));
    }
    Ok(summaries)
}

/// What observers see besides the tokens, and the recorders.
struct EnsembleObservers<'a> {
    dynamics: &'a Dynamics,
    recorders: &'a mut [Recorder],
    merge_radius: f64,
    work: RefCell<Workspace>,
}

impl EnsembleObservers<'_> {
    /// Shows tokens at other positions than those of system s.
    fn observe(&mut self, t: f64, s: usize, member: &EnsembleMember, tokens: &Tokens) {
        let Self { dynamics, recorders, merge_radius, work } = self;
        recorders[s].observe(&Frame {
            t,
            tokens,
            labels: &member.labels,
            dynamics,
            work,
            merge_radius: *merge_radius,
        });
    }
}

/// The systems of an ensemble, up to one vector of them in lanes.
struct Ensemble<'a> {
    state: LaneState,
    members: Vec<EnsembleMember>,
    /// Systems without a lane: number of tokens and index.
    waiting: BinaryHeap<(usize, Reverse<usize>)>,
    /// The system in every lane.
    lanes: [Option<usize>; MAX_LANES],
    /// The tokens to be measured: one system at several times, one per lane.
    batch: Batch,
    /// Measures all times in `batch` at once. If `None`, every frame is shown to the recorder.
    measure: Option<fn(&Batch, &mut Vec<f64>)>,
    /// The last measured values, time by time.
    values: Vec<f64>,
    times: Vec<f64>,
    observers: EnsembleObservers<'a>,
    /// Number of tokens at the start.
    initial: usize,
    /// Chord of the merge radius.
    chord: f64,
    width: usize,
    merger: ClusterMerger,
    locator: MergeTimeLocator,
}

impl Ensemble<'_> {
    /// Advances all systems until each has an outcome, as [`solve`] does, each with its own step
    /// controller.
    fn run(
        &mut self,
        controllers: &mut [StepController],
        error_control: &ErrorControl,
        cancel: Option<&AtomicBool>,
    ) {
        loop {
            controllers.iter_mut().for_each(|controller| {
                controller.should_continue(error_control, cancel, || None);
            });
            self.fill_lanes(controllers);
            if self.lanes.iter().all(Option::is_none) {
                return;
            }
            self.state.h = [0.0; MAX_LANES];
            for (k, s) in self.lanes.iter().enumerate().filter_map(|(k, s)| Some((k, (*s)?))) {
                self.state.h[k] = controllers[s].next_step();
            }
            let (error, displacement) = self.state.run(LaneOp::Attempt);
            let mut accepted = [0.0; MAX_LANES];
            for (k, s) in self.lanes.iter().enumerate().filter_map(|(k, s)| Some((k, (*s)?))) {
                let (h, controller, member) =
                    (self.state.h[k], &mut controllers[s], &mut self.members[s]);
                member.evaluations += self.state.tableau.stages as u64;
                match controller.judge(
                    error_control,
                    Some(self.state.tableau.order),
                    h,
                    error[k],
                    displacement[k],
                ) {
                    StepVerdict::Accepted
                        if member.detector.needs_examination(
                            h,
                            controller.remaining(),
                            displacement[k],
                        ) =>
                    {
                        // Integrated alone, the run examines its state and ends if it is
                        // stationary.
                        (member.needs_rerun, controller.outcome) =
                            (true, Some(Outcome::Interrupted { t: controller.now() }));
                    }
                    StepVerdict::Accepted => accepted[k] = h,
                    verdict => controller.outcome = controller.failure(verdict, h, f64::INFINITY),
                }
            }
            self.accept_steps(controllers, &accepted);
        }
    }

    /// Assigns free lanes to the waiting systems with the most tokens.
    fn fill_lanes(&mut self, controllers: &[StepController]) {
        let mut taken = [false; MAX_LANES];
        for (k, taken) in taken.iter_mut().enumerate().take(self.width) {
            if self.lanes[k].is_none_or(|s| controllers[s].outcome.is_some()) {
                if let Some(s) = self.lanes[k] {
                    self.state.store(k, &mut self.members[s].tokens);
                }
                let next = std::iter::from_fn(|| self.waiting.pop()).map(|(_, Reverse(s))| s);
                self.lanes[k] = next.into_iter().find(|s| controllers[*s].outcome.is_none());
                *taken = true;
            }
        }
        // The token count never grows: waiting systems have at most as many tokens as those in
        // lanes.
        self.state.n =
            self.lanes.iter().flatten().map(|s| self.members[*s].token_count()).max().unwrap_or(1);
        self.state.merged =
            self.lanes.iter().flatten().any(|s| self.members[*s].token_count() < self.initial);
        for k in (0..self.width).filter(|k| taken[*k]) {
            if let Some(s) = self.lanes[k] {
                self.state.load(k, &self.members[s].tokens);
                self.members[s].evaluations += 1;
            }
        }
        if taken.contains(&true) && self.lanes.iter().any(Option::is_some) {
            self.state.run(LaneOp::Start);
        }
    }

    /// Accepts steps of these lengths (0: none): takes samples, merges tokens and sets the new
    /// states.
    fn accept_steps(&mut self, controllers: &mut [StepController], accepted: &PerLane) {
        self.sample_steps(controllers, accepted);
        let merged = self.merge_close_tokens(controllers, accepted);
        self.state.run(LaneOp::Accept(accepted.map(|h| if h > 0.0 { 1.0 } else { 0.0 })));
        for (s, h) in self
            .lanes
            .iter()
            .zip(accepted)
            .filter_map(|(s, h)| Some(((*s)?, *h)))
            .filter(|(_, h)| *h > 0.0)
        {
            controllers[s].advance(h, true);
        }
        for k in (0..self.width).filter(|k| merged[*k]) {
            if let Some(s) = self.lanes[k].take() {
                self.queue(s, &mut controllers[s]);
            }
        }
    }

    /// Merges tokens that start within the radius; computes the velocities and the first steps.
    fn start(&mut self, t_end: f64, scale: f64) -> Vec<StepController> {
        let d = self.state.d;
        if self.chord > 0.0 {
            self.members
                .iter_mut()
                .for_each(|s| self.merger.merge(d, s, self.chord, 0..self.initial));
        }
        let mut controllers = Vec::new();
        for group in self.members.chunks(self.width) {
            self.state.n = group.iter().map(EnsembleMember::token_count).max().unwrap_or(1);
            group.iter().enumerate().for_each(|(k, s)| self.state.load(k, &s.tokens));
            let speeds = self.state.run(LaneOp::Start).0;
            let first = |speed: f64| {
                Some(FIRST_DISPLACEMENT * scale / speed).filter(|h| h.is_finite()).unwrap_or(t_end)
            };
            controllers.extend(
                speeds
                    .iter()
                    .take(group.len())
                    .map(|speed| StepController::new(t_end, first(*speed), &[])),
            );
        }
        (0..self.members.len()).for_each(|s| self.queue(s, &mut controllers[s]));
        controllers
    }

    /// Takes the samples that lie within the accepted steps.
    fn sample_steps(&mut self, controllers: &[StepController], accepted: &PerLane) {
        let mut prepared = false;
        for (k, s) in self
            .lanes
            .iter()
            .enumerate()
            .filter_map(|(k, s)| Some((k, (*s)?)))
            .filter(|(k, _)| accepted[*k] > 0.0)
        {
            let (member, controller, h) = (&mut self.members[s], &controllers[s], accepted[k]);
            let until = controller.end_of_step(h).to_f64();
            let due = self.times[member.next..].iter().take_while(|s| **s <= until).count();
            if due > 0 {
                member.evaluations +=
                    (self.state.tableau.a.len() - self.state.tableau.stages) as u64;
                if !prepared {
                    self.state.run(LaneOp::Dense);
                    prepared = true;
                }
            }
            for times in self.times[member.next..member.next + due].chunks(self.width) {
                let mut theta = [0.0; MAX_LANES];
                let fraction = |s: f64| ((Dd::from(s) - controller.t).to_f64() / h).clamp(0.0, 1.0);
                theta.iter_mut().zip(times).for_each(|(theta, s)| *theta = fraction(*s));
                let (x, sizes) = self.batch.resize_merged(member.token_count());
                self.state.interpolate(k, theta, x);
                if let Some(measure) = self.measure {
                    broadcast(&member.tokens.sizes, sizes, self.width);
                    self.values.clear();
                    measure(&self.batch, &mut self.values);
                    let columns = self.values.len() / self.width;
                    member.rows.extend_from_slice(&self.values[..columns * times.len()]);
                } else {
                    for (j, t) in times.iter().enumerate() {
                        let tokens = member.tokens_at(
                            self.state.d,
                            x.iter().skip(j).step_by(self.width).copied().collect(),
                        );
                        self.observers.observe(*t, s, member, &tokens);
                    }
                }
            }
            member.next += due;
        }
    }

    /// Merges tokens within the radius at the end of the step. Returns the lanes whose systems have
    /// merged tokens; these leave their lanes.
    fn merge_close_tokens(
        &mut self,
        controllers: &[StepController],
        accepted: &PerLane,
    ) -> [bool; MAX_LANES] {
        let (mut merged, mut formed) = ([false; MAX_LANES], [false; MAX_LANES]);
        if self.chord <= 0.0 {
            return merged;
        }
        let nearest = self.state.run(LaneOp::Nearest).0;
        let square = self.chord * self.chord;
        for k in (0..self.width).filter(|k| accepted[*k] > 0.0 && nearest[*k] <= square) {
            if let Some(s) = self.lanes[k].filter(|s| {
                controllers[*s].end_of_step(accepted[k]).to_f64() < controllers[*s].t_end
            }) {
                let member = &mut self.members[s];
                self.locator.record_sizes(&member.tokens.sizes);
                self.state.store_end(k, &mut member.tokens);
                self.merger.merge(
                    self.state.d,
                    member,
                    self.chord,
                    self.state.near_earlier(k, square),
                );
                (merged[k], formed[k]) = (true, member.token_count() == 1);
                if formed[k] {
                    self.locator.save(k);
                }
            }
        }
        if formed.contains(&true) {
            // Recomputes the dense output even if sampling already did; this happens once per
            // system.
            self.state.run(LaneOp::Dense);
        }
        for k in (0..self.width).filter(|k| formed[*k]) {
            if let Some(s) = self.lanes[k] {
                let theta = self.locator.locate(&self.state, k, self.chord);
                self.members[s].one_cluster =
                    Some((controllers[s].t + Dd::from(theta * accepted[k])).to_f64());
            }
        }
        merged
    }

    /// Adds a system to the queue for a lane. A system with one token left is complete: its
    /// remaining samples all show the same state.
    fn queue(&mut self, s: usize, controller: &mut StepController) {
        let member = &mut self.members[s];
        if member.token_count() > 1 {
            return self.waiting.push((member.token_count(), Reverse(s)));
        }
        member.one_cluster.get_or_insert(controller.t.to_f64());
        let left = self.times[member.next..].iter().filter(|t| **t <= controller.t_end);
        if let Some(measure) = self.measure {
            let (x, sizes) = self.batch.resize_merged(1);
            broadcast(&member.tokens.x, x, self.width);
            broadcast(&member.tokens.sizes, sizes, self.width);
            self.values.clear();
            measure(&self.batch, &mut self.values);
            let row = &self.values[..self.values.len() / self.width];
            left.for_each(|_| member.rows.extend_from_slice(row));
        } else {
            let tokens = member.tokens_at(self.state.d, member.tokens.x.clone());
            left.for_each(|t| self.observers.observe(*t, s, member, &tokens));
        }
        (member.next, controller.t) = (self.times.len(), Dd::from(controller.t_end));
    }
}

/// Copies every number to all lanes of its vector.
fn broadcast(numbers: &[f64], lanes: &mut [f64], width: usize) {
    lanes.chunks_exact_mut(width).zip(numbers).for_each(|(lanes, x)| lanes.fill(*x));
}
