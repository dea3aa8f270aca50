//! Theorems as experiments: one claim per file in [`claim`], each with statement, hypotheses, trial, margin, negative control, citation.
//!
//! A verdict says what was seen, never more: supported, inconclusive, violated (as encoded, with a replayable counterexample), or hypotheses
//! never met.

mod check;
pub mod claim;
pub mod conformance;
mod verdict;

pub use check::{Effort, check, worst};
pub use verdict::{Margin, Record, Verdict};

use crate::attention::{Dynamics, Spec, dynamics};
use crate::error::Result;
use crate::num::stream::Stream;
use crate::sphere::{Tokens, law::Law};

/// What the literature says of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// It should hold.
    Holds,
    /// It is printed wrongly and should be found violated; the corrected claim stands beside it.
    Violated,
}

/// One point of a claim's grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// Tokens.
    pub n: usize,
    /// Ambient dimension.
    pub d: usize,
    /// Inverse temperature.
    pub beta: f64,
    /// Registered dynamics.
    pub dynamics: &'static str,
}

impl Case {
    /// A case.
    pub const fn new(n: usize, d: usize, beta: f64, dynamics: &'static str) -> Self {
        Self { n, d, beta, dynamics }
    }

    /// The dynamics at this case.
    pub fn build(&self) -> Result<Box<dyn Dynamics>> {
        dynamics::build(self.dynamics, false, &Spec::new(self.beta, self.n))
    }
}

/// What a trial draws from and how tightly it computes.
pub struct Context {
    /// The trial's own random stream.
    pub stream: Stream,
    /// Tolerance of integrations.
    pub rtol: f64,
}

impl Context {
    /// Tokens of the case from a law.
    pub fn tokens(&mut self, case: &Case, law: &str) -> Result<Tokens> {
        Law::parse(law)?.sample(case.n, case.d, &mut self.stream)
    }

    /// The same with random masses in [1/2, 3/2] before normalisation, so that a claim that ignores masses is noticed.
    pub fn weighted_tokens(&mut self, case: &Case, law: &str) -> Result<Tokens> {
        let x = self.tokens(case, law)?;
        let masses: Vec<f64> = (0..case.n).map(|_| self.stream.uniform_in(0.5, 1.5)).collect();
        x.with_masses(&masses)
    }

    /// A random tangent vector of norm 1 at `x`.
    pub fn tangent(&mut self, x: &Tokens) -> Vec<f64> {
        let mut u = vec![0.0; x.coordinates().len()];
        self.stream.normals(&mut u);
        for (u, x) in u.chunks_exact_mut(x.d()).zip(x.rows()) {
            crate::sphere::geometry::project(x, u);
        }
        let norm = crate::num::sum::dot(&u, &u).sqrt();
        u.iter_mut().for_each(|v| *v /= norm);
        u
    }
}

/// Result of one trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// The hypotheses held; signed distance to the claim.
    Margin(Margin),
    /// The draw did not meet the hypotheses.
    Missed,
    /// The computation did not finish; the reason.
    Unfinished(String),
}

impl Finding {
    /// A margin without numerical error (a count, a sign).
    pub fn exact(value: f64) -> Self {
        Self::Margin(Margin { value, ..Margin::default() })
    }

    /// The same margin with its sign reversed: a claim that holds becomes its own negation, which must be violated.
    pub fn negated(self) -> Self {
        match self {
            Self::Margin(m) => Self::Margin(Margin { value: -m.value, ..m }),
            other => other,
        }
    }

    /// The claim "deviation <= bound" with a rounding error of the deviation itself.
    pub fn at_most(deviation: f64, bound: f64) -> Self {
        Self::Margin(Margin { value: bound - deviation, evaluation: 4.0 * f64::EPSILON * deviation.abs(), ..Margin::default() })
    }
}

/// The deliberate failure of a claim.
pub struct Control {
    /// Which hypothesis is broken, or which false strengthening is tried.
    pub what: &'static str,
    /// The trial that must be violated.
    pub trial: fn(&mut Context) -> Result<Finding>,
}

/// A registered claim.
pub struct Claim {
    /// Name on the command line.
    pub name: &'static str,
    /// Title in tables.
    pub title: &'static str,
    /// The statement, in plain notation.
    pub statement: &'static str,
    /// The hypotheses as tested.
    pub hypotheses: &'static str,
    /// Predicate of the hypotheses on a case (draws may still miss them).
    pub applies: fn(&Case) -> bool,
    /// Where it is printed.
    pub citation: &'static str,
    /// What the literature says.
    pub expected: Expected,
    /// True for "for almost every start": reported as k of N with a one-sided bound.
    pub almost_sure: bool,
    /// The grid; the quick check takes its first `quick` cases.
    pub cases: &'static [Case],
    /// Cases of the quick check.
    pub quick: usize,
    /// Trials per case: quick and standard.
    pub trials: (usize, usize),
    /// One trial.
    pub trial: fn(&Case, &mut Context) -> Result<Finding>,
    /// The negative control.
    pub control: Control,
}

/// All claims, by name.
pub static ALL: &[&Claim] = claim::ALL;

/// Finds a claim. **Errors** unknown name, with the nearest known one.
pub fn find(name: &str) -> Result<&'static Claim> {
    ALL.iter().copied().find(|c| c.name == name).ok_or_else(|| crate::Error::unknown("theorem", name, ALL.iter().map(|c| c.name)))
}
