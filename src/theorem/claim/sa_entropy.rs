//! SA and negentropy: an open conjecture, searched for counterexamples.

use super::{Case, Claim, Context, Control, Expected, Finding, Margin, usa_entropy};
use crate::continuity::{Medium, circle::Circle};
use crate::error::{Error, Result};
use argmin::core::{CostFunction, Executor, Gradient, State};
use argmin::solver::{linesearch::MoreThuenteLineSearch, quasinewton::LBFGS};

/// Open: no proof is known; the upper bound d - 1 is proved.
pub static ENTRY: Claim = Claim {
    name: "sa-entropy",
    title: "SA: 0 <= production of negentropy <= d - 1 (lower bound: open conjecture)",
    statement: "SA produces negentropy at a rate in [0, d-1] for every density and beta > 0. The upper bound is proved; the lower one is open: each trial takes the logarithm of a density with up to 10 random modes (20 parameters) and minimises \
                production over negentropy by 40 iterations of L-BFGS.",
    hypotheses: "beta > 0; circle, logarithms of up to 10 modes",
    applies: |case| case.beta > 0.0 && case.d == 2,
    citation: "derived upper bound; the lower bound is a numerical conjecture",
    expected: Expected::Holds,
    almost_sure: false,
    cases: &[Case::new(1, 2, 1.0, "sa"), Case::new(1, 2, 5.0, "sa"), Case::new(1, 2, 20.0, "sa"), Case::new(1, 2, 60.0, "sa")],
    quick: 3,
    trials: (4, 40),
    trial: |case, ctx| minimise(case.beta, ctx),
    control: Control {
        what: "beta = -3 and the density 1 + 0.5 cos 2 theta",
        trial: |_| bounds(usa_entropy::rate(2, -3.0, "sa", &[0.0, 0.5])?, 0.25),
    },
};

/// The production over the negentropy of `rho = e^{sum a_k cos k theta + b_k sin k theta} / Z`, which is scale-free at the uniform density.
struct Search {
    beta: f64,
}

impl Search {
    fn density(a: &[f64]) -> Result<Circle> {
        let half = a.len() / 2;
        let log = |j: usize| -> f64 {
            let theta = std::f64::consts::TAU * j as f64 / POINTS as f64;
            let wave = |k: usize| {
                let (s, c) = ((k + 1) as f64 * theta).sin_cos();
                a[k] * c + a[half + k] * s
            };
            (0..half).map(wave).sum()
        };
        Circle::projected(&(0..POINTS).map(|j| log(j).exp()).collect::<Vec<_>>(), MODES)
    }

    /// `(production, negentropy)`.
    fn score(&self, a: &[f64]) -> Result<(f64, f64)> {
        let rho = Self::density(a)?;
        Ok((rho.negentropy_rate(&Medium::new("sa", self.beta, 0.0)?), rho.negentropy()))
    }
}

impl CostFunction for Search {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, a: &Vec<f64>) -> std::result::Result<f64, argmin::core::Error> {
        let (rate, negentropy) = self.score(a)?;
        // A penalty keeps the densities resolved by the modes.
        Ok(rate / negentropy + 1e-3 * a.iter().map(|v| v * v).sum::<f64>())
    }
}

impl Gradient for Search {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, a: &Vec<f64>) -> std::result::Result<Vec<f64>, argmin::core::Error> {
        (0..a.len())
            .map(|k| {
                let at = |h: f64| {
                    let mut b = a.clone();
                    b[k] += h;
                    self.cost(&b)
                };
                Ok((at(1e-5)? - at(-1e-5)?) / 2e-5)
            })
            .collect()
    }
}

const POINTS: usize = 256;
const MODES: usize = 64;

/// L-BFGS on the score from a random density; the margin is that of the best density found.
fn minimise(beta: f64, ctx: &mut Context) -> Result<Finding> {
    let half = 1 + ctx.stream.index(10);
    let size = ctx.stream.uniform_in(0.05, 1.0);
    let start: Vec<f64> = (0..2 * half).map(|_| size * ctx.stream.normal() / (half as f64).sqrt()).collect();
    let search = Search { beta };
    let first = search.score(&start)?;
    let failed = |e: argmin::core::Error| Error::Numerical { what: format!("the search stopped: {e}") };
    let line = MoreThuenteLineSearch::new().with_c(1e-4, 0.9).map_err(failed)?;
    let run = Executor::new(Search { beta }, LBFGS::new(line, 8)).configure(|state| state.param(start).max_iters(ITERATIONS)).run();
    // A line search that ends at rounding has found its minimum; the start alone counts then.
    let best = match run.ok().and_then(|r| r.state().get_best_param().cloned()) {
        Some(a) => search.score(&a)?,
        None => first,
    };
    let worse = if best.0 / best.1 < first.0 / first.1 { best } else { first };
    bounds(worse.0, worse.1)
}

/// Iterations of a search.
const ITERATIONS: u64 = 40;

fn bounds(rate: f64, negentropy: f64) -> Result<Finding> {
    let value = rate.min(1.0 - rate);
    Ok(Finding::Margin(Margin { value, evaluation: 256.0 * f64::EPSILON * negentropy.sqrt(), ..Margin::default() }))
}
