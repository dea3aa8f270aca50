//! The context of a trial: its random draws and its numerical methods. Every draw is recorded on a
//! tape, so that a trial can be repeated with another method and the same draws.

use super::conformance;
use super::domain::{Case, MASS_RANGE, Masses};
use super::tape::{Draw, Tape};
use crate::attention::{Dynamics, OutputForm, dynamics};
use crate::error::{Error, Result};
use crate::flow::{Options, cross_check, solve};
use crate::num::stream::Stream;
use crate::proofs::trajectory::Neighbourhood;
use crate::sphere::{Tokens, geometry::project, law::Law};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tolerance of integrations inside trials.
pub const RTOL: f64 = 1e-9;

/// The numerical methods of a trial. A confirmation repeats a trial with other ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Method {
    /// Tolerance of integrations.
    pub rtol: f64,
    /// Integrate with the second, independent integrator.
    pub second_integrator: bool,
    /// Evaluate velocities by their definition in double-double arithmetic.
    pub double_double: bool,
    /// Seed of the randomness of the method itself.
    pub method_seed: u64,
}

impl Default for Method {
    fn default() -> Self {
        Self { rtol: RTOL, second_integrator: false, double_double: false, method_seed: 0 }
    }
}

/// A flag that ends trials. Long trials check it, and the integrator before every step.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Sets the flag.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// True once the flag is set.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The parts of the method that a trial used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// The tolerance.
    pub tolerance: bool,
    /// A trajectory that the second integrator can repeat.
    pub trajectory: bool,
    /// Velocities that have a definition in double-double arithmetic.
    pub velocity: bool,
    /// Randomness of the method.
    pub method_rng: bool,
    /// The claimed constant.
    pub claimed_constant: bool,
}

/// What a trial says beside its finding: parts that interval arithmetic may certify, and the part
/// that failed.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// A start that converges to one point according to the trial.
    pub start: Option<Neighbourhood>,
    /// True if the scores are not `<x_i, x_j>`. Then only the cone lemma can prove convergence,
    /// since it holds for all positive weights.
    pub other_scores: bool,
    /// A rigorous upper bound on a negative margin.
    pub certified_margin: Option<f64>,
    /// For a trial of several parts, the one that failed.
    pub failed_part: Option<&'static str>,
}

/// The context of one trial: its draws, its methods, and a record of what it used.
pub struct Context {
    tape: Tape,
    /// Index of the next draw on the tape.
    position: usize,
    stream: Stream,
    method_rng: Stream,
    method: Method,
    /// Factor applied to the claimed constant.
    factor: f64,
    used: Used,
    evidence: Evidence,
    stop: Stop,
}

impl Context {
    /// A context that draws from the random stream `seed/names`.
    pub fn fresh(seed: u64, names: &[&str], method: Method) -> Self {
        Self::replay(Tape::default(), seed, names, method)
    }

    /// A context that repeats a tape; draws that the tape lacks come from the random stream.
    pub fn replay(tape: Tape, seed: u64, names: &[&str], method: Method) -> Self {
        let path: Vec<&str> = names.iter().copied().chain(["chance"]).collect();
        let method_rng = Stream::new(seed.wrapping_add(method.method_seed), &path);
        Self {
            tape,
            position: 0,
            stream: Stream::new(seed, names),
            method_rng,
            method,
            factor: 1.0,
            used: Used::default(),
            evidence: Evidence::default(),
            stop: Stop::default(),
        }
    }

    /// Ends the trial when `stop` is set.
    pub fn with_stop(mut self, stop: &Stop) -> Self {
        self.stop = stop.clone();
        self
    }

    /// Long trials call this between their parts.
    ///
    /// **Errors** if the stop flag is set.
    pub fn check_stop(&self) -> Result<()> {
        if self.stop.is_set() {
            Err(Error::Numerical { what: "given up: the time is over".into() })
        } else {
            Ok(())
        }
    }

    /// Multiplies the claimed constant by a factor.
    pub fn with_constant_times(mut self, factor: f64) -> Self {
        self.factor = factor;
        self
    }

    /// The draws, the methods that were used, and the statements to certify.
    pub fn into_parts(mut self) -> (Tape, Used, Evidence) {
        self.tape.0.truncate(self.position);
        (self.tape, self.used, self.evidence)
    }

    /// Records that these tokens converge to one point, so that the check can try to prove it.
    pub fn asserts_convergence(&mut self, case: &Case, x: &Tokens) {
        let variant = dynamics::find(case.dynamics, false).ok().and_then(|e| e.variant);
        self.evidence.start = variant.and_then(|v| Neighbourhood::new(v, case.beta, x, 0.0).ok());
    }

    /// As [`Context::asserts_convergence`] for heads with scores other than `<x_i, x_j>`: only a
    /// start in an open hemisphere can be proved.
    pub fn asserts_convergence_for_any_scores(&mut self, case: &Case, x: &Tokens) {
        self.asserts_convergence(case, x);
        self.evidence.other_scores = true;
    }

    /// Records a rigorous upper bound on the margin.
    pub fn certified_margin(&mut self, bound: Option<f64>) {
        self.evidence.certified_margin = bound;
    }

    /// Records which part of the trial failed.
    pub fn failed_part(&mut self, name: &'static str) {
        self.evidence.failed_part = Some(name);
    }

    /// The recorded draw if it fits; otherwise a new one replaces it.
    fn next(
        &mut self,
        fits: impl Fn(&Draw) -> bool,
        draw: impl FnOnce(&mut Stream) -> Result<Draw>,
    ) -> Result<&Draw> {
        if !self.tape.0.get(self.position).is_some_and(fits) {
            let new = draw(&mut self.stream)?;
            self.tape.0.truncate(self.position);
            self.tape.0.push(new);
        }
        self.position += 1;
        Ok(&self.tape.0[self.position - 1])
    }

    /// Tokens drawn from the law of the case, with its masses.
    ///
    /// **Errors** a law that does not exist at this n and d.
    pub fn tokens(&mut self, case: &Case) -> Result<Tokens> {
        let x = self.tokens_with_law(case.n, case.d, case.law)?;
        match case.masses {
            Masses::Equal => Ok(x),
            Masses::Random => {
                let masses = self.masses(case.n);
                x.with_masses(&masses)
            }
        }
    }

    /// Tokens of equal masses drawn from a law.
    ///
    /// **Errors** a law that does not exist at this n and d.
    pub fn tokens_with_law(&mut self, n: usize, d: usize, law: &str) -> Result<Tokens> {
        let fits = |draw: &Draw| matches!(draw, Draw::Tokens { law: l, d: e, x } if l == law && *e == d && x.len() == n * d);
        let draw = |stream: &mut Stream| {
            let x = Law::parse(law)?.sample(n, d, stream)?.coordinates().to_vec();
            Ok(Draw::Tokens { law: law.into(), d, x })
        };
        match self.next(fits, draw)? {
            Draw::Tokens { x, .. } => Tokens::normalised(d, x.clone()),
            _ => Err(Error::Numerical { what: "the tape has a draw of another kind".into() }),
        }
    }

    /// n masses before normalisation, log-uniform in their range.
    pub fn masses(&mut self, n: usize) -> Vec<f64> {
        let fits = |draw: &Draw| matches!(draw, Draw::Masses { masses } if masses.len() == n);
        let (lo, hi) = (MASS_RANGE.0.ln(), MASS_RANGE.1.ln());
        match self.next(fits, |s| {
            Ok(Draw::Masses { masses: (0..n).map(|_| s.uniform_in(lo, hi).exp()).collect() })
        }) {
            Ok(Draw::Masses { masses }) => masses.clone(),
            _ => vec![1.0; n],
        }
    }

    /// A number, uniform in `[lo, hi]`.
    pub fn uniform_in(&mut self, lo: f64, hi: f64) -> f64 {
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits();
        let fits = |draw: &Draw| matches!(draw, Draw::Number { lo: a, hi: b, .. } if same(*a, lo) && same(*b, hi));
        match self.next(fits, |s| Ok(Draw::Number { lo, hi, value: s.uniform_in(lo, hi) })) {
            Ok(Draw::Number { value, .. }) => *value,
            _ => lo,
        }
    }

    /// A positive number, log-uniform in `[lo, hi]`.
    pub fn log_uniform_in(&mut self, lo: f64, hi: f64) -> f64 {
        self.uniform_in(lo.ln(), hi.ln()).exp().clamp(lo, hi)
    }

    /// An index in `0..below`.
    pub fn index(&mut self, below: usize) -> usize {
        let fits = |draw: &Draw| matches!(draw, Draw::Index { below: b, .. } if *b == below);
        match self.next(fits, |s| Ok(Draw::Index { below, value: s.index(below) })) {
            Ok(Draw::Index { value, .. }) => *value,
            _ => 0,
        }
    }

    /// Standard normal numbers.
    pub fn normals(&mut self, count: usize) -> Vec<f64> {
        let fits = |draw: &Draw| matches!(draw, Draw::Normals { values } if values.len() == count);
        let draw = |s: &mut Stream| {
            let mut values = vec![0.0; count];
            s.normals(&mut values);
            Ok(Draw::Normals { values })
        };
        match self.next(fits, draw) {
            Ok(Draw::Normals { values }) => values.clone(),
            _ => vec![0.0; count],
        }
    }

    /// A random seed for objects that a search cannot vary.
    pub fn seed(&mut self) -> u64 {
        match self.next(
            |draw| matches!(draw, Draw::Seed { .. }),
            |s| Ok(Draw::Seed { value: s.next_u64() >> 12 }),
        ) {
            Ok(Draw::Seed { value }) => *value,
            _ => 0,
        }
    }

    /// A tangent vector of norm 1 at `x`.
    pub fn tangent(&mut self, x: &Tokens) -> Vec<f64> {
        let mut u = self.normals(x.coordinates().len());
        for (u, x) in u.chunks_exact_mut(x.d()).zip(x.rows()) {
            project(x, u);
        }
        let norm = crate::num::sum::dot(&u, &u).sqrt().max(f64::MIN_POSITIVE);
        u.iter_mut().for_each(|v| *v /= norm);
        u
    }

    /// A rotation or reflection of `R^d`, row-major.
    pub fn rotation(&mut self, d: usize) -> Vec<f64> {
        let seed = self.seed();
        conformance::random_rotation(d, &mut Stream::new(seed, &["rotation"]))
    }

    /// Random stream for the method only, never for the hypotheses. A confirmation repeats the
    /// trial with another one.
    pub fn method_rng(&mut self) -> &mut Stream {
        self.used.method_rng = true;
        &mut self.method_rng
    }

    /// The tolerance of integrations.
    pub fn rtol(&mut self) -> f64 {
        self.used.tolerance = true;
        self.method.rtol
    }

    /// The claimed constant. The search for the resolving power multiplies it by a factor.
    pub fn claimed_constant(&mut self, value: f64) -> f64 {
        self.used.claimed_constant = true;
        value * self.factor
    }

    /// Velocities of the case's dynamics, Q = K = V = I.
    ///
    /// **Errors** as [`Case::build`].
    pub fn velocity(&mut self, case: &Case, x: &Tokens) -> Result<Vec<f64>> {
        self.used.velocity = true;
        let dynamics = case.build()?;
        let exact = if self.method.double_double {
            dynamics.definition(0.0, x, OutputForm::Tangent)
        } else {
            None
        };
        Ok(exact.unwrap_or_else(|| dynamics.velocity(x)))
    }

    /// Tokens after time t at the context's tolerance, without merging.
    ///
    /// **Errors** an integration that does not reach t; the trial is then unfinished.
    pub fn flow_to(&mut self, dynamics: &Dynamics, x: &Tokens, t: f64) -> Result<Tokens> {
        self.flow_to_with_tolerance(dynamics, x, t, 1.0)
    }

    /// As [`Context::flow_to`], with the tolerance multiplied by a factor.
    ///
    /// **Errors** as [`Context::flow_to`].
    pub fn flow_to_with_tolerance(
        &mut self,
        dynamics: &Dynamics,
        x: &Tokens,
        t: f64,
        factor: f64,
    ) -> Result<Tokens> {
        self.used.trajectory = true;
        let rtol = self.rtol() * factor;
        if self.method.second_integrator {
            let end = cross_check::solve_independently(dynamics, x, t, rtol)?;
            return Tokens::normalised(x.d(), end)?.with_masses(x.masses());
        }
        let options =
            Options { rtol, merge_radius: 0.0, cancel: Some(&self.stop.0), ..Options::default() };
        let end = solve(dynamics, x, t, &options, &mut [])?;
        match end.outcome {
            o if o.end_state_is_known() => Ok(end.clusters),
            other => Err(Error::Numerical { what: other.to_string() }),
        }
    }
}
