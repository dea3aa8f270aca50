//! Local searches from one trial, over beta and all numbers that the trial drew.

use super::result::{HuntResult, objective};
use crate::error::{Error, Result};
use crate::num::stream::Stream;
use crate::theorem::{Claim, Context, Method, Region, Stop, TrialResult, run_trial};
use argmin::core::{CostFunction, Executor, Gradient};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::neldermead::NelderMead;
use argmin::solver::particleswarm::ParticleSwarm;
use argmin::solver::quasinewton::LBFGS;
use argmin::solver::simulatedannealing::{Anneal, SimulatedAnnealing};
use std::cell::RefCell;

/// Search methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LocalSearch {
    /// Simulated annealing with steps of all sizes.
    Annealing,
    /// Nelder-Mead.
    Simplex,
    /// L-BFGS with gradients by differences.
    Gradient,
    /// A particle swarm around the start.
    Swarm,
}

/// All methods, in the order in which they are assigned to starts.
pub const SEARCHES: [LocalSearch; 4] =
    [LocalSearch::Annealing, LocalSearch::Simplex, LocalSearch::Gradient, LocalSearch::Swarm];

/// Largest number of variables for the methods that need one trial per variable.
const MAX_VARIABLES: usize = 60;
/// Cost of a point outside the range, and of a trial without a margin.
const OUTSIDE_COST: f64 = 1e6;

struct State {
    evaluations: u64,
    best: TrialResult,
    stream: Stream,
    failure: Option<Error>,
}

struct Problem<'a> {
    claim: &'a Claim,
    region: &'a Region,
    start: &'a TrialResult,
    limit: u64,
    seed: u64,
    keep_going: &'a dyn Fn(f64) -> bool,
    stop: &'a Stop,
    state: &'a RefCell<State>,
}

/// One search of at most `limit` trials. It ends early if the claim fails or if `keep_going`,
/// called before every trial, returns false; `stop` ends a running trial.
///
/// **Errors** as [`run_trial`].
pub fn search(
    claim: &Claim,
    region: &Region,
    start: &TrialResult,
    method: LocalSearch,
    limit: u64,
    seed: u64,
    (keep_going, stop): (&dyn Fn(f64) -> bool, &Stop),
) -> Result<HuntResult> {
    let stream = Stream::new(seed, &["search", claim.name, &format!("{method:?}")]);
    let state = RefCell::new(State { evaluations: 0, best: start.clone(), stream, failure: None });
    let problem = || Problem { claim, region, start, limit, seed, keep_going, stop, state: &state };
    let x = problem().variables();
    if !x.is_empty() && !start.failed() {
        let method = if x.len() > MAX_VARIABLES { LocalSearch::Annealing } else { method };
        run(&problem, x, method, limit);
    }
    let State { evaluations, best, failure, .. } = state.into_inner();
    failure.map_or(Ok(HuntResult { evaluations, best: Some(best) }), Err)
}

/// Runs a solver. It ends by its own criteria, or because the cost is constant once the trials are
/// spent; the problem keeps the best trial in both cases.
fn run<'a>(problem: &dyn Fn() -> Problem<'a>, x: Vec<f64>, method: LocalSearch, limit: u64) {
    let generator = || Generator(Stream::new(problem().seed, &["generator"]));
    match method {
        LocalSearch::Annealing => {
            if let Ok(solver) = SimulatedAnnealing::new_with_rng(1.0, generator()) {
                let solver = solver.with_reannealing_best(40);
                drop(
                    Executor::new(problem(), solver)
                        .configure(|s| s.param(x).max_iters(limit))
                        .run(),
                );
            }
        }
        LocalSearch::Simplex => {
            let corner = |k: usize| {
                let mut y = x.clone();
                y[k] += if y[k] > 0.5 { -0.15 } else { 0.15 };
                y
            };
            let corners: Vec<Vec<f64>> =
                std::iter::once(x.clone()).chain((0..x.len()).map(corner)).collect();
            if let Ok(solver) = NelderMead::new(corners).with_sd_tolerance(1e-12) {
                drop(Executor::new(problem(), solver).configure(|s| s.max_iters(limit)).run());
            }
        }
        LocalSearch::Gradient => {
            if let Ok(line) = MoreThuenteLineSearch::new().with_c(1e-4, 0.9) {
                drop(
                    Executor::new(problem(), LBFGS::new(line, 7))
                        .configure(|s| s.param(x).max_iters(limit))
                        .run(),
                );
            }
        }
        LocalSearch::Swarm => {
            let bounds = (
                x.iter().map(|v| v - 0.7).collect::<Vec<f64>>(),
                x.iter().map(|v| v + 0.7).collect(),
            );
            let solver = ParticleSwarm::new(bounds, 12).with_rng_generator(generator());
            drop(Executor::new(problem(), solver).configure(|s| s.max_iters(limit)).run());
        }
    }
}

impl Problem<'_> {
    /// The position of beta in its range, if it has one, and the numbers that the trial drew.
    fn variables(&self) -> Vec<f64> {
        self.position().into_iter().chain(self.start.tape.numbers()).collect()
    }

    fn position(&self) -> Option<f64> {
        if self.region.beta.is_some() {
            None
        } else {
            self.claim.domain.beta.position(&self.start.case)
        }
    }

    /// The trial at these variables; `None` outside the range.
    fn trial(&self, x: &[f64]) -> Result<Option<TrialResult>> {
        let (mut case, mut rest) = (self.start.case, x);
        if self.position().is_some() {
            if let Some(beta) = self.claim.domain.beta.value_at(x[0], case.n, case.d) {
                case.beta = beta;
            }
            rest = &x[1..];
        }
        let Some(tape) = self.start.tape.with_numbers(rest) else { return Ok(None) };
        if !self.region.admits(&self.claim.domain, &case) {
            return Ok(None);
        }
        run_trial(
            self.claim,
            &case,
            Context::replay(tape, self.seed, &["search", self.claim.name], Method::default())
                .with_stop(self.stop),
        )
        .map(Some)
    }
}

impl CostFunction for Problem<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, x: &Vec<f64>) -> std::result::Result<f64, argmin::core::Error> {
        let mut state = self.state.borrow_mut();
        let spent =
            state.evaluations >= self.limit || state.best.failed() || state.failure.is_some();
        // Not an error: argmin's simplex unwraps the costs of its corners. A constant cost ends
        // every solver.
        if spent || !(self.keep_going)(objective(&state.best)) {
            return Ok(OUTSIDE_COST);
        }
        state.evaluations += 1;
        match self.trial(x) {
            Ok(Some(found)) => {
                let cost = objective(&found);
                if cost < objective(&state.best) {
                    state.best = found;
                }
                Ok(cost.min(OUTSIDE_COST))
            }
            Ok(None) => Ok(OUTSIDE_COST),
            Err(e) => {
                state.failure = Some(e);
                Ok(OUTSIDE_COST)
            }
        }
    }
}

impl Gradient for Problem<'_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, x: &Vec<f64>) -> std::result::Result<Vec<f64>, argmin::core::Error> {
        let mut y = x.clone();
        let mut slope = |k: usize| {
            let mut at = |h: f64| {
                y[k] = x[k] + h;
                let cost = self.cost(&y);
                y[k] = x[k];
                cost
            };
            Ok((at(1e-5)? - at(-1e-5)?) / 2e-5)
        };
        (0..x.len()).map(&mut slope).collect()
    }
}

impl Anneal for Problem<'_> {
    type Param = Vec<f64>;
    type Output = Vec<f64>;
    type Float = f64;

    /// Moves one variable, some, or all, by steps of sizes between 1e-4 and 1.
    fn anneal(
        &self,
        x: &Vec<f64>,
        _temperature: f64,
    ) -> std::result::Result<Vec<f64>, argmin::core::Error> {
        let mut state = self.state.borrow_mut();
        let stream = &mut state.stream;
        let size = 10f64.powf(stream.uniform_in(-4.0, 0.0));
        let moved = [1.0 / x.len() as f64, 0.2, 1.0][stream.index(3)];
        let mut y = x.clone();
        let always_moved = stream.index(x.len());
        for (k, v) in y.iter_mut().enumerate() {
            if k == always_moved || stream.uniform() < moved {
                *v += size * stream.normal();
            }
        }
        Ok(y)
    }
}

/// A random stream as a generator for argmin.
struct Generator(Stream);

impl rand_core::RngCore for Generator {
    fn next_u32(&mut self) -> u32 {
        (self.0.next_u64() >> 32) as u32
    }

    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    fn fill_bytes(&mut self, out: &mut [u8]) {
        for chunk in out.chunks_mut(8) {
            chunk.copy_from_slice(&self.0.next_u64().to_le_bytes()[..chunk.len()]);
        }
    }
}
