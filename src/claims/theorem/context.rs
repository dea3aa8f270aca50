//! What a trial draws from and how it computes. Every draw goes on a tape; the method can be exchanged without a change of the draws.

use super::conformance;
use super::domain::{Case, MASS_RANGE, Masses};
use super::tape::{Draw, Tape};
use crate::attention::{Dynamics, Form, dynamics};
use crate::error::{Error, Result};
use crate::flow::{Options, second, solve};
use crate::num::stream::Stream;
use crate::proofs::trajectory::Neighbourhood;
use crate::sphere::{Tokens, geometry::project, law::Law};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tolerance of integrations inside trials.
pub const RTOL: f64 = 1e-9;

/// How a trial computes; a confirmation changes what the trial depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Method {
    /// Tolerance of integrations.
    pub rtol: f64,
    /// Trajectories by the second integrator.
    pub second: bool,
    /// Velocities by the double-double definition.
    pub precise: bool,
    /// Seed of the method's own randomness.
    pub chance: u64,
}

impl Default for Method {
    fn default() -> Self {
        Self { rtol: RTOL, second: false, precise: false, chance: 0 }
    }
}

/// Asks trials to end: set by who keeps the time, looked at by trials that take long, and by the integrator before every step.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// From now on no trial goes on.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// True after [`Stop::set`].
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a trial turned out to depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// It asked for the tolerance.
    pub tolerance: bool,
    /// It flowed tokens by a trajectory that the second integrator can repeat.
    pub trajectory: bool,
    /// It asked for velocities that have a double-double definition.
    pub velocity: bool,
    /// It used randomness of the method.
    pub chance: bool,
    /// It asked for the stated constant.
    pub stated: bool,
}

/// What enclosures may decide of a trial.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// The trial says that this start converges to one point.
    pub start: Option<Neighbourhood>,
    /// Scores are not `<x_i, x_j>`: what proves is the cone lemma alone, which holds for all positive weights.
    pub other_scores: bool,
    /// An upper bound of the margin by interval arithmetic, where the trial came out negative.
    pub margin: Option<f64>,
}

/// What a trial draws from and how tightly it computes.
pub struct Context {
    tape: Tape,
    at: usize,
    stream: Stream,
    chance: Stream,
    method: Method,
    factor: f64,
    used: Used,
    evidence: Evidence,
    stop: Stop,
}

impl Context {
    /// Draws from the stream `seed/names`.
    pub fn fresh(seed: u64, names: &[&str], method: Method) -> Self {
        Self::replay(Tape::default(), seed, names, method)
    }

    /// Repeats a tape; what it lacks is drawn from the stream.
    pub fn replay(tape: Tape, seed: u64, names: &[&str], method: Method) -> Self {
        let path: Vec<&str> = names.iter().copied().chain(["chance"]).collect();
        let chance = Stream::new(seed.wrapping_add(method.chance), &path);
        Self {
            tape,
            at: 0,
            stream: Stream::new(seed, names),
            chance,
            method,
            factor: 1.0,
            used: Used::default(),
            evidence: Evidence::default(),
            stop: Stop::default(),
        }
    }

    /// The same, given up when `stop` is set.
    pub fn until(mut self, stop: &Stop) -> Self {
        self.stop = stop.clone();
        self
    }

    /// For trials that take long, between their parts.
    ///
    /// **Errors** the trial is to be given up.
    pub fn go_on(&self) -> Result<()> {
        if self.stop.is_set() { Err(Error::Numerical { what: "given up: the time is over".into() }) } else { Ok(()) }
    }

    /// The same with the stated constant multiplied.
    pub fn perturbed(mut self, factor: f64) -> Self {
        self.factor = factor;
        self
    }

    /// What was drawn, what the trial used, and what it left to enclosures.
    pub fn into_parts(mut self) -> (Tape, Used, Evidence) {
        self.tape.0.truncate(self.at);
        (self.tape, self.used, self.evidence)
    }

    /// The trial says that these tokens converge to one point: the check may try to prove it.
    pub fn converges(&mut self, case: &Case, x: &Tokens) {
        let variant = dynamics::find(case.dynamics, false).ok().and_then(|e| e.variant);
        self.evidence.start = variant.and_then(|v| Neighbourhood::new(v, case.beta, x, 0.0).ok());
    }

    /// As [`Context::converges`] for heads with other scores: only a start in an open hemisphere can be proved.
    pub fn converges_with_any_scores(&mut self, case: &Case, x: &Tokens) {
        self.converges(case, x);
        self.evidence.other_scores = true;
    }

    /// The margin is at most this, by interval arithmetic.
    pub fn enclosed(&mut self, margin: Option<f64>) {
        self.evidence.margin = margin;
    }

    /// The recorded draw if it fits, else a new one in its place.
    fn next(&mut self, fits: impl Fn(&Draw) -> bool, draw: impl FnOnce(&mut Stream) -> Result<Draw>) -> Result<&Draw> {
        if !self.tape.0.get(self.at).is_some_and(fits) {
            let new = draw(&mut self.stream)?;
            self.tape.0.truncate(self.at);
            self.tape.0.push(new);
        }
        self.at += 1;
        Ok(&self.tape.0[self.at - 1])
    }

    /// Tokens of the case by its law, with its masses.
    ///
    /// **Errors** a law that does not exist at this n and d.
    pub fn tokens(&mut self, case: &Case) -> Result<Tokens> {
        let x = self.tokens_by(case.n, case.d, case.law)?;
        match case.masses {
            Masses::Equal => Ok(x),
            Masses::Random => {
                let masses = self.masses(case.n);
                x.with_masses(&masses)
            }
        }
    }

    /// Tokens of equal masses by a law.
    ///
    /// **Errors** a law that does not exist at this n and d.
    pub fn tokens_by(&mut self, n: usize, d: usize, law: &str) -> Result<Tokens> {
        let fits = |draw: &Draw| matches!(draw, Draw::Tokens { law: l, d: e, x } if l == law && *e == d && x.len() == n * d);
        let draw = |stream: &mut Stream| {
            let x = Law::parse(law)?.sample(n, d, stream)?.coordinates().to_vec();
            Ok(Draw::Tokens { law: law.into(), d, x })
        };
        match self.next(fits, draw)? {
            Draw::Tokens { x, .. } => Tokens::normalised(d, x.clone()),
            _ => Err(Error::Numerical { what: "a tape whose draws have other kinds".into() }),
        }
    }

    /// n masses, log-uniform in their range, before normalisation.
    pub fn masses(&mut self, n: usize) -> Vec<f64> {
        let fits = |draw: &Draw| matches!(draw, Draw::Masses { masses } if masses.len() == n);
        let (lo, hi) = (MASS_RANGE.0.ln(), MASS_RANGE.1.ln());
        match self.next(fits, |s| Ok(Draw::Masses { masses: (0..n).map(|_| s.uniform_in(lo, hi).exp()).collect() })) {
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

    /// One of `0..below`.
    pub fn index(&mut self, below: usize) -> usize {
        let fits = |draw: &Draw| matches!(draw, Draw::Index { below: b, .. } if *b == below);
        match self.next(fits, |s| Ok(Draw::Index { below, value: s.index(below) })) {
            Ok(Draw::Index { value, .. }) => *value,
            _ => 0,
        }
    }

    /// Standard normals.
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

    /// A seed for something that a search cannot move.
    pub fn seed(&mut self) -> u64 {
        match self.next(|draw| matches!(draw, Draw::Seed { .. }), |s| Ok(Draw::Seed { value: s.next_u64() >> 12 })) {
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

    /// Randomness of the method alone, never of the hypotheses: a confirmation repeats the trial with another.
    pub fn chance(&mut self) -> &mut Stream {
        self.used.chance = true;
        &mut self.chance
    }

    /// The tolerance of integrations.
    pub fn rtol(&mut self) -> f64 {
        self.used.tolerance = true;
        self.method.rtol
    }

    /// The stated constant or law, perturbed when the resolving power is sought.
    pub fn stated(&mut self, value: f64) -> f64 {
        self.used.stated = true;
        value * self.factor
    }

    /// Velocities of the case's dynamics, Q = K = V = I.
    ///
    /// **Errors** as [`Case::build`].
    pub fn velocity(&mut self, case: &Case, x: &Tokens) -> Result<Vec<f64>> {
        self.used.velocity = true;
        let dynamics = case.build()?;
        let precise = if self.method.precise { dynamics.definition(0.0, x, Form::Tangent) } else { None };
        Ok(precise.unwrap_or_else(|| dynamics.velocity(x)))
    }

    /// Tokens after time t, without coalescence, at the context's tolerance.
    ///
    /// **Errors** a run that did not reach t: the trial is unfinished, its state is no state at time t.
    pub fn flowed(&mut self, dynamics: &Dynamics, x: &Tokens, t: f64) -> Result<Tokens> {
        self.flowed_within(dynamics, x, t, 1.0)
    }

    /// The same at a share of the tolerance.
    ///
    /// **Errors** as [`Context::flowed`].
    pub fn flowed_within(&mut self, dynamics: &Dynamics, x: &Tokens, t: f64, share: f64) -> Result<Tokens> {
        self.used.trajectory = true;
        let rtol = self.rtol() * share;
        if self.method.second {
            let end = second::confirm(dynamics, x, t, rtol)?;
            return Tokens::normalised(x.d(), end)?.with_masses(x.masses());
        }
        let options = Options { rtol, merge_radius: 0.0, cancel: Some(&self.stop.0), ..Options::default() };
        let end = solve(dynamics, x, t, &options, &mut [])?;
        match end.outcome {
            o if o.lasts() => Ok(end.clusters),
            other => Err(Error::Numerical { what: other.to_string() }),
        }
    }
}
