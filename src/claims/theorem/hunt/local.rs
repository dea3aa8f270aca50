//! Local searches from one trial over everything it drew, and over beta.

use super::hunted::{Hunted, value};
use crate::error::{Error, Result};
use crate::num::stream::Stream;
use crate::theorem::{Attempt, Claim, Context, Method, Region, Stop, attempt};
use argmin::core::{CostFunction, Executor, Gradient};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::neldermead::NelderMead;
use argmin::solver::particleswarm::ParticleSwarm;
use argmin::solver::quasinewton::LBFGS;
use argmin::solver::simulatedannealing::{Anneal, SimulatedAnnealing};
use std::cell::RefCell;

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalSearch {
    /// Steps of all sizes that are kept while they help, and sometimes when they do not.
    Annealing,
    /// A simplex of as many corners as there are numbers.
    Simplex,
    /// A quasi-Newton method with differences for the gradient.
    Gradient,
    /// A swarm around the start.
    Swarm,
}

/// All searches, in the order in which starts get them.
pub const SEARCHES: [LocalSearch; 4] = [LocalSearch::Annealing, LocalSearch::Simplex, LocalSearch::Gradient, LocalSearch::Swarm];

/// Numbers above which methods that need one trial per number are not used.
const MANY: usize = 60;
/// The cost of a place outside the range, or without a margin.
const OUTSIDE: f64 = 1e6;

struct State {
    evaluations: u64,
    best: Attempt,
    stream: Stream,
    failure: Option<Error>,
}

struct Problem<'a> {
    claim: &'a Claim,
    region: &'a Region,
    start: &'a Attempt,
    limit: u64,
    seed: u64,
    go_on: &'a dyn Fn(f64) -> bool,
    stop: &'a Stop,
    state: &'a RefCell<State>,
}

/// One search of at most `limit` trials; it ends early at a failure of the claim, or when `go_on`, asked before every trial, says no; `stop` ends a
/// trial that runs.
///
/// **Errors** as [`attempt`].
pub fn search(
    claim: &Claim,
    region: &Region,
    start: &Attempt,
    which: LocalSearch,
    limit: u64,
    seed: u64,
    (go_on, stop): (&dyn Fn(f64) -> bool, &Stop),
) -> Result<Hunted> {
    let stream = Stream::new(seed, &["search", claim.name, &format!("{which:?}")]);
    let state = RefCell::new(State { evaluations: 0, best: start.clone(), stream, failure: None });
    let problem = || Problem { claim, region, start, limit, seed, go_on, stop, state: &state };
    let x = problem().numbers();
    if !x.is_empty() && !start.failed() {
        let which = if x.len() > MANY { LocalSearch::Annealing } else { which };
        run(&problem, x, which, limit);
    }
    let State { evaluations, best, failure, .. } = state.into_inner();
    failure.map_or(Ok(Hunted { evaluations, best: Some(best) }), Err)
}

/// A solver ends by its own rules, or because the problem answers the same once its trials are spent; the problem keeps the best either way.
fn run<'a>(problem: &dyn Fn() -> Problem<'a>, x: Vec<f64>, which: LocalSearch, limit: u64) {
    let generator = || Generator(Stream::new(problem().seed, &["generator"]));
    match which {
        LocalSearch::Annealing => {
            if let Ok(solver) = SimulatedAnnealing::new_with_rng(1.0, generator()) {
                let solver = solver.with_reannealing_best(40);
                drop(Executor::new(problem(), solver).configure(|s| s.param(x).max_iters(limit)).run());
            }
        }
        LocalSearch::Simplex => {
            let corner = |k: usize| {
                let mut y = x.clone();
                y[k] += if y[k] > 0.5 { -0.15 } else { 0.15 };
                y
            };
            let corners: Vec<Vec<f64>> = std::iter::once(x.clone()).chain((0..x.len()).map(corner)).collect();
            if let Ok(solver) = NelderMead::new(corners).with_sd_tolerance(1e-12) {
                drop(Executor::new(problem(), solver).configure(|s| s.max_iters(limit)).run());
            }
        }
        LocalSearch::Gradient => {
            if let Ok(line) = MoreThuenteLineSearch::new().with_c(1e-4, 0.9) {
                drop(Executor::new(problem(), LBFGS::new(line, 7)).configure(|s| s.param(x).max_iters(limit)).run());
            }
        }
        LocalSearch::Swarm => {
            let bounds = (x.iter().map(|v| v - 0.7).collect::<Vec<f64>>(), x.iter().map(|v| v + 0.7).collect());
            let solver = ParticleSwarm::new(bounds, 12).with_rng_generator(generator());
            drop(Executor::new(problem(), solver).configure(|s| s.max_iters(limit)).run());
        }
    }
}

impl Problem<'_> {
    /// Beta's place in its range, if it has one, and what the trial drew.
    fn numbers(&self) -> Vec<f64> {
        self.position().into_iter().chain(self.start.tape.numbers()).collect()
    }

    fn position(&self) -> Option<f64> {
        if self.region.beta.is_some() { None } else { self.claim.domain.beta.position(&self.start.case) }
    }

    /// The trial at these numbers; `None` outside the range.
    fn trial(&self, x: &[f64]) -> Result<Option<Attempt>> {
        let (mut case, mut rest) = (self.start.case, x);
        if self.position().is_some() {
            if let Some(beta) = self.claim.domain.beta.at(x[0], case.n, case.d) {
                case.beta = beta;
            }
            rest = &x[1..];
        }
        let Some(tape) = self.start.tape.with_numbers(rest) else { return Ok(None) };
        if !self.region.admits(&self.claim.domain, &case) {
            return Ok(None);
        }
        attempt(self.claim, &case, Context::replay(tape, self.seed, &["search", self.claim.name], Method::default()).until(self.stop))
            .map(Some)
    }
}

impl CostFunction for Problem<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, x: &Vec<f64>) -> std::result::Result<f64, argmin::core::Error> {
        let mut state = self.state.borrow_mut();
        let over = state.evaluations >= self.limit || state.best.failed() || state.failure.is_some();
        // Not an error: argmin's simplex unwraps the costs of its corners. A solver that is told the same everywhere comes to its end.
        if over || !(self.go_on)(value(&state.best)) {
            return Ok(OUTSIDE);
        }
        state.evaluations += 1;
        match self.trial(x) {
            Ok(Some(found)) => {
                let cost = value(&found);
                if cost < value(&state.best) {
                    state.best = found;
                }
                Ok(cost.min(OUTSIDE))
            }
            Ok(None) => Ok(OUTSIDE),
            Err(e) => {
                state.failure = Some(e);
                Ok(OUTSIDE)
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

    /// One number, a few, or all of them, by steps of all sizes between 1e-4 and 1.
    fn anneal(&self, x: &Vec<f64>, _temperature: f64) -> std::result::Result<Vec<f64>, argmin::core::Error> {
        let mut state = self.state.borrow_mut();
        let stream = &mut state.stream;
        let size = 10f64.powf(stream.uniform_in(-4.0, 0.0));
        let moved = [1.0 / x.len() as f64, 0.2, 1.0][stream.index(3)];
        let mut y = x.clone();
        let sure = stream.index(x.len());
        for (k, v) in y.iter_mut().enumerate() {
            if k == sure || stream.uniform() < moved {
                *v += size * stream.normal();
            }
        }
        Ok(y)
    }
}

/// Our streams for argmin's generators.
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
