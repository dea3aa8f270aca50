//! Hunts for claims about a share of draws. A single draw whose answer is no is not a
//! counterexample; a case at which the share is too small is one.

use super::{TimeLimit, cases};
use crate::error::Result;
use crate::num::stats::failure_bound;
use crate::theorem::{Case, Claim, Context, Finding, Kind, Method, Region, TrialResult, run_trial};
use rayon::prelude::*;
use std::ops::Range;

/// Confidence of the one-sided bounds, as in a check.
const CONFIDENCE: f64 = 0.999;
/// Draws per case: the first number, and the largest if the first draws leave it undecided.
const DRAWS: (usize, usize) = (64, 1024);

/// The estimated share at one case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShareEstimate {
    /// The case.
    pub case: Case,
    /// Draws that met the hypotheses, including those whose trial did not finish.
    pub draws: usize,
    /// Draws whose answer was yes.
    pub held: usize,
}

impl ShareEstimate {
    /// The observed share.
    pub fn share(&self) -> f64 {
        self.held as f64 / self.draws.max(1) as f64
    }

    /// Upper Clopper-Pearson bound on the share at confidence 99.9 %.
    pub fn upper_bound(&self) -> f64 {
        failure_bound(self.held, self.draws, CONFIDENCE)
    }

    /// True if the upper bound on the share is below the level.
    pub fn fails(&self, level: f64) -> bool {
        self.draws > 0 && self.upper_bound() < level
    }
}

/// The result of a hunt for a case at which a share is too small.
#[derive(Clone, Debug)]
pub struct ShareHunt {
    /// Number of trials.
    pub evaluations: u64,
    /// The share that the claim states; 1 for a claim about every draw.
    pub level: f64,
    /// The case with the smallest share.
    pub worst: Option<ShareEstimate>,
    /// If the share fails there: the same number of draws from another seed.
    pub repetition: Option<ShareEstimate>,
}

impl ShareHunt {
    /// True if the share at the worst case is below its level at 99.9 %.
    pub fn found(&self) -> bool {
        self.worst.is_some_and(|w| w.fails(self.level))
    }

    /// True if it is below its level with another seed, too.
    pub fn confirmed(&self) -> bool {
        self.repetition.is_some_and(|w| w.fails(self.level))
    }
}

/// Searches the region for a case (n, d, beta, dynamics, law) at which the share is below its
/// level: first the ends of the ranges, then random cases. Each case gets 64 draws, and more while
/// the observed share is below the level without being significant. A case that fails is repeated
/// with another seed, even after the time limit.
///
/// **Errors** as [`run_trial`]; a region outside the hypotheses.
pub fn hunt_share(
    claim: &Claim,
    region: &Region,
    seed: u64,
    time: &TimeLimit,
) -> Result<ShareHunt> {
    let level = if let Kind::Share(level) = claim.kind { level } else { 1.0 };
    let mut hunt = ShareHunt { evaluations: 0, level, worst: None, repetition: None };
    for round in 0u64.. {
        for (k, case) in cases(claim, region, seed, round)?.into_iter().enumerate() {
            let label = format!("{round}/{k}");
            let mut estimate = ShareEstimate { case, draws: 0, held: 0 };
            let (mut tried, mut next) = (0, DRAWS.0);
            while next > 0 {
                hunt.evaluations +=
                    draw(claim, &mut estimate, tried..tried + next, (seed, &label), time)?;
                tried += next;
                let undecided = estimate.share() < level
                    && !estimate.fails(level)
                    && tried < DRAWS.1
                    && (time.keep_going)(hunt.evaluations, None);
                next = if undecided { tried } else { 0 };
            }
            if estimate.draws > 0 && hunt.worst.is_none_or(|w| estimate.share() < w.share()) {
                hunt.worst = Some(estimate);
            }
            if hunt.found() {
                let mut repetition = ShareEstimate { draws: 0, held: 0, ..estimate };
                draw(
                    claim,
                    &mut repetition,
                    0..tried,
                    (seed.wrapping_add(1), &label),
                    &TimeLimit::new(&|_, _| true),
                )?;
                hunt.repetition = Some(repetition);
            }
            if hunt.found()
                || !(time.keep_going)(hunt.evaluations, hunt.worst.map(|w| w.share() - level))
            {
                return Ok(hunt);
            }
        }
    }
    Ok(hunt)
}

/// Adds the draws with these numbers to an estimate; returns how many trials were run.
fn draw(
    claim: &Claim,
    estimate: &mut ShareEstimate,
    numbers: Range<usize>,
    (seed, label): (u64, &str),
    time: &TimeLimit,
) -> Result<u64> {
    let case = estimate.case;
    let one = |k: usize| -> Result<Option<TrialResult>> {
        if !(time.keep_going)(0, None) {
            return Ok(None);
        }
        let names = ["hunt", claim.name, label, &k.to_string()];
        let found = run_trial(
            claim,
            &case,
            Context::fresh(seed, &names, Method::default()).with_stop(&time.stop),
        )?;
        // A trial that was stopped has no answer.
        Ok(Some(found).filter(|_| !time.stop.is_set()))
    };
    let all: Vec<Option<TrialResult>> = numbers.into_par_iter().map(one).collect::<Result<_>>()?;
    let done: Vec<&TrialResult> = all.iter().flatten().collect();
    estimate.draws += done.iter().filter(|a| a.finding != Finding::HypothesesMissed).count();
    estimate.held += done.iter().filter(|a| a.finding == Finding::Answer(true)).count();
    Ok(done.len() as u64)
}
